//! Knowledge: versions, what is closed and what has been read, oracles that have to read, and the files that follow.

use domain::board::task::TaskPatch;
use domain::runs::agent_kind::AgentKind;
use domain::team::agent::Registration;
use domain::warroom::class::AgentClass;
use domain::warroom::knowledge::{Knowledge, KnowledgeKind, KnowledgeState, MAX_LIVE, NewClosing, NewKnowledge};

use crate::engine::tx::NoEventReason;
use crate::tests::external_agents::{call, named};
use crate::tests::store::{Store, code, refusal};
use crate::{Caller, KnowledgeQuery, Result};

fn new(kind: KnowledgeKind, topic: &str, body: &str, paths: &[&str]) -> NewKnowledge {
    let paths = paths.iter().map(|path| (*path).to_owned()).collect();
    NewKnowledge { kind, topic: topic.to_owned(), body: body.to_owned(), evidence: "src/lib.rs:12".to_owned(), paths }
}

pub(in crate::tests) async fn intel(store: &Store, by: &Caller, topic: &str, body: &str) -> Result<Knowledge> {
    store.db.write_knowledge(by, &store.project, new(KnowledgeKind::Intel, topic, body, &[])).await
}

pub(in crate::tests) async fn trap(store: &Store, by: &Caller, topic: &str, paths: &[&str]) -> Result<Knowledge> {
    store.db.write_knowledge(by, &store.project, new(KnowledgeKind::Trap, topic, "It bites", paths)).await
}

pub(in crate::tests) fn gone() -> NewClosing {
    NewClosing { reason: "It is gone".to_owned(), evidence: "$ make\nok".to_owned() }
}

/// The topics that a query lists.
async fn topics(store: &Store, query: KnowledgeQuery) -> Vec<String> {
    store.db.knowledge(&store.project, &query).await.unwrap().into_iter().map(|item| item.topic).collect()
}

async fn oracle(store: &Store, name: &str) -> Caller {
    let caller = store.member(name, &[]).await;
    let who = Registration { class: Some(AgentClass::Oracle), ..named(name, &[]) };
    store.db.register(&caller, &store.project, who, None).await.unwrap();
    caller
}

#[tokio::test]
async fn knowledge_has_versions_and_is_closed_but_never_deleted() {
    let store = Store::board().await;
    let task = store.task("Search").await;
    let coder = store.agent(&task, AgentKind::Coder).await;
    let eve = store.guest("eve").await;
    let first = intel(&store, &eve, "deps", "Version 2 breaks").await.unwrap();
    assert_eq!((first.version, first.author.as_str(), first.evidence.as_deref()), (1, "eve", Some("src/lib.rs:12")));
    let seq = store.db.latest();
    assert_eq!(intel(&store, &coder.caller, "deps", "Version 2 breaks").await.unwrap(), first, "the same text changes nothing");
    assert_eq!(store.db.latest(), seq);
    let second = intel(&store, &coder.caller, "deps.md", "Version 3 works").await.unwrap();
    assert_eq!((second.id, second.version, &second.run_id, second.author.as_str()), (first.id, 2, &Some(coder.run.clone()), "coder-TASK-001"));
    trap(&store, &coder.caller, "deps", &["src/"]).await.unwrap();
    let closed = store.db.close_knowledge(&eve, &store.project, KnowledgeKind::Intel, "deps", gone()).await.unwrap();
    assert_eq!((closed.closed_by.as_deref(), closed.closing.as_deref()), (Some("eve"), Some("It is gone\n\n$ make\nok")));
    let again = store.db.close_knowledge(&eve, &store.project, KnowledgeKind::Intel, "deps", gone()).await;
    assert_eq!(code(again), "knowledge-not-live", "the trap of this topic is another item");
    let third = intel(&store, &eve, "deps", "Version 3 works").await.unwrap();
    assert!(third.id > closed.id && third.version == 1, "it holds again");
    let item = |id, kind| store.db.close_knowledge_item(&eve, id, kind, gone());
    assert_eq!(code(item(closed.id, KnowledgeKind::Intel).await), "knowledge-closed");
    assert_eq!(code(item(third.id, KnowledgeKind::Trap).await), "not-found");
    assert_eq!(code(item(404, KnowledgeKind::Intel).await), "not-found");
    assert!(item(third.id, KnowledgeKind::Intel).await.unwrap().closed_at.is_some());
    assert_eq!(store.kinds_since(seq).await, ["intel_written", "trap_written", "intel_archived", "intel_written", "intel_archived"]);
    store.check_fold().await;
}

