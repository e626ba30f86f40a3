//! Memory: whom entries belong to, how long they last, and who wins a race. The first tests have the names and the expectations of
//! shared-context-server's own tests of isolation.

use std::time::Duration;

use domain::context::memory::{MAX_ENTRIES, MAX_VALUE_BYTES, MemoryScope, NewMemoryEntry};
use domain::context::metadata::Metadata;
use domain::context::session::ContextSessionId;
use domain::runs::agent_kind::AgentKind;
use domain::runs::failure::EndClass;
use domain::team::person::PersonRole;
use serde_json::{Value, json};

use super::session::{person, purpose};
use crate::tests::external_agents::named;
use crate::tests::store::{Store, code};
use crate::{Caller, MemoryListQuery, RetentionLimits};

fn entry(key: &str, value: impl Into<Value>) -> NewMemoryEntry {
    NewMemoryEntry {
        key: key.to_owned(),
        value: value.into(),
        session_id: None,
        scope: None,
        expires_in: None,
        metadata: Metadata::new(),
        overwrite: true,
    }
}

fn in_session(session: &ContextSessionId, key: &str, value: &str) -> NewMemoryEntry {
    NewMemoryEntry { session_id: Some(session.clone()), ..entry(key, value) }
}

impl Store {
    async fn remember(&self, caller: &Caller, key: &str, value: &str) {
        self.db.set_memory(caller, entry(key, value)).await.unwrap();
    }

    /// The value, or the code of the refusal.
    async fn recall(&self, caller: &Caller, key: &str, session: Option<&ContextSessionId>) -> String {
        match self.db.memory(caller, key, session).await {
            Ok(entry) => entry.value.as_str().unwrap().to_owned(),
            error => code(error).to_owned(),
        }
    }

    async fn keys(&self, caller: &Caller, query: &MemoryListQuery) -> Vec<String> {
        self.db.memories(caller, query).await.unwrap().into_iter().map(|entry| entry.key).collect()
    }
}

#[tokio::test]
async fn global_memory_isolation() {
    let store = Store::board().await;
    let (mara, ole) = (store.member("mara", &[]).await, store.member("ole", &[]).await);
    store.remember(&mara, "secret", "mara's").await;
    assert_eq!((store.recall(&ole, "secret", None).await, store.recall(&mara, "secret", None).await), ("not-found".to_owned(), "mara's".to_owned()));
    assert_eq!(code(store.db.delete_memory(&ole, "secret", None).await), "not-found");
}

#[tokio::test]
async fn session_scoped_memory_isolation() {
    let store = Store::board().await;
    let (mara, ole) = (store.member("mara", &[]).await, store.member("ole", &[]).await);
    let id = store.db.create_context_session(&mara, Some(&store.project), purpose("Isolation")).await.unwrap().id;
    store.db.set_memory(&mara, in_session(&id, "secret", "mara's")).await.unwrap();
    assert_eq!(store.recall(&ole, "secret", Some(&id)).await, "not-found");
    assert_eq!(store.recall(&mara, "secret", Some(&id)).await, "mara's");
    assert_eq!(store.recall(&mara, "secret", None).await, "not-found", "it counts in its session only");
}

#[tokio::test]
async fn cross_session_memory_isolation() {
    let store = Store::board().await;
    let mara = store.member("mara", &[]).await;
    let one = store.db.create_context_session(&mara, Some(&store.project), purpose("One")).await.unwrap().id;
    let two = store.db.create_context_session(&mara, Some(&store.project), purpose("Two")).await.unwrap().id;
    for (session, value) in [(&one, "session_1_data"), (&two, "session_2_data")] {
        store.db.set_memory(&mara, in_session(session, "key", value)).await.unwrap();
    }
    assert_eq!(
        (store.recall(&mara, "key", Some(&one)).await.as_str(), store.recall(&mara, "key", Some(&two)).await.as_str()),
        ("session_1_data", "session_2_data")
    );
}

