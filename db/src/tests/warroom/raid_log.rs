//! The raid log: filters and pages, bad input, search, and what goes when the work ends.

use domain::board::search::SearchKind;
use domain::runs::agent_kind::AgentKind;
use domain::warroom::raid_log::{MAX_ENTRY_BYTES, NewRaidLogEntry, Priority, RaidLogEntry};

use crate::tests::external_agents::call;
use crate::tests::store::{Store, code};
use crate::{Caller, RaidLogQuery, Result, SearchQuery};

async fn log(store: &Store, by: &Caller, entry: &str, priority: Priority) -> Result<RaidLogEntry> {
    store.db.log_raid(by, &store.project, NewRaidLogEntry { entry: entry.to_owned(), priority: Some(priority) }).await
}

/// The texts that a query finds.
async fn texts(store: &Store, query: RaidLogQuery) -> Vec<String> {
    let entries = store.db.raid_log(&Caller::owner(), &store.project, &query).await.unwrap();
    entries.into_iter().map(|entry| entry.entry).collect()
}

async fn found(store: &Store, words: &str) -> Vec<(SearchKind, String, Option<String>)> {
    let query = SearchQuery { text: words.to_owned(), project: None, limit: 5 };
    store.db.search(&Caller::owner(), &query).await.unwrap().into_iter().map(|hit| (hit.kind, hit.id, hit.author)).collect()
}

#[tokio::test]
async fn log_is_read_by_priority_author_and_page() {
    let store = Store::board().await;
    let task = store.task("Search").await;
    let coder = store.agent(&task, AgentKind::Coder).await;
    let eve = store.guest("red/eve").await;
    for (by, entry, priority) in [
        (&coder.caller, "1", Priority::Low),
        (&eve, "2", Priority::Normal),
        (&coder.caller, "3", Priority::High),
        (&Caller::owner(), "4", Priority::Critical),
        (&eve, "5", Priority::Low),
    ] {
        log(&store, by, entry, priority).await.unwrap();
    }
    let all = RaidLogQuery::default;
    assert_eq!(texts(&store, all()).await, ["5", "4", "3", "2", "1"]);
    for (priority, expected) in [(Priority::Normal, &["4", "3", "2"][..]), (Priority::High, &["4", "3"]), (Priority::Critical, &["4"])] {
        assert_eq!(texts(&store, RaidLogQuery { priority: Some(priority), ..all() }).await, expected, "{priority} and above");
    }
    let by = |agent: &str| RaidLogQuery { agent: Some(agent.to_owned()), ..all() };
    assert_eq!(texts(&store, by("eve")).await, ["5", "2"], "a short name is enough");
    assert_eq!(texts(&store, by("human")).await, ["4"]);
    assert_eq!(texts(&store, RaidLogQuery { priority: Some(Priority::High), ..by(&coder.caller.name().unwrap()) }).await, ["3"]);
    let page = |before| RaidLogQuery { before, limit: Some(2), ..all() };
    let first = store.db.raid_log(&eve, &store.project, &page(None)).await.unwrap();
    assert_eq!((first.len(), first[0].run_id.clone()), (2, None));
    assert_eq!(texts(&store, page(Some(first[1].id))).await, ["3", "2"]);
    let of_run = store.db.raid_log(&eve, &store.project, &RaidLogQuery { priority: Some(Priority::High), ..all() }).await.unwrap();
    assert_eq!(of_run[1].run_id, Some(coder.run.clone()));
    assert_eq!(code(store.db.raid_log(&eve, &store.project, &by("zoe")).await), "unknown-agent");
    store.db.deregister(&Caller::owner(), &store.project, "red/eve").await.unwrap();
    assert_eq!(texts(&store, by("red/eve")).await, ["5", "2"], "its entries outlast an agent");
}

#[tokio::test]
async fn bad_entries_are_refused_and_nothing_is_written() {
    let store = Store::board().await;
    let eve = store.guest("eve").await;
    let before = store.dump().await;
    for entry in ["", " ", "a\0", &"x".repeat(MAX_ENTRY_BYTES + 1), &"x".repeat(1 << 20)] {
        assert_eq!(code(log(&store, &eve, entry, Priority::Normal).await), "invalid");
    }
    assert_eq!(code(log(&store, &store.invite(), "Mine", Priority::Normal).await), "not-registered");
    let unknown = "PROJ-404".parse().unwrap();
    let new = || NewRaidLogEntry { entry: "Mine".to_owned(), priority: None };
    assert_eq!(code(store.db.log_raid(&eve, &unknown, new()).await), "not-found");
    assert_eq!(code(store.db.log_raid(&Caller::owner(), &unknown, new()).await), "not-found");
    assert_eq!(code(store.db.raid_log(&eve, &unknown, &RaidLogQuery::default()).await), "not-found");
    assert_eq!(store.dump().await, before);
    let once = log(&store, &call(&eve, "1"), "Once", Priority::Normal).await.unwrap();
    assert_eq!(log(&store, &call(&eve, "1"), "Once", Priority::Normal).await.unwrap(), once, "a repeated call");
    assert_eq!(texts(&store, RaidLogQuery::default()).await, ["Once"]);
}

#[tokio::test]
async fn entries_are_found_until_routine_ones_end_with_the_work() {
    let store = Store::board().await;
    let task = store.task("Search").await;
    let eve = store.guest("eve").await;
    let low = log(&store, &eve, "The giraffe is being watered", Priority::Low).await.unwrap();
    let high = log(&store, &eve, "The crocodile ate the port", Priority::High).await.unwrap();
    let hit = |entry: &RaidLogEntry| (SearchKind::Log, entry.id.to_string(), Some("eve".to_owned()));
    assert_eq!(found(&store, "crocodil").await, [hit(&high)]);
    assert_eq!(found(&store, "giraffe").await, [hit(&low)]);
    store.complete(&task).await;
    assert_eq!(texts(&store, RaidLogQuery::default()).await, ["The crocodile ate the port"]);
    assert_eq!((found(&store, "giraffe").await, found(&store, "crocodile").await), (vec![], vec![hit(&high)]));
    let last = log(&store, &eve, "Routine", Priority::Low).await.unwrap();
    assert!(last.id > high.id, "numbers are not used twice");
    store.check_fold().await;
}

#[tokio::test]
async fn log_and_plans_go_with_their_project() {
    let store = Store::board().await;
    store.plan_battle().await;
    log(&store, &Caller::owner(), "The crocodile ate the port", Priority::High).await.unwrap();
    let (db, human) = (&store.db, &Caller::owner());
    let title = store.project().await.title;
    db.archive_project(human, &store.project).await.unwrap();
    db.delete_project(human, &store.project, &title).await.unwrap();
    db.remove_deleted_project(&store.project).await.unwrap();
    let left: Vec<String> = store.dump().await.into_iter().filter(|row| row.starts_with("battle_plans") || row.starts_with("raid_log")).collect();
    assert_eq!((left, found(&store, "crocodile").await), (vec![], vec![]));
}
