//! Search over findings and the memory of agents: who finds them, and how they go.

use std::time::Duration;

use domain::board::search::{SearchHit, SearchKind};
use domain::context::memory::{MemoryPatch, NewMemoryEntry};
use domain::context::metadata::Metadata;
use domain::context::session::visibility::Visibility;
use domain::id::ProjectId;
use domain::runs::agent_kind::AgentKind;
use domain::team::person::PersonRole;
use domain::wire::NewProject;
use serde_json::{Value, json};

use super::session::{person, purpose};
use crate::tests::store::{Store, code, probe};
use crate::{Caller, RetentionLimits, SearchQuery, SessionSearchQuery};

impl Store {
    async fn found_by(&self, caller: &Caller, text: &str, project: Option<&ProjectId>) -> Vec<SearchHit> {
        let query = SearchQuery { text: text.to_owned(), project: project.cloned(), limit: 20 };
        self.db.search(caller, &query).await.unwrap()
    }

    /// The kinds and ids of what the owner finds.
    async fn owner_finds(&self, text: &str) -> Vec<(SearchKind, String)> {
        self.found_by(&Caller::owner(), text, None).await.into_iter().map(|hit| (hit.kind, hit.id)).collect()
    }

    async fn memory_id(&self, key: &str) -> i64 {
        let listed = self.db.project_memories(&Caller::owner(), &self.project, None, None).await.unwrap();
        listed.iter().find(|known| known.entry.key == key).unwrap().id
    }

    /// The words of texts that are in an index.
    async fn indexed(&self, table: &str) -> i64 {
        sqlx::query_scalar(sqlx::AssertSqlSafe(format!("SELECT COUNT(*) FROM {table}"))).fetch_one(&self.db.readers).await.unwrap()
    }
}

fn entry(key: &str, value: Value) -> NewMemoryEntry {
    NewMemoryEntry { key: key.to_owned(), value, session_id: None, scope: None, expires_in: None, metadata: Metadata::new(), overwrite: true }
}

#[tokio::test]
async fn persons_find_findings_and_never_private_notes() {
    let store = Store::board().await;
    let (task, session) = (store.task("Rename the passkeys").await, store.blackboard().await.id);
    let coder = store.agent(&task, AgentKind::Coder).await;
    let mara = store.member("mara", &[]).await;
    let found = store.add(&coder.caller, &session, "The lighthouse needs a recalibration", Visibility::Public).await;
    for (caller, visibility) in [(&coder.caller, Visibility::Private), (&mara, Visibility::AgentOnly), (&Caller::owner(), Visibility::AdminOnly)] {
        store.add(caller, &session, "A secret lighthouse with a recalibration", visibility).await;
    }
    for role in PersonRole::ALL {
        let caller = if *role == PersonRole::Owner { Caller::owner() } else { person(2, "ann", *role) };
        let hits = store.found_by(&caller, "lighthuose recalibration", None).await;
        let [hit] = hits.as_slice() else { panic!("{role}: {hits:?}") };
        assert_eq!((hit.kind, hit.id.clone(), hit.session_id.as_ref()), (SearchKind::Finding, found.id.to_string(), Some(&session)));
        assert_eq!((hit.task_id.as_ref(), hit.task_title.as_deref(), hit.highlights.len()), (Some(&task), Some("Rename the passkeys"), 2));
        assert_eq!(hit.author, coder.caller.name());
        assert_eq!(store.found_by(&caller, "secret", None).await, []);
    }
    let query = SearchQuery { text: "lighthouse".to_owned(), project: None, limit: 20 };
    assert_eq!(code(store.db.search(&mara, &query).await), "human-only");
}

#[tokio::test]
async fn findings_of_other_projects_and_of_no_project_are_left_out() {
    let store = Store::board().await;
    let owner = Caller::owner();
    let other = store.db.create_project(&owner, NewProject { title: "Other".to_owned(), ..NewProject::default() }, probe()).await.unwrap().id;
    let elsewhere = store.db.own_context_session(&owner, &other).await.unwrap().id;
    let oldest = store.add(&owner, &elsewhere, "The oldest quokka", Visibility::Public).await;
    let (session, mara) = (store.blackboard().await.id, store.member("mara", &[]).await);
    for _ in 0..160 {
        store.add(&mara, &session, "A quokka", Visibility::Public).await;
        store.add(&mara, &session, "A private quokka", Visibility::Private).await;
    }
    let hits = store.found_by(&owner, "quokka", Some(&other)).await;
    assert_eq!(hits.iter().map(|hit| hit.id.clone()).collect::<Vec<_>>(), [oldest.id.to_string()], "the filter stands before the limit");
    // A project that is removed takes its findings and its words along.
    let before = store.indexed("search_words_of_sessions").await;
    store.db.delete_project(&owner, &other, "Other").await.unwrap();
    store.db.remove_deleted_project(&other).await.unwrap();
    assert_eq!(store.indexed("search_words_of_sessions").await, before - 1);
    assert_eq!(store.owner_finds("oldest").await, []);
    let alone = store.db.create_context_session(&owner, None, purpose("Alone")).await.unwrap().id;
    store.add(&owner, &alone, "An aardvark", Visibility::Public).await;
    assert_eq!(store.owner_finds("aardvark").await, []);
}