#[tokio::test]
async fn refused_knowledge_writes_nothing() {
    let store = Store::board().await;
    let eve = store.guest("eve").await;
    let before = store.dump().await;
    assert_eq!(code(intel(&store, &eve, "deps", "It seems to break").await), "knowledge-unconfirmed");
    let hunch = NewKnowledge { evidence: "I saw it".to_owned(), ..new(KnowledgeKind::Trap, "port", "It bites", &[]) };
    assert_eq!(code(store.db.write_knowledge(&eve, &store.project, hunch).await), "knowledge-without-evidence");
    assert_eq!(code(trap(&store, &eve, "port", &["/etc/passwd"]).await), "claim-outside");
    assert_eq!(code(intel(&store, &store.invite(), "deps", "It breaks").await), "not-registered");
    let unknown = "PROJ-404".parse().unwrap();
    assert_eq!(code(store.db.write_knowledge(&eve, &unknown, new(KnowledgeKind::Intel, "a", "b", &[])).await), "not-found");
    assert_eq!(code(store.db.write_note(&eve, &unknown, "Hm", false).await), "not-found");
    assert_eq!(code(store.db.read_knowledge(&eve, &store.project, Some("deps")).await), "knowledge-not-live");
    assert_eq!(code(store.db.knowledge(&unknown, &KnowledgeQuery::default()).await), "not-found");
    assert_eq!(store.dump().await, before);
    let once = intel(&store, &call(&eve, "1"), "deps", "It breaks").await.unwrap();
    assert_eq!(intel(&store, &call(&eve, "1"), "deps", "It breaks").await.unwrap(), once, "a repeated call");
}

#[tokio::test]
async fn live_knowledge_is_limited() {
    let store = Store::board().await;
    let owner = Caller::owner();
    let project = store.project.clone();
    let fill = store.db.write(move |tx| {
        Box::pin(async move {
            tx.skip_event(NoEventReason::NothingChanged);
            let fill = "INSERT INTO knowledge (project_id, kind, topic, body, paths, author, created_at, updated_at)
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $2)
                SELECT $1, 'intel', 'topic-' || i, 'x', '[]', 'eve', '2026-01-31T09:05:00.000Z', '2026-01-31T09:05:00.000Z' FROM n";
            let most = i64::try_from(MAX_LIVE).unwrap();
            sqlx::query(fill).bind(project.as_str()).bind(most).execute(&mut tx.connection).await?;
            Ok(())
        })
    });
    fill.await.unwrap();
    assert_eq!(code(intel(&store, &owner, "deps", "It breaks").await), "knowledge-limit");
    assert!(intel(&store, &owner, "topic-7", "It breaks").await.is_ok(), "a new version is not one more");
    store.db.close_knowledge(&owner, &store.project, KnowledgeKind::Intel, "topic-7", gone()).await.unwrap();
    assert!(intel(&store, &owner, "deps", "It breaks").await.is_ok());
}

