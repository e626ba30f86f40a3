//! Sessions and their messages: created, found, read in parts, closed, and removed with their project.

use std::time::Duration;

use domain::board::project::PlanApproval;
use domain::context::metadata::Metadata;
use domain::context::session::visibility::Visibility;
use domain::context::session::{ContextSession, ContextSessionId, NewContextSession, NewSessionMessage, SessionKind, SessionMessage};
use domain::event::Event;
use domain::id::{ProjectId, TaskId};
use domain::runs::agent_kind::AgentKind;
use domain::team::person::PersonRole;
use domain::team::role::Role;
use domain::wire::NewProject;
use serde_json::json;

use crate::tests::external_agents::call;
use crate::tests::store::{Store, code, probe};
use crate::{Caller, PersonCaller, Result, SessionListQuery, SessionMessageQuery};

pub(super) fn finding(content: &str, visibility: Visibility) -> NewSessionMessage {
    NewSessionMessage { content: content.to_owned(), visibility: Some(visibility), metadata: Metadata::new(), parent_message_id: None }
}

pub(super) fn purpose(purpose: &str) -> NewContextSession {
    NewContextSession { purpose: purpose.to_owned(), metadata: Metadata::new() }
}

pub(super) fn person(id: i64, name: &str, role: PersonRole) -> Caller {
    Caller::Person(PersonCaller { id, name: name.to_owned(), role, is_companion: false })
}

impl Store {
    /// The project's blackboard.
    pub(super) async fn blackboard(&self) -> ContextSession {
        self.db.own_context_session(&Caller::owner(), &self.project).await.unwrap()
    }

    pub(super) async fn add(&self, caller: &Caller, session: &ContextSessionId, content: &str, visibility: Visibility) -> SessionMessage {
        self.db.add_session_message(caller, session, finding(content, visibility)).await.unwrap()
    }

    pub(super) async fn texts(&self, caller: &Caller, session: &ContextSessionId) -> Vec<String> {
        let found = self.db.session_messages(caller, session, &SessionMessageQuery::default()).await.unwrap();
        assert_eq!(found.total_count, found.messages.len() as u64);
        found.messages.into_iter().map(|message| message.content).collect()
    }
}

#[tokio::test]
async fn every_project_and_plan_has_a_session_that_its_runs_know() {
    let (store, planner) = Store::plan(PlanApproval::Auto).await;
    let (db, project) = (&store.db, &store.project);
    let blackboard = store.blackboard().await;
    assert_eq!((blackboard.kind, blackboard.purpose.as_str(), blackboard.is_active), (SessionKind::Project, "Site", true));
    let tasks = store.planned(&planner, &["Page"]).await;
    let coder = store.agent(&tasks[0], AgentKind::Coder).await;
    let plan = db.own_context_session(&coder.caller, project).await.unwrap();
    assert_eq!((plan.kind, plan.task_id.as_ref()), (SessionKind::Plan, Some(&planner)));
    let alone = store.task("Alone").await;
    let other = store.agent(&alone, AgentKind::Coder).await;
    assert_eq!(db.own_context_session(&other.caller, project).await.unwrap(), blackboard, "a task without a plan");
    let owner = Caller::owner();
    assert_eq!(db.context_session_of_task(&owner, &tasks[0]).await.unwrap(), plan, "a person finds the session of a task");
    assert_eq!(db.context_session_of_task(&owner, &alone).await.unwrap(), blackboard);
    assert_eq!(code(db.context_session_of_task(&owner, &TaskId::new(99)).await), "not-found");
    assert_eq!(code(db.context_session_of_task(&coder.caller, &alone).await), "human-only");
    assert!(!db.has_session_messages(project).await.unwrap());
    store.add(&coder.caller, &plan.id, "Mine", Visibility::Private).await;
    assert!(db.has_session_messages(project).await.unwrap());
    let mara = store.member("mara", &[]).await;
    assert_eq!(db.own_context_session(&mara, project).await.unwrap(), blackboard);
    assert_eq!(code(db.own_context_session(&mara, &ProjectId::new(9)).await), "not-found");
    assert_eq!(code(db.own_context_session(&store.invite(), project).await), "not-registered");
    for own in [&blackboard.id, &plan.id] {
        assert_eq!(code(db.close_context_session(&Caller::owner(), own).await), "session-stays-open");
    }
    store.check_fold().await;
}

