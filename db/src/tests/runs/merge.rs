//! Merging: an approved commit becomes part of the project branch, or goes back with the reason.

use domain::board::attention::AttentionKind;
use domain::board::comment::AuthorRole;
use domain::board::project::ProjectStatus;
use domain::board::status::Status;

use crate::Caller;
use crate::tests::store::{Store, code, head};

#[tokio::test]
async fn merged_task_is_done_and_unblocks_dependents() {
    let store = Store::board().await;
    let task = store.in_review("One").await;
    let next = store.task_after("Two", &[&task]).await;
    store.move_with(&Caller::owner(), &task, Status::Done, None, head("head")).await.unwrap();
    let seq = store.db.latest();
    let branch = store.project().await.integration_branch;
    let done = store.db.record_merge(&task, "head", &branch, "merge", "tree").await.unwrap();
    assert_eq!((done.card.status, done.merged_sha.as_deref()), (Status::Done, Some("head")));
    assert_eq!(done.card.approved_sha.as_deref(), Some("head"));
    assert_eq!(store.project().await.integration_head.as_deref(), Some("merge"));
    assert_eq!(store.kinds_since(seq).await, ["project_branch_moved", "task_merged", "task_moved", "agent_left"]);
    store.move_to(&Caller::Runner, &next, Status::InProgress).await.unwrap();
    store.check_fold().await;
}

#[tokio::test]
async fn only_the_approved_commit_is_merged_once() {
    let store = Store::board().await;
    let task = store.in_review("One").await;
    let branch = store.project().await.integration_branch;
    let before = store.dump().await;
    assert_eq!(code(store.db.record_merge(&task, "head", &branch, "merge", "tree").await), "not-now");
    assert_eq!(code(store.db.record_merge_failure(&task, "head", "reason").await), "not-now");
    assert_eq!(store.dump().await, before);
    store.move_with(&Caller::owner(), &task, Status::Done, None, head("head")).await.unwrap();
    assert_eq!(code(store.db.record_merge(&task, "other", &branch, "merge", "tree").await), "not-now");
    store.db.record_merge(&task, "head", &branch, "merge", "tree").await.unwrap();
    assert_eq!(code(store.db.record_merge(&task, "head", &branch, "merge", "tree").await), "not-now");
}

#[tokio::test]
async fn failed_merge_returns_the_card_with_a_comment() {
    let store = Store::board().await;
    let first = store.task("One").await;
    store.complete(&first).await;
    let task = store.in_review("Two").await;
    store.move_with(&Caller::owner(), &task, Status::Done, None, head("head")).await.unwrap();
    store.db.stop_task(&Caller::owner(), &task).await.unwrap();
    assert_eq!(store.project().await.status, ProjectStatus::Complete);
    let back = store.db.record_merge_failure(&task, "head", "It conflicts in a.rs").await.unwrap();
    assert_eq!((back.card.status, back.card.approved_sha, back.review_rounds), (Status::InProgress, None, 1));
    let comment = store.db.comments(&task).await.unwrap().remove(0);
    assert_eq!((comment.author_role, comment.content.as_str()), (AuthorRole::Runner, "It conflicts in a.rs"));
    assert_eq!(store.project().await.status, ProjectStatus::Active, "the task is open again");
    store.check_fold().await;
}

#[tokio::test]
async fn runner_requests_attention_once() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let seq = store.db.latest();
    store.db.request_attention(&task, AttentionKind::Conflict, "a.rs").await.unwrap();
    store.db.request_attention(&task, AttentionKind::Conflict, "a.rs").await.unwrap();
    assert_eq!(store.kinds_since(seq).await, ["task_needs_you"]);
    assert_eq!(store.card(&task).await.attention.unwrap().kind, AttentionKind::Conflict);
    assert_eq!(code(store.db.request_attention(&"TASK-404".parse().unwrap(), AttentionKind::Conflict, "x").await), "not-found");
}
