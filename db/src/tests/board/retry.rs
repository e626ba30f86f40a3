//! Retries with options: the next run differs from the one before, and only as wanted.

use domain::board::status::Status;
use domain::board::task::retry::{RetryOptions, RetrySession, RetryTree};
use domain::id::TaskId;
use domain::runs::agent_kind::AgentKind;
use domain::runs::checkout::KeptWork;
use domain::runs::checkpoint::Checkpoint;
use domain::runs::failure::EndClass;

use crate::Caller;
use crate::tests::store::{Store, code, refusal};

/// A stopped task with a session and a worktree.
async fn stopped(store: &Store) -> TaskId {
    let task = store.task("One").await;
    let agent = store.agent(&task, AgentKind::Coder).await;
    store.db.record_checkout(&task, "vr/TASK-001/work", "/w/TASK-001").await.unwrap();
    store.db.stop_task(&Caller::owner(), &task).await.unwrap();
    store.end(&agent.run, EndClass::Stopped, None).await;
    task
}

async fn retry(store: &Store, task: &TaskId, options: RetryOptions) {
    store.db.retry_task(&Caller::owner(), task, options).await.unwrap();
}

#[tokio::test]
async fn fresh_session_forgets_earlier_runs_only() {
    let store = Store::board().await;
    let task = stopped(&store).await;
    let last = async || store.db.last_session(&task, AgentKind::Coder).await.unwrap();
    retry(&store, &task, RetryOptions::default()).await;
    assert_eq!(last().await.as_deref(), Some("session of RUN-001"));
    store.db.stop_task(&Caller::owner(), &task).await.unwrap();
    retry(&store, &task, RetryOptions { session: Some(RetrySession::Fresh), ..RetryOptions::default() }).await;
    assert_eq!((last().await, store.db.task(&task).await.unwrap().session_id), (None, None));
    let second = store.agent(&task, AgentKind::Coder).await;
    assert_eq!(last().await, Some(format!("session of {}", second.run)), "later attempts continue the new one");
    store.check_fold().await;
}

#[tokio::test]
async fn new_tree_is_wanted_until_the_old_one_is_removed() {
    let store = Store::board().await;
    let task = stopped(&store).await;
    retry(&store, &task, RetryOptions { tree: Some(RetryTree::Base), ..RetryOptions::default() }).await;
    assert!(store.db.wants_new_tree(&task).await.unwrap());
    store.db.checkout_removed(&task, KeptWork::default()).await.unwrap();
    assert!(!store.db.wants_new_tree(&task).await.unwrap());
    store.db.stop_task(&Caller::owner(), &task).await.unwrap();
    retry(&store, &task, RetryOptions { tree: Some(RetryTree::Base), ..RetryOptions::default() }).await;
    assert!(!store.db.wants_new_tree(&task).await.unwrap(), "without a worktree the next one is new anyway");
}

#[tokio::test]
async fn model_and_note_reach_the_next_agent() {
    let store = Store::board().await;
    let task = stopped(&store).await;
    let seq = store.db.latest();
    let options = RetryOptions { model: Some("opus".to_owned()), note: Some("Use tabs".to_owned()), ..RetryOptions::default() };
    retry(&store, &task, options).await;
    assert_eq!(store.db.task(&task).await.unwrap().model.as_deref(), Some("opus"));
    let note = store.db.comments(&task).await.unwrap().remove(0);
    assert_eq!((note.author().as_str(), note.content.as_str()), ("human", "Use tabs"));
    assert_eq!(store.kinds_since(seq).await, ["task_edited", "comment_added", "task_released"]);
    retry(&store, &task, RetryOptions { model: Some(String::new()), ..RetryOptions::default() }).await;
    assert_eq!(store.db.task(&task).await.unwrap().model, None);
    store.check_fold().await;
}

#[tokio::test]
async fn running_or_reviewed_work_is_not_replaced() {
    let store = Store::board().await;
    let task = store.task("One").await;
    store.agent(&task, AgentKind::Coder).await;
    let base = RetryOptions { tree: Some(RetryTree::Base), ..RetryOptions::default() };
    assert_eq!(code(store.db.retry_task(&Caller::owner(), &task, base.clone()).await), "run-ending");
    let fresh = RetryOptions { session: Some(RetrySession::Fresh), ..RetryOptions::default() };
    assert_eq!(code(store.db.retry_task(&Caller::owner(), &task, fresh).await), "run-ending");
    let reviewed = store.in_review("Two").await;
    assert_eq!(store.status(&reviewed).await, Status::InReview);
    assert!(refusal(store.db.retry_task(&Caller::owner(), &reviewed, base).await).to_string().contains("under review"));
}

#[tokio::test]
async fn task_is_rewound_to_its_own_checkpoint_once() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let agent = store.agent(&task, AgentKind::Coder).await;
    store.db.record_checkout(&task, "vr/TASK-001/work", "/w/TASK-001").await.unwrap();
    let (first, second) = ("1".repeat(40), "2".repeat(40));
    for sha in [&first, &second] {
        let checkpoint = Checkpoint { sha: sha.clone(), taken_at: crate::now(), files: 1, action: "edits a.rs".to_owned() };
        assert_eq!(store.db.record_checkpoint(&agent.run, checkpoint).await.unwrap(), [""; 0]);
    }
    assert_eq!(store.db.last_checkpoint(&task).await.unwrap().as_ref(), Some(&second));
    store.db.stop_task(&Caller::owner(), &task).await.unwrap();
    store.end(&agent.run, EndClass::Stopped, None).await;
    let to = |sha: &str| RetryOptions { checkpoint: Some(sha.to_owned()), ..RetryOptions::default() };
    for wrong in [to("3333333"), to("1"), to(""), RetryOptions { tree: Some(RetryTree::Base), ..to(&first) }] {
        assert!(refusal(store.db.retry_task(&Caller::owner(), &task, wrong).await).to_string().contains("checkpoint"));
    }
    retry(&store, &task, to("1111111")).await;
    assert!(store.db.wants_new_tree(&task).await.unwrap());
    assert_eq!(store.db.last_session(&task, AgentKind::Coder).await.unwrap(), None, "its session knows later files");
    store.db.checkout_removed(&task, KeptWork::default()).await.unwrap();
    assert_eq!(store.db.rewind_target(&task).await.unwrap(), Some(first.clone()), "also after a restart in between");
    for _ in 0..2 {
        store.db.record_rewound(&task).await.unwrap();
    }
    assert_eq!(store.db.rewind_target(&task).await.unwrap(), None);
    assert_eq!(store.db.comments(&task).await.unwrap().len(), 1);
    assert_eq!(store.db.checkpoints(&task).await.unwrap(), [first, second], "while the task is open");
    store.check_fold().await;
}