#[tokio::test]
async fn orchestrator_shares_the_session_of_its_plan() {
    let (store, planner) = Store::plan(PlanApproval::Auto).await;
    let tasks = store.planned(&planner, &["Page"]).await;
    store.complete(&tasks[0]).await;
    let round = TaskId::new(3);
    let orchestrator = store.agent(&round, AgentKind::Orchestrator).await;
    let session = store.db.own_context_session(&orchestrator.caller, &store.project).await.unwrap();
    assert_eq!(session.task_id, Some(planner));
}

#[tokio::test]
async fn message_is_stored_once_with_its_sender_and_no_inbox() {
    let store = Store::board().await;
    let (db, id) = (&store.db, store.blackboard().await.id);
    let task = store.task("Page").await;
    let coder = store.agent(&task, AgentKind::Coder).await;
    store.member("mara", &[Role::Lead]).await;
    let metadata = json!({"file": "a.rs"}).as_object().unwrap().clone();
    let new = NewSessionMessage { metadata: metadata.clone(), ..finding(" The parser is in **a.rs**\n", Visibility::Public) };
    let added = db.add_session_message(&coder.call("1"), &id, new.clone()).await.unwrap();
    assert_eq!(db.add_session_message(&coder.call("1"), &id, new).await.unwrap(), added, "a repeated call");
    assert_eq!((added.sender.as_str(), added.sender_type.as_str(), &added.run_id), ("coder-TASK-001", "coder", &Some(coder.run.clone())));
    assert_eq!((added.content.as_str(), added.visibility, &added.metadata), (" The parser is in **a.rs**\n", Visibility::Public, &metadata));
    let seen = db.session_messages(&Caller::owner(), &id, &SessionMessageQuery::default()).await.unwrap();
    assert_eq!((seen.messages, seen.total_count, seen.has_more), (vec![added.clone()], 1, false));
    for name in ["mara", "human"] {
        assert_eq!(db.unread(&store.project, name).await.unwrap().count, 0, "it blocks no send");
    }
    let events = db.events_after(0, None, 1_000).await.unwrap();
    let last = serde_json::to_string(&events.last().unwrap().event).unwrap();
    assert!(matches!(events.last().unwrap().event, Event::Session(_)) && !last.contains("parser"), "{last}");
    let answer = NewSessionMessage { parent_message_id: Some(added.id), ..finding("Thanks", Visibility::Public) };
    assert_eq!(db.add_session_message(&Caller::owner(), &id, answer).await.unwrap().parent_message_id, Some(added.id));
    store.check_fold().await;
}