#[tokio::test]
async fn lists_are_pages_of_one_kind_and_state() {
    let store = Store::board().await;
    let eve = store.guest("eve").await;
    for topic in ["a", "b", "c"] {
        intel(&store, &eve, topic, "It breaks").await.unwrap();
    }
    trap(&store, &eve, "t", &[]).await.unwrap();
    store.db.write_note(&eve, &store.project, "Perhaps it leaks", false).await.unwrap();
    store.db.close_knowledge(&eve, &store.project, KnowledgeKind::Intel, "b", gone()).await.unwrap();
    let all = KnowledgeQuery::default;
    assert_eq!(topics(&store, all()).await, ["eve", "t", "c", "b", "a"]);
    let intel = KnowledgeQuery { kind: Some(KnowledgeKind::Intel), ..all() };
    assert_eq!(topics(&store, KnowledgeQuery { state: Some(KnowledgeState::Live), ..intel }).await, ["c", "a"]);
    assert_eq!(topics(&store, KnowledgeQuery { state: Some(KnowledgeState::Closed), ..all() }).await, ["b"]);
    let page = store.db.knowledge(&store.project, &KnowledgeQuery { limit: Some(2), ..intel }).await.unwrap();
    assert_eq!(topics(&store, KnowledgeQuery { before: Some(page[1].id), ..intel }).await, ["a"]);
}

#[tokio::test]
async fn notes_are_kept_for_one_agent() {
    let store = Store::board().await;
    let (eve, mara) = (store.guest("eve").await, store.member("mara", &[]).await);
    store.db.write_note(&eve, &store.project, "Maybe it leaks", false).await.unwrap();
    let both = store.db.write_note(&eve, &store.project, "I think in c.rs", false).await.unwrap();
    assert_eq!((both.topic.as_str(), both.body.as_str(), both.version, both.evidence), ("eve", "Maybe it leaks\n\nI think in c.rs", 2, None));
    store.db.write_note(&mara, &store.project, "Mine", false).await.unwrap();
    assert_eq!(store.db.write_note(&eve, &store.project, "It does", true).await.unwrap().body, "It does");
    let nothing = store.db.read_knowledge(&mara, &store.project, None).await.unwrap();
    assert_eq!((nothing.items.len(), nothing.unread), (0, 0), "notes of others are not required reading");
}

#[tokio::test]
async fn oracle_cannot_send_before_it_has_read_all() {
    let store = Store::board().await;
    let (owner, ivy, mara) = (Caller::owner(), oracle(&store, "ivy").await, store.member("mara", &[]).await);
    store.send(&ivy, "human", "Ask me").await.unwrap();
    intel(&store, &mara, "deps", "It breaks").await.unwrap();
    let own = trap(&store, &ivy, "port", &[]).await.unwrap();
    let refused = refusal(store.send(&ivy, "human", "Ask me").await);
    assert_eq!((refused.code(), refused.hint().contains("read_intel")), ("unread-knowledge", true));
    assert!(!refused.to_string().contains("port"), "its own trap is known: {refused}");
    store.send(&mara, "human", "A coder is not refused").await.unwrap();
    let waits = async |who: &Caller| store.db.unread_required_knowledge(who).await.unwrap();
    assert_eq!((waits(&ivy).await, waits(&mara).await, waits(&owner).await), (1, 0, 0));
    let briefed = async || {
        let briefing = store.db.cold_start(&ivy, &store.project, None).await.unwrap();
        briefing.knowledge.into_iter().map(|one| one.topic).collect::<Vec<_>>()
    };
    assert_eq!(briefed().await, ["port", "deps"], "live traps, and unread intel");
    let seq = store.db.latest();
    let read = store.db.read_knowledge(&ivy, &store.project, None).await.unwrap();
    assert_eq!((read.items.len(), read.items[0].topic.as_str(), read.unread), (1, "deps", 0));
    assert_eq!(store.db.latest(), seq, "reading is not an event");
    assert_eq!(briefed().await, ["port"]);
    store.send(&ivy, "human", "Ask me").await.unwrap();

    intel(&store, &mara, "deps", "It works").await.unwrap();
    assert_eq!(code(store.send(&ivy, "human", "Ask me").await), "unread-knowledge", "a new version");
    assert_eq!(store.db.read_knowledge(&ivy, &store.project, Some("deps")).await.unwrap().items[0].version, 2);
    store.send(&ivy, "human", "Ask me").await.unwrap();
    trap(&store, &mara, "port", &["src/"]).await.unwrap();
    store.db.close_knowledge_item(&owner, own.id, KnowledgeKind::Trap, gone()).await.unwrap();
    store.send(&ivy, "human", "A resolved trap is not in the way").await.unwrap();
}