#[tokio::test]
async fn owner_alone_finds_the_memory_of_agents() {
    let store = Store::board().await;
    let (task, mara, owner) = (store.task("Page").await, store.member("mara", &[]).await, Caller::owner());
    let coder = store.agent(&task, AgentKind::Coder).await;
    store.db.set_memory(&coder.caller, entry("build.command", json!({"command": "cargo xylophone"}))).await.unwrap();
    store.db.set_memory(&mara, entry("colour", json!("A mauve giraffe"))).await.unwrap();
    store.db.set_memory(&owner, entry("own", json!("A mauve giraffe of the owner"))).await.unwrap();

    let hits = store.found_by(&owner, "xylphone", None).await;
    let [hit] = hits.as_slice() else { panic!("{hits:?}") };
    let id = store.memory_id("build.command").await.to_string();
    assert_eq!((hit.kind, &hit.id, hit.key.as_deref(), hit.author.as_deref()), (SearchKind::Memory, &id, Some("build.command"), Some("coder")));
    assert_eq!((hit.task_id.as_ref(), hit.highlights.len()), (Some(&task), 1));
    let by_key = store.found_by(&owner, "build command", None).await;
    assert_eq!((by_key.len(), by_key[0].title_highlights.len()), (1, 2), "{by_key:?}");
    assert_eq!(store.owner_finds("mauve giraffe").await, [(SearchKind::Memory, store.memory_id("colour").await.to_string())]);
    for role in [PersonRole::Member, PersonRole::Viewer] {
        for text in ["xylophone", "build command", "mauve giraffe"] {
            assert_eq!(store.found_by(&person(2, "ann", role), text, None).await, [], "{role}: {text}");
        }
    }
}

#[tokio::test]
async fn search_follows_changes_and_expiry_of_memory() {
    let store = Store::board().await;
    let (mara, owner) = (store.member("mara", &[]).await, Caller::owner());
    store.db.set_memory(&mara, entry("animal", json!("giraffe"))).await.unwrap();
    store.db.set_memory(&mara, entry("animal", json!("crocodile"))).await.unwrap();
    let id = store.memory_id("animal").await;
    assert_eq!((store.owner_finds("giraffe").await, store.owner_finds("crocodile").await), (vec![], vec![(SearchKind::Memory, id.to_string())]));
    let patch = MemoryPatch { value: json!("kangaroo"), expires_in: None, unchanged_since: None };
    store.db.edit_agent_memory(&owner, id, patch).await.unwrap();
    assert_eq!((store.owner_finds("crocodile").await.len(), store.owner_finds("kangaroo").await.len()), (0, 1));
    // A refused write changes no words.
    let refused = NewMemoryEntry { overwrite: false, ..entry("animal", json!("pangolin")) };
    assert_eq!(code(store.db.set_memory(&mara, refused).await), "memory-exists");
    assert_eq!((store.owner_finds("pangolin").await.len(), store.owner_finds("kangaroo").await.len()), (0, 1));
    // An expired entry is invisible before it is removed, and its words go with it.
    let before = store.indexed("search_documents").await;
    store.db.set_memory(&mara, NewMemoryEntry { expires_in: Some(600), ..entry("short", json!("wallaby")) }).await.unwrap();
    assert_eq!(store.owner_finds("wallaby").await.len(), 1);
    store.backdate("UPDATE memories SET expires_at = $1 WHERE key = $2", Duration::from_secs(1), "short").await;
    assert_eq!((store.owner_finds("wallaby").await, store.indexed("search_documents").await), (vec![], before + 1));
    let limits = RetentionLimits { keep: Duration::from_secs(3_600), max_events: 1_000 };
    assert_eq!(store.db.prune(limits).await.unwrap().memories, 1);
    assert_eq!(store.indexed("search_documents").await, before);
    store.db.delete_memory(&mara, "animal", None).await.unwrap();
    assert_eq!((store.owner_finds("kangaroo").await, store.indexed("search_documents").await), (vec![], before - 1));
    assert_eq!(store.indexed("search_words").await, store.indexed("search_documents").await);
}

#[tokio::test]
async fn new_agent_under_an_old_name_inherits_no_memory_in_the_search() {
    let store = Store::board().await;
    let ole = store.guest("ole").await;
    store.db.set_memory(&ole, entry("animal", json!("giraffe"))).await.unwrap();
    let before = store.indexed("search_documents").await;
    store.leaves(&ole, "ole").await;
    assert_eq!(store.owner_finds("giraffe").await.len(), 1, "an agent that returns finds its own");
    store.guest("ole").await;
    assert_eq!((store.owner_finds("giraffe").await.len(), store.indexed("search_documents").await), (0, before - 1));
}

#[tokio::test]
async fn private_messages_take_no_place_beside_findings_in_a_session_search() {
    let store = Store::board().await;
    let (mara, session) = (store.member("mara", &[]).await, store.blackboard().await.id);
    store.add(&mara, &session, "A private quokka", Visibility::Private).await;
    let query = SessionSearchQuery { text: "quokka".to_owned(), threshold: None, limit: None, metadata: true, visibility: None };
    assert_eq!(store.db.search_session(&mara, &session, &query).await.unwrap().len(), 1, "its sender still finds it");
    assert_eq!(store.owner_finds("quokka").await, []);
    assert_eq!(store.owner_finds("\u{e000}").await, [], "the word for public messages cannot be searched");
}
