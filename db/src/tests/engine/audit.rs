//! The audit log: what is recorded, that it cannot be changed unnoticed, and what it costs.

use std::time::Duration;

use domain::audit::{AuditKind, AuditRow};
use domain::team::token::TokenEvent;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, SqliteConnection};

use crate::tests::store::{Store, code, new_task};
use crate::{Act, AuditQuery, Caller, Db, Error, verify_audit};

const A_PAGE: AuditQuery = AuditQuery { kind: None, actor: None, project: None, credential: None, before: None, limit: 200 };

async fn rows(store: &Store, query: &AuditQuery) -> Vec<AuditRow> {
    store.db.audit(&Caller::owner(), query).await.unwrap().0
}

/// A store with twelve rows: that of its project, ten of tasks, and one of a refusal.
async fn with_rows() -> Store {
    let store = Store::board().await;
    for number in 0..10 {
        store.task(&format!("Task {number}")).await;
    }
    store.db.record_fact(AuditKind::Refusal, &Act::by_token("secret", "get_task"), None, Some("TASK-404"), "not-found");
    assert_eq!(rows(&store, &A_PAGE).await.len(), 12);
    store
}

#[tokio::test]
async fn row_of_a_write_names_its_credential_caller_act_and_events() {
    let store = Store::board().await;
    let act = Act::by_token("secret", "create_task");
    let created = act.run(store.db.create_task(&Caller::owner(), &store.project, new_task("One"))).await.unwrap();
    let row = rows(&store, &A_PAGE).await.remove(0);
    assert_eq!((row.kind, row.action.as_str(), row.result.as_str()), (AuditKind::Write, "create_task", "ok"));
    assert_eq!(row.credential.as_deref(), Some("token:2bb80d537b1d"), "the start of the token's hash");
    assert_eq!(row.actor.unwrap().to_string(), "human");
    assert_eq!((row.project_id.as_ref(), row.subject.as_deref()), (Some(&store.project), Some(created.card.id.as_str())));
    assert_eq!((row.detail.as_deref(), row.seq, row.count), (Some("task_created"), Some(store.db.latest()), 1));
    let act = Act::by_browser("secret", "POST /api/projects/{id}/tasks");
    act.run(store.db.create_task(&Caller::owner(), &store.project, new_task("From a browser"))).await.unwrap();
    assert_eq!(rows(&store, &A_PAGE).await.remove(0).credential.as_deref(), Some("browser:2bb80d537b1d"));
    // An act without a request is the server's.
    store.task("Two").await;
    let row = rows(&store, &A_PAGE).await.remove(0);
    assert_eq!((row.action.as_str(), row.credential), ("server", None));
}

#[tokio::test]
async fn refused_use_case_leaves_no_row_of_a_write() {
    let store = Store::board().await;
    let before = rows(&store, &A_PAGE).await;
    let lost = store.db.write(|tx| {
        Box::pin(async move {
            tx.record(&Caller::owner(), TokenEvent::Created {});
            Err::<(), _>(Error::Storage("no".into()))
        })
    });
    lost.await.unwrap_err();
    assert_eq!(rows(&store, &A_PAGE).await, before);
    assert_eq!(store.db.check_audit(&Caller::owner()).await.unwrap().broken, None);
}

#[tokio::test]
async fn refusals_wait_for_a_commit_or_a_second_and_survive_the_end() {
    let store = Store::board().await;
    let act = Act::by_nobody("POST /mcp");
    for _ in 0..3 {
        store.db.record_fact(AuditKind::Authentication, &act, None, None, "unauthorized");
    }
    // Nothing else is written, and nobody looks.
    let count = "SELECT count FROM audit WHERE kind = 'authentication'";
    let mut found = None;
    while found.is_none() {
        tokio::time::sleep(Duration::from_millis(20)).await;
        found = sqlx::query_scalar::<_, u32>(count).fetch_optional(&store.db.readers).await.unwrap();
    }
    assert_eq!(found, Some(3), "equal ones are counted");
    store.db.record_fact(AuditKind::Authentication, &act, None, None, "unauthorized");
    let Store { db, config, folder: _folder, .. } = store;
    let rows = db.check_audit(&Caller::owner()).await.unwrap().rows;
    db.record_fact(AuditKind::Refusal, &act, None, None, "unauthorized");
    drop(db);
    let db = crate::tests::open::open_again(&config).await.unwrap();
    assert_eq!(db.check_audit(&Caller::owner()).await.unwrap().rows, rows + 1, "the last one was written before the file was closed");
}

