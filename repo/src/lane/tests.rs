//! A repository that does not respond is noticed, holds up nobody else, and is used again when it responds.

use std::fs;
use std::sync::mpsc;

use nix::sys::stat::Mode;
use tokio::sync::oneshot;

use super::*;
use crate::testing::TestRepository;

const SHORT: Duration = Duration::from_millis(50);
const NEVER: Duration = Duration::from_secs(600);

/// Work that blocks until the sender is dropped.
fn blocking_work() -> (mpsc::Sender<()>, impl FnOnce() + Send) {
    let (sender, receiver) = mpsc::channel::<()>();
    (sender, move || {
        let _ = receiver.recv();
    })
}

fn is_blocked(lane: &Lane) -> bool {
    lock(&lane.state).since.is_some()
}

async fn brief(lane: &Arc<Lane>, work: impl FnOnce() + Send + 'static) -> Result<(), RepoError> {
    lane.clone().run(Effort::Brief, SHORT, NEVER, work).await
}

async fn until(condition: impl Fn() -> bool) {
    while !condition() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn late_work_blocks_its_repository_only_until_it_ends() {
    let (hung, other) = (lane_of(Path::new("/lane/hung/.git")), lane_of(Path::new("/lane/other/.git")));
    let (end, work) = blocking_work();
    assert_eq!(brief(&hung, work).await.unwrap_err().code(), "repository-not-responding");
    assert_eq!(brief(&hung, || panic!("nothing is started")).await.unwrap_err().code(), "repository-not-responding");
    brief(&other, || {}).await.unwrap();
    let known = not_responding();
    assert!(known.contains_key(&hung.git_dir) && !known.contains_key(&other.git_dir));
    drop(end);
    until(|| !is_blocked(&hung)).await;
    brief(&hung, || {}).await.unwrap();
}

#[tokio::test]
async fn long_work_continues_while_the_repository_responds() {
    let sample = TestRepository::new();
    let lane = lane_of(&sample.git_dir());
    let (end, work) = blocking_work();
    let (started, running) = oneshot::channel();
    let long = tokio::spawn(lane.clone().run(Effort::Long, SHORT, NEVER, move || {
        started.send(()).unwrap();
        work();
        7
    }));
    running.await.unwrap();
    tokio::time::sleep(SHORT * 3).await;
    assert!(!is_blocked(&lane) && !long.is_finished());
    drop(end);
    assert_eq!(long.await.unwrap().unwrap(), 7);
}

/// The pipe blocks everyone who reads the references, as a network drive that is gone would.
#[tokio::test]
async fn repository_behind_a_pipe_is_tried_again() {
    let sample = TestRepository::new();
    let (lane, pipe) = (lane_of(&sample.git_dir()), sample.git_dir().join("packed-refs"));
    nix::unistd::mkfifo(&pipe, Mode::S_IRWXU).unwrap();
    let repository = sample.repository();
    let read = lane.clone().run(Effort::Long, SHORT, NEVER, move || repository.ref_sha("missing").map(drop));
    assert_eq!(read.await.unwrap_err().code(), "repository-not-responding", "long work does not outlast its repository");
    let since = lock(&lane.state).since;
    lane.clone().try_again(SHORT).await;
    assert_eq!(lock(&lane.state).since, since, "the time is that of the first failure");

    // Readers that are blocked already keep waiting for the pipe that they opened.
    let moved = sample.beside("pipe");
    fs::rename(&pipe, &moved).unwrap();
    lane.clone().try_again(NEVER).await;
    assert!(!is_blocked(&lane) && lock(&lane.state).blocked > 0);
    drop(fs::OpenOptions::new().read(true).write(true).open(&moved).unwrap());
    until(|| lock(&lane.state).blocked == 0).await;
}

#[tokio::test]
async fn number_of_blocked_threads_is_limited() {
    let lane = lane_of(Path::new("/lane/limited/.git"));
    let mut ends = Vec::new();
    for _ in 0..MAX_BLOCKED {
        let (end, work) = blocking_work();
        ends.push(end);
        lock(&lane.state).since = None;
        lane.clone().run(Effort::Long, Duration::ZERO, Duration::ZERO, work).await.unwrap_err();
    }
    assert!(lock(&lane.state).blocked >= MAX_BLOCKED);
    lane.clone().try_again(NEVER).await;
    assert!(is_blocked(&lane), "it is not tried again");
    drop(ends);
    until(|| !is_blocked(&lane)).await;
}