#[tokio::test]
async fn memory_list_isolation() {
    let store = Store::board().await;
    let (mara, ole) = (store.member("mara", &[]).await, store.member("ole", &[]).await);
    for number in 0..3 {
        store.remember(&mara, &format!("mara_key_{number}"), "a").await;
    }
    store.remember(&ole, "ole_key_0", "b").await;
    let all = MemoryListQuery::default();
    assert_eq!((store.keys(&mara, &all).await.len(), store.keys(&ole, &all).await), (3, vec!["ole_key_0".to_owned()]));
}

#[tokio::test]
async fn agent_context_derivation_security() {
    let store = Store::board().await;
    let (coder, lookalike) = (store.task("Page").await, store.member("coder", &[]).await);
    let coder = store.agent(&coder, AgentKind::Coder).await;
    store.remember(&lookalike, "key", "an agent called coder").await;
    store.db.set_memory(&coder.caller, NewMemoryEntry { scope: Some(MemoryScope::Global), ..entry("key", "a coder") }).await.unwrap();
    assert_eq!(store.recall(&lookalike, "key", None).await, "an agent called coder");
    assert_eq!(store.recall(&coder.caller, "key", None).await, "a coder");
}

#[tokio::test]
async fn successors_find_what_their_predecessors_kept() {
    let store = Store::board().await;
    let task = store.task("Page").await;
    let first = store.agent(&task, AgentKind::Coder).await;
    store.remember(&first.caller, "state", "half done").await;
    store.db.set_memory(&first.caller, NewMemoryEntry { scope: Some(MemoryScope::Global), ..entry("build", "make") }).await.unwrap();
    store.end(&first.run, EndClass::Stopped, None).await;
    store.db.start_task(&Caller::owner(), &task).await.unwrap();
    let next = store.agent(&task, AgentKind::Coder).await;
    assert_eq!(store.recall(&next.caller, "state", None).await, "half done");
    let other = store.task("Style").await;
    let other = store.agent(&other, AgentKind::Coder).await;
    assert_eq!(
        (store.recall(&other.caller, "state", None).await, store.recall(&other.caller, "build", None).await),
        ("not-found".to_owned(), "make".to_owned())
    );
    assert_eq!(store.keys(&other.caller, &MemoryListQuery::default()).await, ["build"]);

    let one = store.in_review("One").await;
    let reviewer = store.agent_at(&one, AgentKind::Reviewer, "head").await;
    assert_eq!(store.keys(&reviewer.caller, &MemoryListQuery { include_sessions: true, ..MemoryListQuery::default() }).await, [""; 0]);
    store.remember(&reviewer.caller, "habits", "Tests first").await;
    let two = store.in_review("Two").await;
    let later = store.agent_at(&two, AgentKind::Reviewer, "head").await;
    assert_eq!(store.recall(&later.caller, "habits", None).await, "Tests first");
    assert_eq!(store.recall(&next.caller, "habits", None).await, "not-found", "the coder's memory is never the reviewer's");
}

#[tokio::test]
async fn task_entry_hides_the_one_of_the_project() {
    let store = Store::board().await;
    let task = store.task("Page").await;
    let coder = store.agent(&task, AgentKind::Coder).await.caller;
    let global = |value: &str| NewMemoryEntry { scope: Some(MemoryScope::Global), ..entry("key", value) };
    store.db.set_memory(&coder, global("project")).await.unwrap();
    store.remember(&coder, "key", "task").await;
    assert_eq!(store.recall(&coder, "key", None).await, "task");
    assert_eq!(store.db.delete_memory(&coder, "key", None).await.unwrap().scope, MemoryScope::Task);
    assert_eq!(store.recall(&coder, "key", None).await, "project");
    store.db.delete_memory(&coder, "key", None).await.unwrap();
    assert_eq!(store.recall(&coder, "key", None).await, "not-found");
    store.check_fold().await;
}

#[tokio::test]
async fn every_json_value_is_kept_as_it_is() {
    let store = Store::board().await;
    let mara = store.member("mara", &[]).await;
    for value in [json!("plain"), json!("{\"a\": 1}"), json!(1.5), json!(null), json!([1, {"a": "é"}]), json!({"b": true})] {
        let stored = store.db.set_memory(&mara, entry("key", value.clone())).await.unwrap();
        assert_eq!((&stored.value, &store.db.memory(&mara, "key", None).await.unwrap()), (&value, &stored));
    }
    let listed = store.db.memories(&mara, &MemoryListQuery::default()).await.unwrap();
    assert_eq!((listed.len(), listed[0].value_size), (1, 10));
}