#[tokio::test]
async fn long_knowledge_is_read_in_several_calls() {
    let store = Store::board().await;
    let (eve, ivy) = (store.guest("eve").await, oracle(&store, "ivy").await);
    for topic in ["a", "b", "c"] {
        intel(&store, &eve, topic, &"x".repeat(10_000)).await.unwrap();
    }
    let read = async || {
        let read = store.db.read_knowledge(&ivy, &store.project, None).await.unwrap();
        (read.items.into_iter().map(|item| item.topic).collect::<Vec<_>>().join(" "), read.unread)
    };
    assert_eq!(read().await, ("a b".to_owned(), 1));
    assert_eq!(code(store.send(&ivy, "human", "Ask me").await), "unread-knowledge");
    assert_eq!(read().await, ("c".to_owned(), 0));
    assert_eq!(read().await, (String::new(), 0));
    store.send(&ivy, "human", "Ask me").await.unwrap();
}

#[tokio::test]
async fn files_are_pending_until_their_state_is_stored() {
    let store = Store::board().await;
    let eve = store.guest("eve").await;
    intel(&store, &eve, "deps", "It breaks").await.unwrap();
    let first = store.db.unstored_knowledge().await.unwrap();
    assert_eq!(first.len(), 1);
    intel(&store, &eve, "deps", "It works").await.unwrap();
    store.db.knowledge_stored(first).await.unwrap();
    let second = store.db.unstored_knowledge().await.unwrap();
    assert_eq!((second.len(), second[0].version), (1, 2), "it changed meanwhile");
    store.db.close_knowledge(&eve, &store.project, KnowledgeKind::Intel, "deps", gone()).await.unwrap();
    store.db.knowledge_stored(second).await.unwrap();
    let third = store.db.unstored_knowledge().await.unwrap();
    assert!(third[0].closed_at.is_some(), "it was archived meanwhile");
    store.db.knowledge_stored(third).await.unwrap();
    assert_eq!(store.db.unstored_knowledge().await.unwrap(), []);
    assert_eq!(store.db.forget_stored_knowledge(&store.project).await.unwrap(), 1);
    assert_eq!(store.db.unstored_knowledge().await.unwrap().len(), 1, "its repository is gone");
}

#[tokio::test]
async fn coder_starts_with_the_traps_of_its_files() {
    let store = Store::board().await;
    let task = store.task("Search").await;
    let coder = store.agent(&task, AgentKind::Coder).await;
    trap(&store, &Caller::owner(), "net", &["src/net/"]).await.unwrap();
    trap(&store, &Caller::owner(), "port", &["src/port.rs"]).await.unwrap();
    let topics = async || {
        let handoff = store.db.handoff(&coder.run).await.unwrap();
        handoff.traps.into_iter().map(|trap| trap.topic).collect::<Vec<_>>()
    };
    assert_eq!(topics().await, ["port", "net"], "no file is planned or held");
    store.claim(&coder.caller, "src/net/tcp.rs").await.unwrap();
    assert_eq!(topics().await, ["net"]);
    let planned = TaskPatch { files: Some(vec!["src/*.rs".to_owned()]), ..TaskPatch::default() };
    store.db.edit_task(&Caller::owner(), &task, planned).await.unwrap();
    assert_eq!(topics().await, ["port", "net"], "it is planned to change the port, too");
}
