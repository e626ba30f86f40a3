//! Imports of the databases of other programs, made here from the columns that those programs document.

use domain::board::status::{CancelReason, Status};
use domain::context::import::{ImportCount, ImportKind, ImportReport, ImportSource, NewImport};
use domain::context::memory::{MemoryOwner, NewMemoryEntry};
use domain::context::session::{ContextSessionId, SessionMessage};
use domain::id::{ProjectId, TaskId};
use domain::team::role::Role;
use serde_json::json;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection};

use crate::tests::store::{Store, code};
use crate::{Caller, HistoryQuery, SessionListQuery, SessionMessageQuery};

const SHARED_CONTEXT: &str = include_str!("import/shared_context.sql");
const DEAD_DROP: &str = include_str!("import/dead_drop.sql");

impl Store {
    /// Writes a database, and returns the request to import it.
    async fn source(&self, source: ImportSource, statements: &'static str) -> NewImport {
        let path = self.folder.path().join(format!("{source}.db"));
        let mut connection = SqliteConnectOptions::new().filename(&path).create_if_missing(true).connect().await.unwrap();
        sqlx::raw_sql(statements).execute(&mut connection).await.unwrap();
        connection.close().await.unwrap();
        NewImport { source, path: path.to_str().unwrap().to_owned(), project_id: self.project.clone(), dry_run: false }
    }

    /// Imports a database of shared-context-server into the project.
    pub(in crate::tests) async fn import_shared_context(&self) -> ImportReport {
        self.import(&self.source(ImportSource::SharedContext, SHARED_CONTEXT).await).await
    }

    async fn import(&self, new: &NewImport) -> ImportReport {
        self.db.import(&Caller::owner(), new).await.unwrap()
    }
}

fn of_project(store: &Store) -> SessionListQuery {
    SessionListQuery { project: Some(store.project.clone()), ..SessionListQuery::default() }
}

/// The numbers found, imported, known and skipped.
fn numbers(report: &ImportReport, kind: ImportKind) -> [u32; 4] {
    let count = report.counts.iter().find(|count| count.kind == kind).unwrap();
    let ImportCount { found, imported, known, skipped, .. } = count;
    [*found, *imported, *known, *skipped]
}

#[tokio::test]
async fn shared_context_sessions_messages_and_memory_are_imported() {
    let store = Store::board().await;
    let new = store.source(ImportSource::SharedContext, SHARED_CONTEXT).await;
    let plan = store.import(&NewImport { dry_run: true, ..new.clone() }).await;
    assert_eq!(numbers(&plan, ImportKind::SessionMessage), [5, 5, 0, 0], "a dry run compares nothing with the project");
    assert_eq!(store.db.context_sessions(&Caller::owner(), &of_project(&store)).await.unwrap().len(), 1, "a dry run writes nothing");
    let mut report = store.import(&new).await;
    for problem in report.problems.iter_mut().filter(|problem| problem.problem.starts_with("its id is session_")) {
        "its id is session_… here".clone_into(&mut problem.problem);
    }
    insta::assert_json_snapshot!(report);

    let (mara, ole) = (store.member("claude-main", &[]).await, store.member("tester", &[]).await);
    let session: ContextSessionId = "session_0011aabb22cc".parse().unwrap();
    let stored = store.db.context_session(&mara, &session).await.unwrap();
    assert_eq!((stored.purpose.as_str(), stored.created_by.as_str(), stored.is_active), ("Plan the sign-in", "claude-main", true));
    assert_eq!(stored.created_at.to_string(), "2025-03-01T10:00:00.000Z");
    let read = async |caller: &Caller| store.db.session_messages(caller, &session, &SessionMessageQuery::default()).await.unwrap();
    let contents = |messages: &[SessionMessage]| messages.iter().map(|message| message.content.clone()).collect::<Vec<_>>();
    assert_eq!(contents(&read(&mara).await.messages), ["Passkeys need HTTPS", "My scratch note", "Sessions last 30 days"]);
    assert_eq!(contents(&read(&ole).await.messages), ["Only for testers", "Passkeys need HTTPS", "Sessions last 30 days"]);
    let reply = &read(&ole).await.messages[1];
    assert_eq!((reply.parent_message_id.is_some(), reply.timestamp.to_string()), (true, "2025-03-01T10:03:00.500Z".to_owned()));
    assert_eq!(store.db.search_session(&ole, &session, &super::search::query("paskeys")).await.unwrap().len(), 1, "imported messages are found");

    let value = async |caller: &Caller, key: &str, session| store.db.memory(caller, key, session).await.map(|entry| entry.value);
    assert_eq!(value(&mara, "state", None).await.unwrap(), json!({"step": 3}));
    assert_eq!(value(&mara, "note", Some(&session)).await.unwrap(), json!("plain words"));
    assert_eq!(code(value(&ole, "state", None).await), "not-found");
    store.check_fold().await;
}