#[tokio::test]
async fn expired_entry_is_invisible_at_once_and_removed_later() {
    let store = Store::board().await;
    let mara = store.member("mara", &[]).await;
    store.db.set_memory(&mara, NewMemoryEntry { expires_in: Some(60), ..entry("short", "a") }).await.unwrap();
    store.remember(&mara, "long", "b").await;
    assert_eq!(store.recall(&mara, "short", None).await, "a");
    store.backdate("UPDATE memories SET expires_at = $1, created_at = $1 WHERE key = $2", Duration::from_secs(1), "short").await;
    assert_eq!(store.recall(&mara, "short", None).await, "not-found");
    assert_eq!(store.keys(&mara, &MemoryListQuery::default()).await, ["long"]);
    assert_eq!(code(store.db.delete_memory(&mara, "short", None).await), "not-found");
    let again = store.db.set_memory(&mara, NewMemoryEntry { overwrite: false, ..entry("short", "c") }).await.unwrap();
    assert_eq!((again.created_at, again.expires_at), (again.updated_at, None), "it is a new entry");
    store.backdate("UPDATE memories SET expires_at = $1 WHERE key = $2", Duration::from_secs(1), "short").await;
    let limits = RetentionLimits { keep: Duration::from_secs(3_600), max_events: 1_000 };
    assert_eq!(store.db.prune(limits).await.unwrap().memories, 1);
    assert_eq!(store.db.prune(limits).await.unwrap().memories, 0);
}

#[tokio::test]
async fn one_of_many_wins_a_key_that_is_not_overwritten() {
    let store = Store::board().await;
    let task = store.task("Page").await;
    let coder = store.agent(&task, AgentKind::Coder).await.caller;
    let (mara, id) = (store.member("mara", &[]).await, store.blackboard().await.id);
    for (caller, session) in [(&coder, None), (&mara, None), (&mara, Some(id))] {
        let tries: Vec<_> = (0..16)
            .map(|number| {
                let (db, caller, session_id) = (store.db.clone(), caller.clone(), session.clone());
                tokio::spawn(async move {
                    let new = NewMemoryEntry { overwrite: false, session_id, ..entry("lock", format!("{number}")) };
                    db.set_memory(&caller, new).await
                })
            })
            .collect();
        let mut won = Vec::new();
        for done in tries {
            match done.await.unwrap() {
                Ok(entry) => won.push(entry),
                error => assert_eq!(code(error), "memory-exists"),
            }
        }
        assert_eq!(won.len(), 1);
        assert_eq!(store.db.memory(caller, "lock", session.as_ref()).await.unwrap(), won[0]);
    }
}

#[tokio::test]
async fn entries_of_a_person_belong_to_the_person() {
    let store = Store::board().await;
    let (bea, vera) = (person(2, "bea", PersonRole::Member), person(3, "vera", PersonRole::Viewer));
    store.remember(&Caller::owner(), "key", "owner").await;
    store.remember(&bea, "key", "bea").await;
    assert_eq!((store.recall(&Caller::owner(), "key", None).await, store.recall(&bea, "key", None).await), ("owner".to_owned(), "bea".to_owned()));
    assert_eq!(code(store.db.set_memory(&vera, entry("key", "x")).await), "person-role");
    assert_eq!(store.recall(&vera, "key", None).await, "not-found");
    for nobody in [store.invite(), Caller::Runner] {
        assert_eq!(code(store.db.memory(&nobody, "key", None).await), "not-registered");
    }
}

#[tokio::test]
async fn agent_that_gets_a_name_does_not_get_the_memory_of_the_one_before() {
    let store = Store::board().await;
    let ole = store.guest("ole").await;
    store.remember(&ole, "key", "first").await;
    store.leaves(&ole, "ole").await;
    assert_eq!(code(store.db.set_memory(&ole, entry("key", "x")).await), "not-registered");
    store.db.register(&ole, &store.project, named("ole", &[]), None).await.unwrap();
    assert_eq!(store.recall(&ole, "key", None).await, "first", "an agent that returns finds its own");
    store.leaves(&ole, "ole").await;
    let next = store.guest("ole").await;
    assert_eq!(store.recall(&next, "key", None).await, "not-found");
}