#[tokio::test]
async fn pages_and_filters_cover_the_log() {
    let store = with_rows().await;
    let mut ids = Vec::new();
    let mut query = AuditQuery { limit: 5, ..A_PAGE };
    loop {
        let (page, next) = store.db.audit(&Caller::owner(), &query).await.unwrap();
        ids.extend(page.iter().map(|row| row.id));
        query.before = next;
        if next.is_none() {
            break;
        }
    }
    assert_eq!(ids, (1..=12).rev().collect::<Vec<_>>());
    assert_eq!(rows(&store, &AuditQuery { kind: Some(AuditKind::Refusal), ..A_PAGE }).await.len(), 1);
    assert_eq!(rows(&store, &AuditQuery { project: Some(store.project.clone()), ..A_PAGE }).await.len(), 11);
    assert_eq!(rows(&store, &AuditQuery { actor: Some("nobody".to_owned().into()), ..A_PAGE }).await.len(), 0);
    assert_eq!(rows(&store, &AuditQuery { credential: Some("token:2bb80d537b1d".to_owned()), ..A_PAGE }).await.len(), 1);
    for before in [0, -1, i64::MIN] {
        let forged = store.db.audit(&Caller::owner(), &AuditQuery { before: Some(before), ..A_PAGE }).await;
        assert_eq!(code(forged), "invalid");
    }
    let beyond = store.db.audit(&Caller::owner(), &AuditQuery { before: Some(i64::MAX), limit: u32::MAX, ..A_PAGE }).await.unwrap();
    assert_eq!(beyond.0.len(), 12);
    let coder = Caller::Runner;
    assert_eq!(code(store.db.audit(&coder, &A_PAGE).await), "human-only");
    assert_eq!(code(store.db.check_audit(&coder).await), "human-only");
}

/// Changes the log of a copy as someone could who has the file, and returns the first row that does not fit.
async fn broken_by(statements: &[&str]) -> (i64, String) {
    let store = with_rows().await;
    let copy = store.folder.path().join("copy.db");
    crate::backup(&store.config.db_path, &copy).await.unwrap();
    assert_eq!(verify_audit(&copy, None).await.unwrap().broken, None);
    let mut connection = SqliteConnectOptions::new().filename(&copy).connect().await.unwrap();
    for trigger in ["rows_follow_each_other", "head", "rows_stay_as_they_are", "rows_are_kept", "chain_moves_forward", "chain_stays"] {
        sqlx::query(AssertSqlSafe(format!("DROP TRIGGER audit_{trigger}"))).execute(&mut connection).await.unwrap();
    }
    for statement in statements {
        sqlx::query(AssertSqlSafe(statement.to_string())).execute(&mut connection).await.unwrap();
    }
    connection.close().await.unwrap();
    let broken = verify_audit(&copy, None).await.unwrap().broken.unwrap();
    (broken.id, broken.problem)
}

#[tokio::test]
async fn changed_row_is_the_first_that_does_not_fit() {
    let changed = "its hash does not match its content and the row before";
    for column in
        ["actor = 'human/eve'", "at = '2020-01-01T00:00:00.000Z'", "credential = 'token:eve'", "result = 'not-found'", "count = 9", "hash = 'ab'"]
    {
        assert_eq!(broken_by(&[&format!("UPDATE audit SET {column} WHERE id = 5")]).await, (5, changed.to_owned()), "{column}");
    }
    assert_eq!(broken_by(&["UPDATE audit SET run_id = 'x' WHERE id = 5"]).await.0, 5);
}

#[tokio::test]
async fn deleted_row_is_missing_wherever_it_was() {
    for id in [1, 5, 12] {
        assert_eq!(broken_by(&[&format!("DELETE FROM audit WHERE id = {id}")]).await, (id, "it is missing".to_owned()));
    }
    let renumbered = broken_by(&["DELETE FROM audit WHERE id = 5", "UPDATE audit SET id = id - 1 WHERE id > 5"]).await;
    assert_eq!(renumbered.0, 5);
    assert_eq!(broken_by(&["DELETE FROM audit WHERE id > 5"]).await.0, 6);
    assert_eq!(broken_by(&["DELETE FROM audit_chain"]).await.0, 1);
}

#[tokio::test]
async fn inserted_and_swapped_rows_do_not_fit() {
    let columns = "at, kind, credential, actor, run_id, action, project_id, subject, result, detail, seq, count, hash";
    let at_the_end = format!("INSERT INTO audit (id, {columns}) SELECT 13, {columns} FROM audit WHERE id = 12");
    assert_eq!(broken_by(&[&at_the_end]).await.0, 13);
    let in_between = [
        "UPDATE audit SET id = -id WHERE id >= 5".to_owned(),
        "UPDATE audit SET id = 1 - id WHERE id < 0".to_owned(),
        format!("INSERT INTO audit (id, {columns}) SELECT 5, {columns} FROM audit WHERE id = 8"),
    ];
    let in_between: Vec<&str> = in_between.iter().map(String::as_str).collect();
    assert_eq!(broken_by(&in_between).await.0, 5);
    let before_the_first = format!("INSERT INTO audit (id, {columns}) SELECT 0, {columns} FROM audit WHERE id = 12");
    assert_eq!(broken_by(&[&before_the_first]).await, (0, "it was added before the anchor".to_owned()));
    let swapped = ["UPDATE audit SET id = 99 WHERE id = 4", "UPDATE audit SET id = 4 WHERE id = 7", "UPDATE audit SET id = 7 WHERE id = 99"];
    assert_eq!(broken_by(&swapped).await.0, 4);
}

