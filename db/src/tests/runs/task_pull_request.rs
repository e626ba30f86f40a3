//! Pull requests of single tasks: which are followed, and what came of them.

use domain::board::attention::AttentionKind;
use domain::board::comment::AuthorRole;
use domain::board::status::Status;
use domain::board::task::retry::RetryOptions;
use domain::id::TaskId;
use domain::runs::evidence::{Evidence, EvidenceResult};
use domain::runs::profile::{Profile, PullRequests};
use domain::runs::publication::pull_request::PullRequestState;
use domain::wire::ProjectPatch;

use crate::runs::publication::task_pull_request::FOLLOWED;
use crate::tests::engine::index::plan;
use crate::tests::store::{Store, clean, code, head, landing};
use crate::{Caller, MergedTask};

const ADDRESS: &str = "https://github.com/ann/site/pull/7";
const BRANCH: &str = "vr/TASK-001/one";

fn sha(name: &str) -> String {
    name.to_owned()
}

/// The merge of an approved task, with other work that the base has too.
fn merge_of(name: &str, others: &[&TaskId]) -> MergedTask {
    let others = others.iter().copied().cloned().collect();
    let (branch, head, tree) = (sha("vibe-relay/PROJ-001"), sha("squashed"), sha("tree"));
    MergedTask { sha: sha(name), branch, head, tree, commits: 2, others }
}

/// An approved task whose pull request is open.
async fn opened(store: &Store, title: &str) -> TaskId {
    let task = store.in_review(title).await;
    store.move_with(&Caller::owner(), &task, Status::Done, None, head("head")).await.unwrap();
    store.db.record_task_pull_request(&task, &sha("head"), BRANCH, ADDRESS).await.unwrap();
    task
}

/// The pull request of a task that is merged.
pub(in crate::tests) async fn merged(store: &Store) {
    let task = opened(store, "By pull request").await;
    store.db.end_task_pull_request(&task, PullRequestState::Merged).await.unwrap();
}

#[tokio::test]
async fn open_pull_request_is_followed_while_its_commit_is_approved() {
    let store = Store::board().await;
    let (db, human) = (&store.db, &Caller::owner());
    let plan = plan(&store, FOLLOWED).await;
    assert!(plan.contains("INDEX tasks_with_pull_request"), "the cost grows with open pull requests alone\n{plan}");
    let reviewed = store.in_review("Not approved").await;
    assert_eq!(code(db.record_task_pull_request(&reviewed, &sha("head"), BRANCH, ADDRESS).await), "not-now");
    let task = opened(&store, "One").await;
    assert!(store.card(&task).await.awaits_pull_request());
    assert_eq!(db.tasks_in_pull_requests().await.unwrap(), std::slice::from_ref(&task));
    assert_eq!(db.issue_of(&task).await.unwrap(), None);

    // Its coder repairs what came back, and the same pull request goes on.
    db.send_task_pull_request_back(&task, vec!["check head test".to_owned()], "The check is red.").await.unwrap();
    let card = store.card(&task).await;
    assert_eq!((card.status, card.approved_sha.clone(), card.awaits_pull_request()), (Status::InProgress, None, false));
    assert_eq!(db.tasks_in_pull_requests().await.unwrap(), []);
    let comment = db.comments(&task).await.unwrap().pop().unwrap();
    assert_eq!((comment.author_role, comment.content.as_str()), (AuthorRole::Runner, "The check is red."));
    assert_eq!(code(db.send_task_pull_request_back(&task, Vec::new(), "Again.").await), "not-now");
    let repaired = EvidenceResult::Evidence(Evidence { head: sha("repaired"), ..clean() });
    store.move_with(human, &task, Status::InReview, None, repaired).await.unwrap();
    store.move_with(human, &task, Status::Done, None, head("repaired")).await.unwrap();
    let known = db.record_task_pull_request(&task, &sha("repaired"), BRANCH, ADDRESS).await.unwrap().card.pull_request.unwrap();
    assert_eq!((known.sha.as_str(), known.status.sent_back, known.status.seen.len()), ("repaired", 1, 1));

    // A person looks, and what comes after that comes back again.
    db.flag_task_pull_request(&task, vec!["review 1".to_owned()], "test failed").await.unwrap();
    let card = store.card(&task).await;
    assert_eq!((card.attention.unwrap().kind, card.pull_request.unwrap().status.sent_back), (AttentionKind::PullRequest, 0));
    assert_eq!(db.tasks_in_pull_requests().await.unwrap(), std::slice::from_ref(&task), "the person may merge it on its host");
    db.retry_task(human, &task, RetryOptions::default()).await.unwrap();
    assert_eq!(db.tasks_in_pull_requests().await.unwrap(), std::slice::from_ref(&task));
    db.flag_task_pull_request(&task, Vec::new(), "It conflicts").await.unwrap();
    db.end_task_pull_request(&task, PullRequestState::Merged).await.unwrap();
    let card = store.card(&task).await;
    assert!(card.attention.is_none() && card.was_merged_on_host(), "nothing keeps its merge step from finishing it");
    store.check_fold().await;
}

