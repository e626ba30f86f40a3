//! Pull requests of projects: which are followed, and what came of them.

use domain::board::comment::AuthorRole;
use domain::board::needs_you::Decision;
use domain::board::status::{HeldBy, Status};
use domain::id::TaskId;
use domain::runs::publication::issue::Issue;
use domain::runs::publication::pull_request::PullRequestState;
use domain::runs::publication::task_text::TaskText;

use crate::runs::publication::pull_request::FOLLOWED;
use crate::tests::engine::index::plan;
use crate::tests::store::{Store, code, publication};
use crate::{Caller, MergedPullRequest};

fn finding() -> TaskText {
    TaskText { title: "Fix the check".to_owned(), description: "It is red.".to_owned() }
}

/// A pull request that needs a person, is closed, opened again and merged.
pub(in crate::tests) async fn every_end_of_a_pull_request(store: &Store) {
    let (db, human, project) = (&store.db, &Caller::owner(), &store.project);
    db.send_pull_request_back(project, Vec::new(), finding()).await.unwrap();
    db.flag_pull_request(project, Vec::new(), "test failed").await.unwrap();
    db.settle_pull_request(human, project).await.unwrap();
    db.record_closed_pull_request(project).await.unwrap();
    db.record_publication(human, project, publication("merge")).await.unwrap();
    let merged = MergedPullRequest { tip: "merge".to_owned(), base_branch: "main".to_owned(), tasks: Vec::new(), commits: 0 };
    db.record_merged_pull_request(project, merged).await.unwrap();
}

#[tokio::test]
async fn open_pull_request_is_followed_until_it_ends() {
    let store = Store::board().await;
    let (db, id) = (&store.db, &store.project);
    assert_eq!(db.followed_projects().await.unwrap(), []);
    let plan = plan(&store, FOLLOWED).await;
    assert!(plan.contains("INDEX projects_with_pull_request"), "the cost grows with open pull requests alone\n{plan}");
    assert_eq!(code(db.flag_pull_request(id, Vec::new(), "red").await), "nothing-to-settle", "nothing was pushed");
    db.record_publication(&Caller::owner(), id, publication("one")).await.unwrap();
    let seq = db.latest();
    db.record_push(id, &"two".to_owned()).await.unwrap();
    let followed = db.followed_projects().await.unwrap();
    assert_eq!(followed.iter().map(|project| project.published.as_ref().unwrap().sha.as_str()).collect::<Vec<_>>(), ["two"]);
    let task = db.send_pull_request_back(id, vec!["check a test".to_owned()], finding()).await.unwrap();
    let status = store.project().await.published.unwrap().status.unwrap();
    assert_eq!((status.sent_back, &status.seen, status.task), (1, &vec!["check a test".to_owned()], Some(task.card.id)));
    db.flag_pull_request(id, vec!["review 1".to_owned()], "test failed").await.unwrap();
    let needed = db.needs_you(&Caller::owner()).await.unwrap().items;
    assert!(matches!(&needed[..], [item] if matches!(&item.decision, Decision::PullRequest { detail, .. } if detail == "test failed")), "{needed:?}");
    let settled = db.settle_pull_request(&Caller::owner(), id).await.unwrap().published.unwrap().status.unwrap();
    assert_eq!((settled.sent_back, settled.needs_you, settled.seen.len()), (0, None, 2));
    assert_eq!(code(db.settle_pull_request(&Caller::owner(), id).await), "nothing-to-settle");
    assert_eq!(code(db.settle_pull_request(&Caller::Runner, id).await), "human-only");
    db.record_closed_pull_request(id).await.unwrap();
    assert_eq!(db.followed_projects().await.unwrap(), []);
    assert_eq!(db.settle_pull_request(&Caller::owner(), id).await.unwrap().published.unwrap().pull_request, None);
    let kinds = store.kinds_since(seq).await;
    let expected = ["project_published", "pull_request_sent_back", "pull_request_needs_you", "pull_request_settled", "pull_request_closed"];
    let of_pull_request = kinds.iter().filter(|kind| kind.starts_with("pull_") || **kind == "project_published");
    assert_eq!(of_pull_request.copied().take(5).collect::<Vec<_>>(), expected);
    store.check_fold().await;
}