#[tokio::test]
async fn noted_row_proves_that_the_chain_was_not_computed_again() {
    let store = with_rows().await;
    let row = rows(&store, &AuditQuery { limit: 3, ..A_PAGE }).await.remove(2);
    let path = &store.config.db_path;
    assert_eq!(verify_audit(path, Some((row.id, &row.hash))).await.unwrap().broken, None);
    let broken = verify_audit(path, Some((row.id, "another"))).await.unwrap().broken.unwrap();
    assert_eq!(broken.id, row.id);
    assert!(verify_audit(path, Some((99, &row.hash))).await.unwrap().broken.is_some(), "the log was longer");
    for (number, hash) in [(0, ""), (-1, "x")] {
        let broken = verify_audit(path, Some((number, hash))).await.unwrap().broken;
        assert_eq!(broken.is_none(), number == 0, "{broken:?}");
    }
    assert!(matches!(verify_audit(&store.folder.path().join("none.db"), None).await, Err(Error::File { .. })));
}

#[tokio::test]
async fn retention_keeps_an_anchor_from_which_the_rest_is_checked() {
    let store = with_rows().await;
    // A row that is too young keeps all after it.
    assert_eq!(store.db.prune_audit(Duration::from_secs(3_600)).await.unwrap(), 0);
    assert_eq!(store.db.prune_audit(Duration::ZERO).await.unwrap(), 12);
    store.task("Later").await;
    let check = store.db.check_audit(&Caller::owner()).await.unwrap();
    assert_eq!((check.anchor, check.rows, check.head, check.broken), (12, 1, 13, None));
    let path = &store.config.db_path;
    assert!(verify_audit(path, Some((3, "x"))).await.unwrap().broken.unwrap().problem.contains("proves nothing"));
    let (page, next) = store.db.audit(&Caller::owner(), &A_PAGE).await.unwrap();
    assert_eq!((page.len(), next), (1, None));
}

async fn refused(connection: &mut SqliteConnection, statement: &str) -> String {
    sqlx::query(AssertSqlSafe(statement.to_owned())).execute(connection).await.unwrap_err().to_string()
}

#[tokio::test]
async fn database_refuses_changes_of_the_log() {
    let store = with_rows().await;
    let mut connection = SqliteConnectOptions::new().filename(&store.config.db_path).connect().await.unwrap();
    for statement in [
        "UPDATE audit SET actor = 'human' WHERE id = 2",
        "DELETE FROM audit WHERE id = 12",
        "DELETE FROM audit",
        "INSERT INTO audit (id, at, kind, action, result, count, hash) VALUES (20, '', 'write', '', '', 1, '')",
        "INSERT OR REPLACE INTO audit (id, at, kind, action, result, count, hash) VALUES (3, '', 'write', '', '', 1, '')",
        "UPDATE audit_chain SET anchor_id = 12",
        "UPDATE audit_chain SET head_id = 1",
        "DELETE FROM audit_chain",
    ] {
        let error = refused(&mut connection, statement).await;
        assert!(error.contains("of the audit log"), "{statement}: {error}");
    }
    connection.close().await.unwrap();
    assert_eq!(store.db.check_audit(&Caller::owner()).await.unwrap().broken, None);
}

#[tokio::test]
async fn deleted_project_leaves_its_rows_and_an_unbroken_chain() {
    let store = with_rows().await;
    store.db.archive_project(&Caller::owner(), &store.project).await.unwrap();
    assert_eq!(store.db.check_audit(&Caller::owner()).await.unwrap().broken, None);
    assert_eq!(rows(&store, &AuditQuery { project: Some(store.project.clone()), ..A_PAGE }).await.len(), 12);
}

/// One greedy caller does not hold up another: their use cases take turns.
#[tokio::test]
async fn writer_serves_callers_in_turns() {
    let store = Store::board().await;
    let seq = store.db.latest();
    let (release, held) = super::writer::hold(&store).await;
    let mut writers = Vec::new();
    let queue = |caller: &'static str, number: usize| {
        let (db, project): (Db, _) = (store.db.clone(), store.project.clone());
        let title = format!("{caller} {number}");
        let work = async move { db.create_task(&Caller::owner(), &project, new_task(&title)).await.map(drop) };
        tokio::spawn(Act::by_token(caller, "create_task").run(work))
    };
    for number in 0..60 {
        writers.push(queue("greedy", number));
        super::writer::queued(&store, number + 1).await;
    }
    for number in 0..3 {
        writers.push(queue("modest", number));
        super::writer::queued(&store, 61 + number).await;
    }
    release.send(()).unwrap();
    held.await.unwrap().unwrap();
    for writer in writers {
        writer.await.unwrap().unwrap();
    }
    let events = store.db.events_after(seq, None, 6).await.unwrap();
    let titles: Vec<String> = events.iter().map(|envelope| envelope.card.as_ref().unwrap().title.clone()).collect();
    assert_eq!(titles, ["greedy 0", "modest 0", "greedy 1", "modest 1", "greedy 2", "modest 2"]);
}
