//! The bookkeeping of the loop: which task a job is about, also when it breaks.

use db::Caller;
use domain::board::attention::AttentionKind;
use domain::board::wait_reason::WaitReason;
use domain::team::agent::Registration;

use super::*;
use crate::fixture::Board;

async fn supervisor(board: &Board) -> Supervisor {
    let activity = broadcast::channel(1).0;
    let config = Arc::new(board.config.clone());
    Supervisor::new(Context { db: board.db.clone(), config, program: PathBuf::from("/bin/false"), activity })
}

async fn next(supervisor: &mut Supervisor) {
    let job = supervisor.jobs.join_next_with_id().await.unwrap();
    supervisor.finished(job);
}

fn busy(supervisor: &Supervisor) -> Vec<&str> {
    supervisor.busy.iter().map(TaskId::as_str).collect()
}

#[tokio::test]
async fn a_job_that_panics_frees_no_other_and_is_not_repeated_at_once() {
    let board = Board::new().await;
    let mut supervisor = supervisor(&board).await;
    let (done, wait) = tokio::sync::oneshot::channel::<()>();
    supervisor.spawn(TaskId::new(1), async { panic!("a defect") });
    next(&mut supervisor).await;
    supervisor.spawn(TaskId::new(2), async move { wait.await.map_err(|error| error.to_string()) });
    assert_eq!(busy(&supervisor), ["TASK-001", "TASK-002"], "the first one pauses");
    done.send(()).unwrap();
    next(&mut supervisor).await;
    assert_eq!(busy(&supervisor), ["TASK-001"], "the other went on to its end");
    assert_eq!(supervisor.about.len(), supervisor.jobs.len());
}

#[tokio::test]
async fn nothing_else_is_begun_for_a_task_under_way() {
    let board = Board::new().await;
    let mut supervisor = supervisor(&board).await;
    supervisor.spawn(TaskId::new(1), std::future::pending());
    supervisor.spawn(TaskId::new(1), async { Ok(()) });
    assert_eq!(supervisor.jobs.len(), 1);
}

#[tokio::test]
async fn a_look_merges_what_was_approved_and_cleans_up_after_it() {
    let board = Board::new().await;
    let mut supervisor = supervisor(&board).await;
    let task = board.task("Add a").await;
    let (path, _) = board.work(&task, &[("a", "a")]).await;
    board.approve(&task).await;
    supervisor.look().await.unwrap();
    next(&mut supervisor).await;
    assert!(board.read(&task).await.merged_sha.is_some());
    supervisor.look().await.unwrap();
    next(&mut supervisor).await;
    assert!(!path.exists());
    supervisor.look().await.unwrap();
    assert!(supervisor.jobs.is_empty(), "nothing is left to do");
}

#[tokio::test]
async fn what_cannot_be_merged_needs_the_person() {
    let board = Board::new().await;
    let mut supervisor = supervisor(&board).await;
    let task = board.task("Add a").await;
    board.work(&task, &[("README.md", "theirs\n")]).await;
    board.approve(&task).await;
    std::fs::write(board.sample.git_dir().join("HEAD"), "ref: refs/heads/vibe-relay/PROJ-001\n").unwrap();
    board.sample.write("README.md", "the person's\n");
    supervisor.look().await.unwrap();
    next(&mut supervisor).await;
    let attention = board.read(&task).await.card.attention.unwrap();
    assert_eq!(attention.kind, AttentionKind::Repository);
    assert!(attention.detail.starts_with("It could not be merged: the branch vibe-relay/PROJ-001 is checked out at"), "{}", attention.detail);
}

#[tokio::test]
async fn a_missing_program_parks_instead_of_starting() {
    let mut board = Board::new().await;
    board.config.agent_command = vec!["/nonexistent/claude".to_owned()];
    let mut supervisor = supervisor(&board).await;
    let (one, two) = (board.task("One").await, board.task("Two").await);
    supervisor.look().await.unwrap();
    assert!(supervisor.jobs.is_empty());
    let parkings = board.db.parkings().await.unwrap();
    assert_eq!(parkings.iter().map(|parking| parking.reason).collect::<Vec<_>>(), [ParkReason::ProgramMissing]);
    supervisor.look().await.unwrap();
    for task in [&one, &two] {
        assert_eq!(board.read(task).await.card.wait_reason.unwrap().sentence(), "the agent program was not found");
        assert_eq!(board.read(task).await.card.runs, 0);
    }
    // Found again to be missing, it is no news for the cards.
    let seq = board.db.latest();
    supervisor.resume(ParkReason::ProgramMissing).await.unwrap();
    supervisor.look().await.unwrap();
    let news = board.db.events_after(seq, None, 100).await.unwrap();
    assert_eq!(news.iter().map(|event| event.event.kind()).collect::<Vec<_>>(), ["agents_parked"]);
}

#[tokio::test]
async fn a_look_hears_the_agent_that_was_missed() {
    let board = Board::new().await;
    let mut supervisor = supervisor(&board).await;
    let mara = Registration { name: "mara".to_owned(), ..Registration::default() };
    let token = board.db.create_agent_token(&Caller::Human, &board.project.id, mara).await.unwrap();
    let task = board.task("One").await;
    board.db.assign_task(&Caller::Human, &task, Some("mara".to_owned()), None).await.unwrap();
    board.db.flag_unresponsive_assignee(&task, "mara", "Silent.").await.unwrap();
    supervisor.look().await.unwrap();
    assert_eq!(board.read(&task).await.card.wait_reason, Some(WaitReason::NeedsAttention), "nothing was heard yet");
    // A sign of life is no event: the next look hears it.
    let caller = board.db.caller(&token).await.unwrap().unwrap();
    board.db.record_heartbeat(&caller).await.unwrap();
    supervisor.look().await.unwrap();
    let card = board.read(&task).await.card;
    assert_eq!((card.attention, card.contributors.assigned_to.as_deref()), (None, Some("mara")));
    supervisor.look().await.unwrap();
    assert_eq!(board.read(&task).await.card.wait_reason, Some(WaitReason::Assigned { name: "mara".to_owned() }));
    assert!(supervisor.jobs.is_empty(), "the runner starts nobody for it");
}
