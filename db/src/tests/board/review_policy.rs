//! The reviewers of a project: an agent, a person, or one after the other.

use domain::board::attention::AttentionKind;
use domain::board::project::ReviewPolicy;
use domain::board::status::Status;
use domain::id::TaskId;
use domain::runs::agent_kind::AgentKind;
use domain::runs::evidence::{Evidence, EvidenceResult};
use domain::wire::ProjectPatch;

use crate::tests::store::{Store, clean, code, head};
use crate::{Caller, MoveRequest, Result};

async fn board(review: ReviewPolicy) -> (Store, TaskId) {
    let store = Store::board().await;
    set(&store, review).await;
    let task = store.in_review("One").await;
    (store, task)
}

async fn set(store: &Store, review: ReviewPolicy) {
    let patch = ProjectPatch { review: Some(review), ..ProjectPatch::default() };
    assert_eq!(store.db.edit_project(&Caller::owner(), &store.project, patch, None).await.unwrap().review, review);
}

async fn reviewer_approves(store: &Store, task: &TaskId) -> Result<()> {
    let reviewer = store.agent_at(task, AgentKind::Reviewer, "head").await;
    let approved = store.move_with(&reviewer.caller, task, Status::Done, None, head("head")).await.map(drop);
    store.finish(&reviewer).await;
    approved
}

async fn person_approves(store: &Store, task: &TaskId) -> Result<()> {
    store.move_with(&Caller::owner(), task, Status::Done, None, head("head")).await.map(drop)
}

async fn merge(store: &Store, task: &TaskId) -> Result<()> {
    let branch = store.project().await.integration_branch;
    store.db.record_merge(task, "head", &branch, "merge", "tree").await.map(drop)
}

#[tokio::test]
async fn agent_or_person_approves_by_default() {
    let (store, task) = board(ReviewPolicy::Agent).await;
    reviewer_approves(&store, &task).await.unwrap();
    merge(&store, &task).await.unwrap();
    let other = store.in_review("Two").await;
    person_approves(&store, &other).await.unwrap();
    merge(&store, &other).await.unwrap();
}

#[tokio::test]
async fn only_a_person_approves_where_people_review() {
    let (store, task) = board(ReviewPolicy::Human).await;
    let before = store.card(&task).await.approved_sha;
    assert_eq!(code(reviewer_approves(&store, &task).await), "person-approves");
    assert_eq!(store.card(&task).await.approved_sha, before);
    person_approves(&store, &task).await.unwrap();
    merge(&store, &task).await.unwrap();
    store.check_fold().await;
}

#[tokio::test]
async fn person_approves_the_commit_that_an_agent_approved() {
    let (store, task) = board(ReviewPolicy::Both).await;
    assert_eq!(code(person_approves(&store, &task).await), "agent-approves-first");
    reviewer_approves(&store, &task).await.unwrap();
    assert_eq!(code(merge(&store, &task).await), "person-approves");
    let other = store.move_with(&Caller::owner(), &task, Status::Done, None, head("newer")).await;
    assert_eq!(code(other.map(drop)), "agent-approves-first", "an approval is of one commit");
    person_approves(&store, &task).await.unwrap();
    merge(&store, &task).await.unwrap();
    store.check_fold().await;
}

#[tokio::test]
async fn commit_that_was_sent_back_is_not_approved_by_an_agent_any_more() {
    let (store, task) = board(ReviewPolicy::Both).await;
    reviewer_approves(&store, &task).await.unwrap();
    store.db.record_merge_failure(&task, "head", "It conflicts").await.unwrap();
    assert_eq!(code(person_approves(&store, &task).await), "agent-approves-first");
}

#[tokio::test]
async fn person_closes_a_task_without_a_merge_under_any_policy() {
    for review in ReviewPolicy::ALL {
        let (store, task) = board(*review).await;
        let close = MoveRequest { to: Status::Done, reason: None, merge: false };
        let closed = store.db.move_task(&Caller::owner(), &task, close, EvidenceResult::Nothing).await.unwrap();
        assert_eq!((closed.card.status, closed.merged_sha), (Status::Done, None), "{review}");
    }
}

#[tokio::test]
async fn policy_that_changes_ends_what_it_asked() {
    let (store, task) = board(ReviewPolicy::Human).await;
    store.db.request_attention(&task, AttentionKind::Review, "A person reviews it.").await.unwrap();
    let other = store.in_review("Two").await;
    store.db.request_attention(&other, AttentionKind::Checks, "They cannot run.").await.unwrap();
    set(&store, ReviewPolicy::Agent).await;
    assert_eq!(store.card(&task).await.attention, None);
    assert!(store.card(&other).await.attention.is_some(), "only its own questions");
    store.check_fold().await;
}

async fn submit(store: &Store, task: &TaskId, sha: &str) {
    let found = EvidenceResult::Evidence(Evidence { head: sha.to_owned(), ..clean() });
    store.move_with(&Caller::owner(), task, Status::InReview, None, found).await.unwrap();
}

#[tokio::test]
async fn same_commit_that_only_the_runner_sent_back_needs_no_second_review() {
    let (store, task) = board(ReviewPolicy::Agent).await;
    reviewer_approves(&store, &task).await.unwrap();
    store.db.record_merge_failure(&task, "head", "`npm test` failed").await.unwrap();
    submit(&store, &task, "head").await;
    let card = store.card(&task).await;
    assert!(card.is_approved() && card.lacks_approval_of_a_person(), "{card:?}");
    let last = store.db.comments(&task).await.unwrap().pop().unwrap();
    assert_eq!(last.content, format!("reviewer-{task} approved head before, so it is not reviewed again."));
    merge(&store, &task).await.unwrap();
    store.check_fold().await;
}

#[tokio::test]
async fn approval_ends_with_another_commit_a_rejection_or_another_policy() {
    let (store, task) = board(ReviewPolicy::Agent).await;
    reviewer_approves(&store, &task).await.unwrap();
    store.db.record_merge_failure(&task, "head", "It conflicts").await.unwrap();
    submit(&store, &task, "other").await;
    assert!(!store.card(&task).await.is_approved(), "another commit");

    let sent_back = store.in_review("Two").await;
    reviewer_approves(&store, &sent_back).await.unwrap();
    store.move_with(&Caller::owner(), &sent_back, Status::InProgress, Some("Not so"), EvidenceResult::Nothing).await.unwrap();
    submit(&store, &sent_back, "head").await;
    assert!(!store.card(&sent_back).await.is_approved(), "a person decided otherwise");

    let by_agent = store.in_review("Three").await;
    reviewer_approves(&store, &by_agent).await.unwrap();
    store.db.record_merge_failure(&by_agent, "head", "It conflicts").await.unwrap();
    set(&store, ReviewPolicy::Human).await;
    submit(&store, &by_agent, "head").await;
    assert!(!store.card(&by_agent).await.is_approved(), "agents no longer approve there");
}