#[tokio::test]
async fn bad_entries_write_nothing() {
    let store = Store::board().await;
    let mara = store.member("mara", &[]).await;
    let closed = store.db.create_context_session(&mara, Some(&store.project), purpose("Closed")).await.unwrap().id;
    store.db.close_context_session(&mara, &closed).await.unwrap();
    let before = store.dump().await;
    let deep = (0..1_000).fold(json!(1), |inner, _| json!([inner]));
    for bad in [
        entry("", "x"),
        entry("two words", "x"),
        entry(&"k".repeat(1 << 20), "x"),
        entry("nul\0", "x"),
        entry("key", "x".repeat(MAX_VALUE_BYTES)),
        entry("key", "nul\0"),
        entry("key", deep),
        NewMemoryEntry { expires_in: Some(-1), ..entry("key", "x") },
        NewMemoryEntry { expires_in: Some(1_000_000_000_000_000_000), ..entry("key", "x") },
        NewMemoryEntry { scope: Some(MemoryScope::Task), ..entry("key", "x") },
    ] {
        assert_eq!(code(store.db.set_memory(&mara, bad).await), "invalid");
    }
    assert_eq!(code(store.db.set_memory(&mara, in_session(&ContextSessionId::new(9), "key", "x")).await), "not-found");
    assert_eq!(code(store.db.set_memory(&mara, in_session(&closed, "key", "x")).await), "session-closed");
    assert_eq!(code(store.db.memories(&mara, &MemoryListQuery { limit: Some(1_000_000_000), ..MemoryListQuery::default() }).await), "invalid");
    assert_eq!(store.dump().await, before);
}

#[tokio::test]
async fn memory_of_an_owner_is_limited_and_found_by_prefix() {
    let store = Store::board().await;
    let (mara, ole) = (store.member("mara", &[]).await, store.member("ole", &[]).await);
    for number in 0..MAX_ENTRIES {
        store.remember(&mara, &format!("key.{number}"), "x").await;
    }
    assert_eq!(code(store.db.set_memory(&mara, entry("more", "x")).await), "memory-full");
    // Entries of one millisecond have no order.
    let last = crate::now();
    while crate::now() == last {}
    store.remember(&mara, "key.7", "replaced").await;
    store.remember(&ole, "more", "x").await;
    let query = MemoryListQuery { prefix: Some("key.99".to_owned()), ..MemoryListQuery::default() };
    assert_eq!(store.keys(&mara, &query).await.len(), 11);
    assert_eq!(store.keys(&mara, &MemoryListQuery { prefix: Some("%".to_owned()), ..MemoryListQuery::default() }).await, [""; 0]);
    assert_eq!(store.keys(&mara, &MemoryListQuery::default()).await.len(), 50);
    assert_eq!(store.keys(&mara, &MemoryListQuery { limit: Some(200), ..MemoryListQuery::default() }).await[0], "key.7");
}

#[tokio::test]
async fn own_memory_shows_the_places_that_an_agent_reads() {
    let store = Store::board().await;
    let (page, style) = (store.task("Page").await, store.task("Style").await);
    let (mine, other) = (store.agent(&page, AgentKind::Coder).await.caller, store.agent(&style, AgentKind::Coder).await.caller);
    let entry = |value: serde_json::Value| serde_json::from_value(value).unwrap();
    store.db.set_memory(&mine, entry(json!({"key": "mine", "value": 1}))).await.unwrap();
    store.db.set_memory(&other, entry(json!({"key": "theirs", "value": 2}))).await.unwrap();
    store.db.set_memory(&other, entry(json!({"key": "shared", "value": 3, "scope": "global"}))).await.unwrap();
    let keys: Vec<String> = store.db.own_memory(&mine).await.unwrap().into_iter().map(|entry| entry.key).collect();
    assert_eq!(keys, ["shared", "mine"]);
    assert_eq!(code(store.db.own_memory(&store.invite()).await), "not-registered");
}