#[tokio::test]
async fn merged_pull_request_brings_the_tasks_that_it_has() {
    let store = Store::board().await;
    let (db, id) = (&store.db, &store.project);
    let (one, two) = (store.task("One").await, store.task("Two").await);
    for task in [&one, &two] {
        store.complete(task).await;
    }
    db.record_publication(&Caller::owner(), id, publication("tip")).await.unwrap();
    let base_branch = "main".to_owned();
    let project =
        db.record_merged_pull_request(id, MergedPullRequest { tip: "tip".to_owned(), base_branch, tasks: vec![one], commits: 2 }).await.unwrap();
    let landing = project.landed.unwrap();
    assert_eq!((landing.tasks, landing.commits, landing.pull_request.as_deref()), (1, 2, Some("https://github.com/ann/site/pull/7")));
    assert_eq!((project.landed_sha.as_deref(), project.published.unwrap().status.unwrap().state), (Some("tip"), PullRequestState::Merged));
    let facts = db.landing_facts(id, None).await.unwrap();
    assert_eq!(facts.tasks.iter().map(|task| task.id.clone()).collect::<Vec<_>>(), [two]);
    assert_eq!(code(db.landing_to_undo(id, None).await), "nothing-to-undo", "it is on the remote");
    assert_eq!(db.followed_projects().await.unwrap(), []);
    store.check_fold().await;
}

#[tokio::test]
async fn findings_reopen_a_finished_task_and_no_other() {
    let store = Store::board().await;
    let (db, id) = (&store.db, &store.project);
    let (done, open) = (store.task("One").await, store.task("Two").await);
    store.complete(&done).await;
    let reopen = async |task: &TaskId| db.reopen_for_pull_request(id, task, vec!["review 1".to_owned()], "Use a map.").await;
    assert_eq!(code(reopen(&done).await), "nothing-to-settle", "nothing was pushed");
    db.record_publication(&Caller::owner(), id, publication("one")).await.unwrap();
    let before = store.dump().await;
    assert_eq!(code(reopen(&open).await), "not-now", "it is not finished");
    assert_eq!(store.dump().await, before);
    let task = reopen(&done).await.unwrap();
    assert_eq!((task.card.status, task.card.approved_sha), (Status::InProgress, None));
    let status = store.project().await.published.unwrap().status.unwrap();
    assert_eq!((status.sent_back, status.task, status.seen), (1, Some(done.clone()), vec!["review 1".to_owned()]));
    let comment = db.comments(&done).await.unwrap().pop().unwrap();
    assert_eq!((comment.author_role, comment.content.as_str()), (AuthorRole::Runner, "Use a map."));
    store.check_fold().await;
}

#[tokio::test]
async fn issue_becomes_a_held_task_once() {
    let store = Store::board().await;
    let (db, id) = (&store.db, &store.project);
    let issue = || Issue {
        address: "https://github.com/ann/site/issues/7".to_owned(),
        title: "The menu is empty".to_owned(),
        body: "It is.".to_owned(),
        author: "eve".to_owned(),
        labels: Vec::new(),
    };
    let task = db.import_issue(&Caller::owner(), id, issue(), false).await.unwrap();
    assert_eq!((task.card.title.as_str(), task.card.held_by), ("The menu is empty", Some(HeldBy::Human)));
    assert_eq!(code(db.import_issue(&Caller::owner(), id, issue(), false).await), "issue-imported");
    assert_eq!(code(db.import_issue(&Caller::Runner, id, issue(), false).await), "human-only");
    assert_eq!(db.issues_to_close(id).await.unwrap(), Vec::<String>::new(), "its work is not merged");
    db.start_task(&Caller::owner(), &task.card.id).await.unwrap();
    store.complete(&task.card.id).await;
    assert_eq!(db.issues_to_close(id).await.unwrap(), [issue().address]);
    assert_eq!(code(db.import_issue(&Caller::owner(), id, issue(), true).await), "issue-imported");
    store.check_fold().await;
}