#[tokio::test]
async fn messages_are_read_in_parts_newest_first() {
    let store = Store::board().await;
    let (db, id) = (&store.db, store.blackboard().await.id);
    let (mara, ole) = (store.member("mara", &[]).await, store.member("ole", &[]).await);
    for number in 0..60 {
        let visibility = if number % 3 == 0 { Visibility::Private } else { Visibility::Public };
        store.add(if number % 2 == 0 { &mara } else { &ole }, &id, &number.to_string(), visibility).await;
    }
    // Of the 20 private messages, 10 are by each of them.
    let read = async |query: SessionMessageQuery| db.session_messages(&mara, &id, &query).await.unwrap();
    let all = read(SessionMessageQuery::default()).await;
    assert_eq!((all.messages.len(), all.total_count, all.has_more), (50, 50, false));
    assert_eq!(all.messages[0].content, "59".to_owned(), "57 and 51 are private to ole");
    assert!(all.messages.iter().all(|message| message.sender == "mara" || message.visibility == Visibility::Public));
    let ids: Vec<i64> = all.messages.iter().map(|message| message.id).collect();
    let mut paged = Vec::new();
    let mut before = None;
    loop {
        let page = read(SessionMessageQuery { before, limit: Some(7), ..SessionMessageQuery::default() }).await;
        paged.extend(page.messages.iter().map(|message| message.id));
        before = page.messages.last().map(|message| message.id);
        assert_eq!(page.total_count, 50);
        if !page.has_more {
            break;
        }
    }
    assert_eq!(paged, ids, "by cursor");
    let (mut later, mut after) = (Vec::new(), Some(0));
    while after.is_some() {
        let page = read(SessionMessageQuery { after, limit: Some(7), ..SessionMessageQuery::default() }).await;
        later.extend(page.messages.iter().rev().map(|message| message.id));
        after = page.messages.first().map(|message| message.id).filter(|_| page.has_more);
    }
    later.reverse();
    assert_eq!(later, ids, "by cursor from the oldest on");
    let both = SessionMessageQuery { after: Some(1), before: Some(9), ..SessionMessageQuery::default() };
    assert_eq!(code(db.session_messages(&mara, &id, &both).await), "invalid");
    let hidden = SessionMessageQuery { after: Some(0), limit: Some(3), visibility: Some(Visibility::Private), ..SessionMessageQuery::default() };
    let oldest = db.session_messages(&Caller::owner(), &id, &hidden).await.unwrap();
    assert_eq!(oldest.messages.iter().map(|message| message.content.as_str()).collect::<Vec<_>>(), ["6", "3", "0"]);
    let some = db.session_messages_by_id(&mara, &id, &[1, 4, 52, 99]).await.unwrap();
    assert_eq!(some.iter().map(|message| message.id).collect::<Vec<_>>(), [1], "4 and 52 are private to ole");
    let skipped = read(SessionMessageQuery { offset: 48, limit: Some(7), ..SessionMessageQuery::default() }).await;
    assert_eq!((skipped.messages.iter().map(|message| message.id).collect::<Vec<_>>(), skipped.has_more), (ids[48..].to_vec(), false));
    let private = read(SessionMessageQuery { visibility: Some(Visibility::Private), ..SessionMessageQuery::default() }).await;
    assert_eq!((private.messages.len(), private.total_count), (10, 10));
    let of_ole = db.session_messages_of_sender(&mara, &id, "ole", Some(5)).await.unwrap();
    assert_eq!(of_ole.iter().map(|message| message.content.as_str()).collect::<Vec<_>>(), ["59", "55", "53", "49", "47"]);
    assert_eq!(db.session_messages_of_sender(&mara, &id, "nobody", None).await.unwrap(), []);
}

#[tokio::test]
async fn period_is_read_oldest_first_with_both_ends() {
    let store = Store::board().await;
    let (db, id) = (&store.db, store.blackboard().await.id);
    let mara = store.member("mara", &[]).await;
    let first = store.add(&mara, &id, "One", Visibility::Public).await;
    store.add(&mara, &id, "Two", Visibility::Private).await;
    store.backdate("UPDATE session_messages SET created_at = $1 WHERE content = $2", Duration::from_secs(3_600), "One").await;
    let between = async |caller: &Caller, from: u64, to: u64| {
        let period = (crate::now().before(Duration::from_secs(from)), crate::now().before(Duration::from_secs(to)));
        let found = db.session_messages_between(caller, &id, period, None).await.unwrap();
        found.into_iter().map(|message| message.content).collect::<Vec<_>>()
    };
    assert_eq!(between(&mara, 4_000, 0).await, ["One", "Two"]);
    assert_eq!(between(&mara, 4_000, 3_000).await, ["One"]);
    assert_eq!(between(&mara, 3_000, 0).await, ["Two"]);
    assert_eq!(between(&Caller::owner(), 4_000, 0).await, ["One"], "a private message is not shown without being asked for");
    let at = first.timestamp.before(Duration::from_secs(0));
    assert_eq!(code(db.session_messages_between(&mara, &id, (at.after(Duration::from_secs(1)), at), None).await), "invalid");
}

