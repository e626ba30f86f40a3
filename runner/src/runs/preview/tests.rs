//! Apps with real processes: one that answers, one that ends, and a server that restarts. The test program runs as the shim, as in the tests of
//! checks.

use std::fs;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use db::Caller;
use domain::event::Event;
use domain::id::TaskId;
use domain::runs::preview::{Preview, PreviewEvent};
use domain::runs::profile::Profile;
use domain::runs::sandbox::SandboxTier;
use domain::wire::ProjectPatch;
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

use super::*;
use crate::fixture::TestBoard;
use crate::process::Programs;

/// The first port of the next board.
static NEXT_PORT: AtomicU16 = AtomicU16::new(4_200);

/// Answers with the contents of a file.
const APP: &str = "exec node -e \"require('http').createServer((request, answer) => answer.end(require('fs').readFileSync('a'))).listen({port})\"";

struct Apps {
    board: TestBoard,
    context: RunContext,
    task: TaskId,
    subject: PreviewSubject,
}

impl Apps {
    async fn new(command: &str) -> Self {
        let mut board = TestBoard::new().await;
        board.config.sandbox = Some(SandboxTier::None);
        // Boards of one machine lease from the same range, and a port is free until its app listens.
        let first = NEXT_PORT.fetch_add(4, Ordering::Relaxed);
        board.config.port_range = (first, first + 3);
        let context = RunContext { programs: Programs::at(std::env::current_exe().unwrap()), ..board.context() };
        let patch = ProjectPatch { profile: Some(Profile { preview: Some(command.to_owned()), ..Profile::default() }), ..ProjectPatch::default() };
        board.db.edit_project(&Caller::owner(), &board.project.id, patch, None).await.unwrap();
        let task = board.task("Add a").await;
        board.work(&task, &[("a", "one")]).await;
        let subject = PreviewSubject::Task(task.clone());
        Self { board, context, task, subject }
    }

    fn serve(&self) -> JoinHandle<()> {
        tokio::spawn(run(self.context.clone()))
    }

    async fn request(&self) {
        self.board.db.request_preview(&Caller::owner(), &self.subject).await.unwrap();
    }

    /// Waits for a state; `None` once the app has ended.
    async fn until(&self, wanted: Option<PreviewState>) -> Option<Preview> {
        let mut commits = self.board.db.subscribe();
        loop {
            commits.borrow_and_update();
            let preview = self.board.db.preview(&self.subject).await.unwrap();
            if preview.as_ref().map(|preview| preview.state) == wanted {
                return preview;
            }
            tokio::time::timeout(std::time::Duration::from_secs(60), commits.changed()).await.expect("the app changes its state").unwrap();
        }
    }
}

#[tokio::test]
async fn app_answers_outlives_the_server_and_ends_on_request() {
    let apps = Apps::new(APP).await;
    let server = apps.serve();
    apps.request().await;
    let running = apps.until(Some(PreviewState::Running)).await.unwrap();
    let [port, second] = running.ports[..] else { panic!("{running:?}") };
    assert_ne!(port, second);
    assert!(TcpStream::connect(("127.0.0.1", port)).await.is_ok());
    let log = apps.board.db.preview_log(&apps.subject).await.unwrap();
    assert!(log.is_file(), "{}", log.display());

    server.abort();
    let next = apps.serve();
    apps.board.db.stop_preview(&Caller::owner(), &apps.subject).await.unwrap();
    apps.until(None).await;
    assert!(TcpStream::connect(("127.0.0.1", port)).await.is_err(), "the next server ended it");
    next.abort();
}

#[tokio::test]
async fn app_that_ends_by_itself_shows_the_end_of_its_log() {
    let apps = Apps::new("echo looking for $PORT; echo no such module >&2; exit 3").await;
    let server = apps.serve();
    apps.request().await;
    let failed = apps.until(Some(PreviewState::Failed)).await.unwrap();
    let why = failed.failure.unwrap();
    assert!(why.starts_with("looking for 4") && why.ends_with("no such module\n(exit code 3)"), "{why}");
    apps.request().await;
    apps.until(Some(PreviewState::Failed)).await;
    let folder = apps.board.db.previews_folder(&apps.board.project.id);
    assert_eq!(fs::read_dir(folder).unwrap().count(), 1, "the folder of the first one is gone");
    server.abort();
}

#[tokio::test]
async fn app_ends_when_its_work_does() {
    let apps = Apps::new(APP).await;
    let server = apps.serve();
    apps.request().await;
    let port = apps.until(Some(PreviewState::Running)).await.unwrap().ports[0];
    apps.board.cancel(&apps.task).await;
    apps.until(None).await;
    assert!(TcpStream::connect(("127.0.0.1", port)).await.is_err());
    server.abort();
}

#[tokio::test]
async fn app_that_nobody_uses_ends() {
    let apps = Apps::new(APP).await;
    apps.request().await;
    let db = &apps.board.db;
    let live = db.live_previews().await.unwrap().remove(0);
    let path = db.preview_folder(&apps.board.project.id, &apps.subject, live.preview.started_at);
    let mut app = app::App::start(&apps.context, &live, path).await.unwrap().unwrap_or_else(|why| panic!("{why}"));
    app.idle_limit = app::IdleLimit { limit: Duration::from_millis(500), interval: Duration::from_millis(100) };
    let seq = db.latest();
    app.follow(db, &apps.subject).await.unwrap();
    assert_eq!(db.preview(&apps.subject).await.unwrap(), None);
    let events = db.events_after(seq, None, 100).await.unwrap();
    let ended: Vec<&str> = events
        .iter()
        .filter_map(|envelope| match &envelope.event {
            Event::Preview(PreviewEvent::Ended { why }) => Some(why.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(ended, ["nobody was connected for 30 minutes"]);
}