#[tokio::test]
async fn closed_pull_request_needs_a_person_and_can_be_opened_again() {
    let store = Store::board().await;
    let task = opened(&store, "One").await;
    store.db.end_task_pull_request(&task, PullRequestState::Closed).await.unwrap();
    let card = store.card(&task).await;
    assert_eq!((card.attention.unwrap().kind, card.approved_sha.as_deref()), (AttentionKind::PullRequest, Some("head")));
    assert_eq!(store.db.tasks_in_pull_requests().await.unwrap(), []);
    store.db.retry_task(&Caller::owner(), &task, RetryOptions::default()).await.unwrap();
    let again = store.db.record_task_pull_request(&task, &sha("head"), BRANCH, "https://github.com/ann/site/pull/8").await.unwrap();
    assert!(again.card.awaits_pull_request());
    store.check_fold().await;
}

#[tokio::test]
async fn merged_pull_request_finishes_its_task_and_lands_it() {
    let store = Store::board().await;
    let task = opened(&store, "One").await;
    let next = store.task_after("Two", &[&task]).await;
    let db = &store.db;
    let record = async || db.record_merged_task(&task, merge_of("head", &[])).await;
    assert_eq!(code(record().await), "not-now", "its host has not merged it");
    db.end_task_pull_request(&task, PullRequestState::Merged).await.unwrap();
    let card = store.card(&task).await;
    assert!(card.was_merged_on_host() && !card.awaits_pull_request());
    assert_eq!(code(store.move_to(&Caller::Runner, &next, Status::InProgress).await), "dependencies-open", "the project branch does not have it");
    assert_eq!(code(db.record_merged_task(&task, merge_of("other", &[])).await), "not-now");
    let seq = db.latest();
    let done = record().await.unwrap();
    assert_eq!((done.card.status, done.merged_sha.as_deref()), (Status::Done, Some("head")));
    let kinds = store.kinds_since(seq).await;
    assert!(kinds.contains(&"pull_request_merged") && kinds.contains(&"task_merged"), "{kinds:?}");
    let project = store.project().await;
    let landing = project.landed.clone().unwrap();
    assert_eq!((landing.tasks, landing.commits, landing.pull_request.as_deref()), (1, 2, Some(ADDRESS)));
    assert!(!project.has_unlanded_work(true), "nothing waits to be landed");
    assert_eq!(code(db.landing_to_undo(&store.project, None).await), "nothing-to-undo", "it is on the remote");
    store.move_to(&Caller::Runner, &next, Status::InProgress).await.unwrap();
    store.check_fold().await;
}

#[tokio::test]
async fn work_merged_before_lands_with_the_pull_request_that_brings_it() {
    let store = Store::board().await;
    let before = store.task("Bring both sides together").await;
    store.complete(&before).await;
    for (title, others, landed) in [("Without it", &[][..], 1), ("With it", &[&before][..], 2)] {
        let task = opened(&store, title).await;
        store.db.end_task_pull_request(&task, PullRequestState::Merged).await.unwrap();
        store.db.record_merged_task(&task, merge_of("head", others)).await.unwrap();
        let project = store.project().await;
        assert_eq!((project.landed.as_ref().unwrap().tasks, project.has_unlanded_work(true)), (landed, landed == 1), "{title}");
        assert_eq!(store.db.landing_facts(&store.project, None).await.unwrap().tasks.len(), 2 - landed as usize, "{title}");
    }
    store.check_fold().await;
}

#[tokio::test]
async fn pull_requests_of_tasks_are_refused_while_merged_work_waits() {
    let store = Store::board().await;
    let done = store.task("One").await;
    store.complete(&done).await;
    let set = async |pull_requests| {
        let profile = Some(Profile { pull_requests, ..Profile::default() });
        store.db.edit_project(&Caller::owner(), &store.project, ProjectPatch { profile, ..ProjectPatch::default() }, None).await
    };
    assert_eq!(code(set(PullRequests::Task).await), "not-landed");
    store.db.record_landing(&Caller::owner(), &store.project, landing("merge", "merge")).await.unwrap();
    assert_eq!(set(PullRequests::Task).await.unwrap().profile.pull_requests, PullRequests::Task);
    let plan = plan(&store, &crate::board::project::UNLANDED.replace("$1", "'PROJ-001'")).await;
    assert!(plan.contains("INDEX tasks_to_land"), "the cost does not grow with landed work\n{plan}");
}