#[tokio::test]
async fn sessions_are_created_listed_and_closed() {
    let store = Store::board().await;
    let (db, project) = (&store.db, &store.project);
    let (lead, mara, ole) = (store.member("ann", &[Role::Lead]).await, store.member("mara", &[]).await, store.guest("ole").await);
    let shared = db.create_context_session(&call(&mara, "1"), Some(project), purpose("Plan the search")).await.unwrap();
    assert_eq!(db.create_context_session(&call(&mara, "1"), Some(project), purpose("Plan the search")).await.unwrap(), shared);
    assert_eq!((shared.kind, shared.created_by.as_str(), shared.project_id.as_ref()), (SessionKind::Shared, "mara", Some(project)));
    assert!(shared.id.as_str().starts_with("session_"));
    let listed = async |caller: &Caller, include_closed| {
        let query = SessionListQuery { project: Some(project.clone()), include_closed, ..SessionListQuery::default() };
        db.context_sessions(caller, &query).await.unwrap().into_iter().map(|session| session.purpose).collect::<Vec<_>>()
    };
    assert_eq!(listed(&ole, false).await, ["Plan the search", "Board"]);
    assert_eq!(code(db.close_context_session(&ole, &shared.id).await), "session-not-yours");
    assert!(!db.close_context_session(&mara, &shared.id).await.unwrap().is_active);
    assert!(!db.close_context_session(&lead, &shared.id).await.unwrap().is_active, "closing it again changes nothing");
    assert_eq!((listed(&mara, false).await, listed(&mara, true).await.len()), (vec!["Board".to_owned()], 2));
    assert_eq!(code(db.add_session_message(&mara, &shared.id, finding("Late", Visibility::Public)).await), "session-closed");
    assert_eq!(db.context_session(&ole, &shared.id).await.unwrap().id, shared.id, "a closed session can be read");
    let other = db.create_context_session(&mara, Some(project), purpose("Another")).await.unwrap();
    assert!(!db.close_context_session(&lead, &other.id).await.unwrap().is_active, "a lead may close it");
    store.check_fold().await;
}

#[tokio::test]
async fn session_without_a_project_is_for_persons() {
    let store = Store::board().await;
    let db = &store.db;
    let mara = store.member("mara", &[]).await;
    let (owner, member, viewer) = (Caller::owner(), person(2, "bea", PersonRole::Member), person(3, "vera", PersonRole::Viewer));
    let alone = db.create_context_session(&owner, None, purpose("Notes")).await.unwrap();
    assert_eq!(alone.project_id, None);
    assert_eq!(code(db.create_context_session(&mara, None, purpose("Notes")).await), "human-only");
    assert_eq!(code(db.create_context_session(&viewer, None, purpose("Notes")).await), "person-role");
    for stranger in [&mara, &store.invite()] {
        assert!(["not-found", "not-registered"].contains(&code(db.context_session(stranger, &alone.id).await)));
    }
    assert_eq!(code(db.context_sessions(&mara, &SessionListQuery::default()).await), "human-only");
    assert_eq!(db.context_sessions(&viewer, &SessionListQuery::default()).await.unwrap(), std::slice::from_ref(&alone));
    store.add(&member, &alone.id, "Mine", Visibility::Private).await;
    store.add(&member, &alone.id, "Ours", Visibility::Public).await;
    assert_eq!(store.texts(&viewer, &alone.id).await, ["Ours"]);
    assert_eq!(store.texts(&member, &alone.id).await, ["Ours", "Mine"]);
    assert_eq!(code(db.add_session_message(&viewer, &alone.id, finding("No", Visibility::Public)).await), "person-role");
}

