//! Following the base branch: recorded merges, and at most one task for a conflict.

use domain::board::needs_you::Decision;
use domain::board::project::ProjectStatus;
use domain::board::status::Status;
use domain::runs::agent_kind::AgentKind;
use domain::runs::evidence::Sha;

use crate::Caller;
use crate::runs::base::BaseMerge;
use crate::tests::store::{Store, code, landing};

fn sha(name: &str) -> Sha {
    name.to_owned()
}

fn merge(from: &str, head: &str) -> BaseMerge {
    BaseMerge { from: sha(from), branch: "branch".to_owned(), head: sha(head), base_branch: "main".to_owned(), sha: sha("theirs") }
}

#[tokio::test]
async fn base_that_was_merged_is_recorded_once() {
    let store = Store::board().await;
    store.db.record_branch_tip(&store.project, "branch", None, &sha("one")).await.unwrap();
    let seq = store.db.latest();
    store.db.record_base_merge(&store.project, merge("one", "two")).await.unwrap();
    store.db.record_base_merge(&store.project, merge("one", "late")).await.unwrap();
    assert_eq!(store.project().await.integration_head, Some(sha("two")));
    assert_eq!(store.kinds_since(seq).await, ["project_branch_moved", "project_base_merged"]);
    store.check_fold().await;
}

#[tokio::test]
async fn base_alone_gives_nothing_to_land() {
    let store = Store::board().await;
    let task = store.task("One").await;
    store.complete(&task).await;
    let tip = store.project().await.integration_head.unwrap();
    store.db.record_base_merge(&store.project, merge(&tip, "with main")).await.unwrap();
    assert!(store.project().await.has_unlanded_work(true), "the task still waits");
    store.db.record_landing(&Caller::owner(), &store.project, landing("with main", "landed")).await.unwrap();
    store.db.record_base_merge(&store.project, merge("with main", "with more")).await.unwrap();
    assert!(!store.project().await.has_unlanded_work(true));
}

#[tokio::test]
async fn fetch_that_fails_needs_the_person_until_one_succeeds() {
    let store = Store::board().await;
    let seq = store.db.latest();
    for detail in ["origin: no route to host", "origin: timed out"] {
        store.db.record_fetch(&store.project, Some(detail)).await.unwrap();
    }
    let needed = store.db.needs_you(&Caller::owner()).await.unwrap().items;
    let expected = Decision::BaseNotFetched { base_branch: "main".to_owned(), detail: "origin: no route to host".to_owned() };
    assert_eq!(needed.iter().map(|item| (&item.decision, item.agent_waits)).collect::<Vec<_>>(), [(&expected, false)]);
    for _ in 0..2 {
        store.db.record_fetch(&store.project, None).await.unwrap();
    }
    assert_eq!(store.db.needs_you(&Caller::owner()).await.unwrap().items, []);
    assert_eq!(store.kinds_since(seq).await, ["project_base_not_fetched", "project_base_fetched"], "not once for each try");
    store.check_fold().await;
}

#[tokio::test]
async fn conflict_makes_one_open_task_for_a_coder() {
    let store = Store::board().await;
    let done = store.task("One").await;
    store.complete(&done).await;
    assert_eq!(store.project().await.status, ProjectStatus::Complete);
    let sync = async |tip: &str| store.db.create_sync_task(&store.project, &sha(tip), "Merge main", "It conflicts.").await.unwrap();
    let task = sync("a").await.unwrap();
    let card = store.card(&task).await;
    assert_eq!((card.phase, card.status, card.held_by), (AgentKind::Coder, Status::Backlog, None));
    assert_eq!(store.project().await.status, ProjectStatus::Active, "it is open again");
    assert_eq!((sync("a").await, sync("b").await), (None, None), "one at a time");
    assert_eq!(store.db.open_sync_task(&store.project).await.unwrap(), Some(task.clone()));
    store.move_with(&Caller::owner(), &task, Status::Cancelled, Some("obsolete"), domain::runs::evidence::EvidenceResult::Nothing).await.unwrap();
    assert_eq!(store.db.open_sync_task(&store.project).await.unwrap(), None);
    assert_eq!(sync("a").await, None, "a person did not want it");
    assert!(sync("b").await.is_some(), "the base moved on");
    store.check_fold().await;
    assert_eq!(code(store.db.record_base_merge(&"PROJ-404".parse().unwrap(), merge("a", "b")).await), "not-found");
}