#[tokio::test]
async fn dead_drop_agents_tasks_messages_goals_and_contracts_are_imported() {
    let store = Store::board().await;
    let new = store.source(ImportSource::DeadDrop, DEAD_DROP).await;
    let report = store.import(&new).await;
    insta::assert_json_snapshot!(report);

    let task = async |number: u64| store.db.task(&TaskId::new(number)).await.unwrap();
    let (first, second, third, fourth, fifth) = (task(1).await, task(2).await, task(3).await, task(4).await, task(5).await);
    let statuses = [&first, &second, &third, &fourth, &fifth].map(|task| task.card.status);
    assert_eq!(statuses, [Status::Done, Status::InReview, Status::InProgress, Status::Backlog, Status::Cancelled]);
    assert_eq!(first.card.contributors.verified_by.as_deref(), Some("spartan"));
    assert_eq!(first.card.contributors.built_by, ["platform/mara"]);
    assert_eq!(first.result.as_deref(), Some("Added the parser"));
    assert_eq!(first.card.created_at.to_string().get(..10), Some("2026-02-01"));
    assert!(fourth.card.held_by.is_some(), "a task without an assignee waits for a person");
    assert_eq!(fifth.card.cancel_reason, Some(CancelReason::Failed));
    let goals = store.db.goals(&store.project).await.unwrap();
    assert_eq!((goals[0].title.as_str(), goals[0].progress.linked, goals[0].progress.verified), ("Ship the parser", 2, 1));
    let contracts = store.db.contracts(&store.project).await.unwrap();
    assert_eq!((contracts[0].name.as_str(), contracts[0].version, contracts[0].owner.as_str()), ("parse()", 3, "platform/mara"));

    let mara = store.member("platform/mara", &[Role::Builder]).await;
    assert_eq!(store.inbox_texts(&mara).await, ["Stand-up at ten", "[TASK-002] TASK ASSIGNED"], "what was read there is not delivered again");
    let history = store.db.history(&store.project, &HistoryQuery { count: Some(50), ..HistoryQuery::default() }).await.unwrap();
    assert_eq!(history.len(), 4, "a copy is no message of its own");
    let copied = history.iter().find(|message| message.content == "Please look at line 42").unwrap();
    assert_eq!(copied.cc, ["lead"]);
    store.check_fold().await;
}

#[tokio::test]
async fn repeated_import_adds_only_what_is_new() {
    let store = Store::board().await;
    let new = store.source(ImportSource::DeadDrop, DEAD_DROP).await;
    store.import(&new).await;
    let again = store.import(&new).await;
    assert_eq!(again.counts.iter().map(|count| count.imported).sum::<u32>(), 0, "{again:?}");
    let more =
        "INSERT INTO messages (from_agent, to_agent, content, timestamp, reply_to) VALUES ('lead', 'mara', 'And line 43', '2026-02-02T09:00:00', 1);";
    store.source(ImportSource::DeadDrop, more).await;
    let report = store.import(&new).await;
    assert_eq!(report.counts.iter().map(|count| count.imported).sum::<u32>(), 1, "{report:?}");
}

#[tokio::test]
async fn existing_agents_keep_what_they_have() {
    let store = Store::board().await;
    let mara = store.member("claude-main", &[Role::Tester]).await;
    let own = NewMemoryEntry {
        key: "state".to_owned(),
        value: json!("mine"),
        session_id: None,
        scope: None,
        expires_in: None,
        metadata: serde_json::Map::new(),
        overwrite: true,
    };
    store.db.set_memory(&mara, own).await.unwrap();
    let new = store.source(ImportSource::SharedContext, SHARED_CONTEXT).await;
    let report = store.import(&new).await;
    assert!(report.problems.iter().any(|problem| problem.problem.contains("claude-main already existed")), "{report:?}");
    assert_eq!(store.db.memory(&mara, "state", None).await.unwrap().value, json!("mine"));
    assert_eq!(numbers(&report, ImportKind::Memory), [4, 1, 0, 3]);
    let owner = MemoryOwner { project: Some(store.project.clone()), key: "name:claude-main".to_owned() };
    assert_eq!(MemoryOwner::of_reader(&mara.reader().unwrap()), owner);
}

#[tokio::test]
async fn unusable_databases_are_refused_and_nothing_is_written() {
    let store = Store::board().await;
    let shared = store.source(ImportSource::SharedContext, SHARED_CONTEXT).await;
    let seq = store.db.latest();
    let text = store.folder.path().join("text.db");
    std::fs::write(&text, "no database at all, but a text that is long enough to look like a file").unwrap();
    let paths = [("relative.db", "not absolute"), ("/does/not/exist.db", "no such file"), (text.to_str().unwrap(), "not a database")];
    for (path, problem) in paths {
        let refused = store.db.import(&Caller::owner(), &NewImport { path: path.to_owned(), ..shared.clone() }).await;
        assert!(refused.as_ref().unwrap_err().to_string().contains(problem), "{path}: {refused:?}");
        assert_eq!(code(refused), "import-unusable");
    }
    let wrong = NewImport { source: ImportSource::DeadDrop, ..shared.clone() };
    assert_eq!(code(store.db.import(&Caller::owner(), &wrong).await), "import-unusable", "it has no table agents");
    let missing = NewImport { project_id: ProjectId::new(99), ..shared.clone() };
    assert_eq!(code(store.db.import(&Caller::owner(), &missing).await), "not-found");
    let mara = store.member("mara", &[]).await;
    let after = store.db.latest();
    assert!(store.db.import(&mara, &shared).await.is_err(), "only the owner imports");
    assert_eq!(store.db.latest(), after);
    assert!(after > seq);
}