#[tokio::test]
async fn bad_input_writes_nothing() {
    let store = Store::board().await;
    let (db, id) = (&store.db, store.blackboard().await.id);
    let (mara, ole) = (store.member("mara", &[]).await, store.member("ole", &[]).await);
    let other = db.create_context_session(&mara, Some(&store.project), purpose("Other")).await.unwrap().id;
    let elsewhere = store.add(&mara, &other, "Elsewhere", Visibility::Public).await.id;
    let private = store.add(&ole, &id, "Private", Visibility::Private).await.id;
    let before = store.dump().await;
    let add = async |session: &ContextSessionId, new| code::<SessionMessage>(db.add_session_message(&mara, session, new).await);
    let public = |content: &str| finding(content, Visibility::Public);
    assert_eq!(add(&ContextSessionId::new(7), public("x")).await, "not-found");
    for content in ["", " ", "a\0b", &"x".repeat(100_001)] {
        assert_eq!(add(&id, public(content)).await, "invalid");
    }
    let nested = (0..1_000).fold(json!(1), |inner, _| json!({"a": inner}));
    let deep = NewSessionMessage { metadata: nested.as_object().unwrap().clone(), ..public("x") };
    assert_eq!(add(&id, deep).await, "invalid");
    assert_eq!(add(&id, finding("x", Visibility::AdminOnly)).await, "admin-only");
    for parent in [elsewhere, private, 404, -1, i64::MAX] {
        let answer = NewSessionMessage { parent_message_id: Some(parent), ..public("x") };
        assert_eq!(add(&id, answer).await, "not-found", "{parent}");
    }
    let hidden = |parent| NewSessionMessage { parent_message_id: Some(parent), ..public("x") };
    let error = async |parent| db.add_session_message(&mara, &id, hidden(parent)).await.unwrap_err().to_string().replace(&parent.to_string(), "N");
    assert_eq!(error(private).await, error(404).await, "a hidden message does not exist");
    for purpose_of in ["", "\n", &"x".repeat(501)] {
        assert_eq!(code(db.create_context_session(&mara, Some(&store.project), purpose(purpose_of)).await), "invalid");
    }
    for (limit, offset) in [(Some(0), 0), (Some(1_001), 0), (Some(1_000_000_000), 0), (None, 10_001)] {
        let query = SessionMessageQuery { limit, offset, ..SessionMessageQuery::default() };
        assert_eq!(code(db.session_messages(&mara, &id, &query).await), "invalid");
    }
    assert_eq!(code(db.session_messages_of_sender(&mara, &id, "ole", Some(101)).await), "invalid");
    assert_eq!(store.dump().await, before);
}

#[tokio::test]
async fn ended_run_and_departed_agent_write_nothing() {
    let store = Store::board().await;
    let id = store.blackboard().await.id;
    let task = store.task("Page").await;
    let coder = store.agent(&task, AgentKind::Coder).await;
    let mara = store.member("mara", &[]).await;
    store.leaves(&mara, "mara").await;
    store.finish(&coder).await;
    let add = async |caller: &Caller| code::<SessionMessage>(store.db.add_session_message(caller, &id, finding("x", Visibility::Public)).await);
    assert_eq!((add(&coder.caller).await, add(&mara).await), ("stale-run", "not-registered"));
    let created: Result<ContextSession> = store.db.create_context_session(&mara, Some(&store.project), purpose("x")).await;
    assert_eq!(code(created), "not-registered");
}

#[tokio::test]
async fn removed_project_leaves_no_session() {
    let store = Store::board().await;
    let db = &store.db;
    let new = NewProject { title: "Other".to_owned(), description: Some("Goal".to_owned()), ..NewProject::default() };
    let other = db.create_project(&Caller::owner(), new, probe()).await.unwrap().id;
    let session = db.own_context_session(&Caller::owner(), &other).await.unwrap().id;
    let first = store.add(&Caller::owner(), &session, "One", Visibility::Public).await.id;
    let answer = NewSessionMessage { parent_message_id: Some(first), ..finding("Two", Visibility::Private) };
    db.add_session_message(&Caller::owner(), &session, answer).await.unwrap();
    db.delete_project(&Caller::owner(), &other, "Other").await.unwrap();
    db.remove_deleted_project(&other).await.unwrap();
    assert_eq!(code(db.context_session(&Caller::owner(), &session).await), "not-found");
    for table in ["session_messages", "session_counts"] {
        let left: i64 = sqlx::query_scalar(sqlx::AssertSqlSafe(format!("SELECT COUNT(*) FROM {table}"))).fetch_one(&db.readers).await.unwrap();
        assert_eq!(left, 0, "{table}");
    }
    assert_eq!(store.blackboard().await.kind, SessionKind::Project);
}
