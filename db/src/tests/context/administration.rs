//! The owner of the board lists, reads, edits and deletes the memory of agents, and nobody else does.

use domain::context::memory::{MAX_VALUE_BYTES, MemoryPatch, MemoryScope, NewMemoryEntry};
use domain::context::metadata::Metadata;
use domain::id::ProjectId;
use domain::runs::agent_kind::AgentKind;
use domain::team::person::PersonRole;
use serde_json::{Value, json};

use super::session::person;
use crate::tests::store::{Store, code};
use crate::{Caller, MemoryListQuery};

fn entry(key: &str, value: Value) -> NewMemoryEntry {
    NewMemoryEntry { key: key.to_owned(), value, session_id: None, scope: None, expires_in: None, metadata: Metadata::new(), overwrite: true }
}

fn patch(value: Value) -> MemoryPatch {
    MemoryPatch { value, expires_in: None, unchanged_since: None }
}

#[tokio::test]
async fn owner_sees_and_edits_the_memory_of_every_agent() {
    let (store, owner) = (Store::board().await, Caller::owner());
    let mara = store.member("mara", &[]).await;
    let task = store.task("Page").await;
    let coder = store.agent(&task, AgentKind::Coder).await;
    store.db.set_memory(&mara, NewMemoryEntry { expires_in: Some(600), ..entry("colour", json!("red")) }).await.unwrap();
    store.db.set_memory(&coder.caller, entry("build", json!({"command": "cargo build"}))).await.unwrap();
    store.db.set_memory(&owner, entry("own", json!(1))).await.unwrap();

    let listed = store.db.project_memories(&owner, &store.project, None, None).await.unwrap();
    let shown: Vec<_> = listed.iter().map(|known| (known.owner.as_str(), known.kind, known.entry.key.as_str(), known.entry.scope)).collect();
    assert_eq!(
        shown,
        [("coder", Some(AgentKind::Coder), "build", MemoryScope::Task), ("mara", None, "colour", MemoryScope::Global)],
        "the owner's own memory belongs to no project"
    );
    let page = store.db.project_memories(&owner, &store.project, Some(listed[0].id), Some(1)).await.unwrap();
    assert_eq!(page, listed[1..]);

    let before = store.db.agent_memory(&owner, listed[1].id).await.unwrap();
    assert_eq!(before.entry.value, json!("red"));
    let stale = MemoryPatch { unchanged_since: Some(before.entry.updated_at.before(std::time::Duration::from_secs(1))), ..patch(json!(0)) };
    assert_eq!(code(store.db.edit_agent_memory(&owner, before.id, stale).await), "memory-changed");
    let current = MemoryPatch { unchanged_since: Some(before.entry.updated_at), ..patch(json!("blue")) };
    let edited = store.db.edit_agent_memory(&owner, before.id, current).await.unwrap();
    assert_eq!((edited.id, edited.entry.value, edited.entry.expires_at), (before.id, json!("blue"), before.entry.expires_at));
    assert_eq!(store.db.memory(&mara, "colour", None).await.unwrap().value, json!("blue"), "its agent reads the new value");
    let lasting = MemoryPatch { expires_in: Some(0), ..patch(json!("blue")) };
    assert_eq!(store.db.edit_agent_memory(&owner, before.id, lasting).await.unwrap().entry.expires_at, None);

    store.db.delete_agent_memory(&owner, listed[0].id).await.unwrap();
    assert_eq!(store.db.memories(&coder.caller, &MemoryListQuery::default()).await.unwrap(), []);
    assert_eq!(code(store.db.delete_agent_memory(&owner, listed[0].id).await), "not-found");
    store.check_fold().await;
}

#[tokio::test]
async fn others_are_refused_and_write_nothing() {
    let (store, owner) = (Store::board().await, Caller::owner());
    let (mara, ole) = (store.member("mara", &[]).await, store.member("ole", &[]).await);
    let (member, viewer) = (person(2, "ann", PersonRole::Member), person(3, "bea", PersonRole::Viewer));
    store.db.set_memory(&mara, entry("secret", json!("mara's"))).await.unwrap();
    let id = store.db.project_memories(&owner, &store.project, None, None).await.unwrap()[0].id;
    let before = store.dump().await;
    for caller in [&mara, &ole, &member, &viewer] {
        let expected = if caller.is_person() { "person-role" } else { "human-only" };
        assert_eq!(code(store.db.project_memories(caller, &store.project, None, None).await), expected);
        assert_eq!(code(store.db.agent_memory(caller, id).await), expected);
        assert_eq!(code(store.db.edit_agent_memory(caller, id, patch(json!(1))).await), expected);
        assert_eq!(code(store.db.delete_agent_memory(caller, id).await), expected);
    }
    for value in [json!("x".repeat(MAX_VALUE_BYTES)), json!("\0"), (0..1_000).fold(json!(1), |inner, _| json!([inner]))] {
        assert_eq!(code(store.db.edit_agent_memory(&owner, id, patch(value)).await), "invalid");
    }
    for seconds in [-1, i64::MAX] {
        let patch = MemoryPatch { expires_in: Some(seconds), ..patch(json!(1)) };
        assert_eq!(code(store.db.edit_agent_memory(&owner, id, patch).await), "invalid");
    }
    assert_eq!(code(store.db.edit_agent_memory(&owner, 99, patch(json!(1))).await), "not-found");
    assert_eq!(code(store.db.project_memories(&owner, &ProjectId::new(9), None, None).await), "not-found");
    assert_eq!(store.dump().await, before);
}
