//! The record of the project branch: its tip, and the human's decision about unapproved commits.

use domain::board::attention::AttentionKind;
use domain::board::status::Status;
use domain::runs::evidence::Sha;

use crate::Caller;
use crate::tests::store::{Store, code, head};

fn sha(name: &str) -> Sha {
    name.to_owned()
}

#[tokio::test]
async fn tip_is_recorded_only_from_the_expected_commit() {
    let store = Store::board().await;
    let moved = async |from: Option<&str>, to| {
        let from = from.map(sha);
        store.db.record_branch_tip(&store.project, "branch", from.as_ref(), &sha(to)).await.unwrap();
        store.project().await.integration_head
    };
    assert_eq!(moved(None, "one").await.as_deref(), Some("one"));
    assert_eq!(moved(None, "late").await.as_deref(), Some("one"), "another call recorded it first");
    assert_eq!(moved(Some("one"), "two").await.as_deref(), Some("two"));
    assert_eq!(moved(Some("one"), "late").await.as_deref(), Some("two"));
    store.check_fold().await;
}

#[tokio::test]
async fn branch_record_lists_approved_unmerged_commits() {
    let store = Store::board().await;
    let record = async || store.db.branch_record(&store.project).await.unwrap();
    assert_eq!(record().await.approved, [""; 0]);
    let task = store.in_review("One").await;
    store.in_review("Not approved").await;
    store.move_with(&Caller::owner(), &task, Status::Done, None, head("head")).await.unwrap();
    let before = record().await;
    assert_eq!(before.approved, ["head"]);
    store.db.record_base_tip(&store.project, &"base".to_owned(), &"newer".to_owned()).await.unwrap();
    assert!(before.is_same_tip(&record().await), "the base branch does not matter");
    store.db.record_merge(&task, "head", "branch", "merge", "tree").await.unwrap();
    assert!(!before.is_same_tip(&record().await));
    let record = record().await;
    assert_eq!((record.approved.len(), record.project), (0, store.project().await));
    assert_eq!(code(store.db.branch_record(&"PROJ-009".parse().unwrap()).await), "not-found");
}

#[tokio::test]
async fn branch_decision_is_asked_on_one_card_and_accepts_its_tip() {
    let store = Store::board().await;
    let (one, two) = (store.task("One").await, store.task("Two").await);
    store.db.record_branch_tip(&store.project, "branch", None, &sha("left")).await.unwrap();
    let seq = store.db.latest();
    store.db.request_branch_decision(&one, &sha("tip"), "Commits").await.unwrap();
    store.db.request_branch_decision(&two, &sha("tip"), "Commits").await.unwrap();
    store.db.request_branch_decision(&one, &sha("newer"), "More commits").await.unwrap();
    assert_eq!(store.kinds_since(seq).await, ["task_needs_you"]);
    let attention = store.card(&one).await.attention.unwrap();
    assert_eq!((attention.kind, attention.tip.as_deref()), (AttentionKind::Repository, Some("tip")));
    let accepted = async || store.db.branch_record(&store.project).await.unwrap().accepted_tip;
    assert_eq!(accepted().await, None);

    // A card without a branch decision accepts no tip.
    store.db.retry_task(&Caller::owner(), &two, Default::default()).await.unwrap();
    assert_eq!(accepted().await, None);
    store.db.retry_task(&Caller::owner(), &one, Default::default()).await.unwrap();
    assert_eq!((store.card(&one).await.attention, accepted().await), (None, Some(sha("tip"))));
    store.db.record_branch_tip(&store.project, "branch", Some(&sha("left")), &sha("tip")).await.unwrap();
    assert_eq!(accepted().await, None, "it is now the recorded tip");
    store.check_fold().await;
}

#[tokio::test]
async fn only_branch_attention_accepts_a_tip() {
    let store = Store::board().await;
    let task = store.task("One").await;
    store.db.request_branch_decision(&task, &sha("tip"), "Commits").await.unwrap();
    store.db.clear_branch_decision(&task).await.unwrap();
    assert_eq!(store.card(&task).await.attention, None);
    store.db.request_attention(&task, AttentionKind::Repository, "It could not be merged").await.unwrap();
    store.db.clear_branch_decision(&task).await.unwrap();
    store.db.request_branch_decision(&task, &sha("tip"), "Commits").await.unwrap();
    let attention = store.card(&task).await.attention.unwrap();
    assert_eq!((attention.detail.as_str(), attention.tip), ("It could not be merged", None), "the first attention stays");
    store.db.retry_task(&Caller::owner(), &task, Default::default()).await.unwrap();
    assert_eq!(store.db.branch_record(&store.project).await.unwrap().accepted_tip, None);
    store.cancel(&task, "obsolete").await;
    store.db.request_branch_decision(&task, &sha("tip"), "Commits").await.unwrap();
    assert_eq!(store.card(&task).await.attention, None, "a finished card needs no branch");
    let nowhere = "TASK-404".parse().unwrap();
    assert_eq!(code(store.db.request_branch_decision(&nowhere, &sha("tip"), "x").await), "not-found");
    assert_eq!(code(store.db.clear_branch_decision(&nowhere).await), "not-found");
    store.check_fold().await;
}
