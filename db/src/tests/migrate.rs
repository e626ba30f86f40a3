//! A database of every released schema: what was in it is still there and works after the migrations that followed.

use std::collections::BTreeSet;

use domain::board::status::Status;
use domain::config::Config;
use domain::id::{ProjectId, TaskId};
use domain::runs::agent_kind::AgentKind;
use domain::runs::failure::EndClass;
use sqlx::migrate::Migrator;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection};

use crate::engine::migrations::MIGRATIONS;
use crate::engine::tx::NoEventReason;
use crate::team::token;
use crate::tests::engine::event_log::story;
use crate::tests::external_agents::message;
use crate::tests::store::{Store, whole_board};
use crate::{Caller, Db};

const PERSONS_TOKEN: &str = "the person's";
const CODERS_TOKEN: &str = "the coder's";

/// Creates a database with the first `version` migrations and these rows.
async fn database(config: &Config, version: usize, rows: &'static str) {
    let options = SqliteConnectOptions::new().filename(&config.db_path).create_if_missing(true).foreign_keys(false);
    let mut connection = options.connect().await.unwrap();
    let migrations = MIGRATIONS.iter().take(version).cloned().collect();
    Migrator::with_migrations(migrations).run(&mut connection).await.unwrap();
    sqlx::raw_sql(rows).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

#[tokio::test]
async fn a_database_of_schema_1_keeps_its_board_its_log_and_its_live_runs() {
    let folder = tempfile::tempdir().unwrap();
    let config = Config { db_path: folder.path().join("board.db"), ..Config::default() };
    database(&config, 1, include_str!("fixtures/rows-0001.sql")).await;
    let db = Db::open(&config).await.unwrap();
    let broken: Vec<String> = sqlx::query_scalar("SELECT \"table\" FROM pragma_foreign_key_check").fetch_all(&db.readers).await.unwrap();
    assert!(broken.is_empty(), "{broken:?}");

    let (project, task, judged) = (ProjectId::new(1), TaskId::new(12), TaskId::new(13));
    let board = whole_board(&db, &project).await.unwrap();
    assert_eq!((board.cards.len(), board.seq), (11, db.latest()));
    assert_eq!(db.replay_board(&project).await.unwrap(), board);
    let live: Vec<(String, AgentKind)> = db.live_runs().await.unwrap().into_iter().map(|run| (run.id.to_string(), run.phase)).collect();
    assert_eq!(live, [("RUN-008".to_owned(), AgentKind::Coder), ("RUN-010".to_owned(), AgentKind::Reviewer)]);

    assert_eq!(db.check_audit(&Caller::owner()).await.unwrap().broken, None);
    assert_eq!(db.caller(PERSONS_TOKEN).await.unwrap(), Some(Caller::owner()));
    let coder = db.caller(CODERS_TOKEN).await.unwrap().unwrap();
    db.add_comment(&coder, &task, "Goes on", None).await.unwrap();
    assert_eq!(db.comments(&task).await.unwrap().iter().map(|comment| comment.content.as_str()).collect::<Vec<_>>(), ["Started", "Goes on"]);
    db.check_inbox(&coder, &project, None).await.unwrap();
    db.send(&coder, &project, message("human", "Still here")).await.unwrap();
    assert_eq!(db.card(&judged).await.unwrap().status, Status::InReview);

    let store = Store { db, config, project, folder };
    for (id, _) in live {
        store.end(&id.parse().unwrap(), EndClass::Finished, None).await;
    }
    store.task("A new one").await;
    assert_eq!(store.db.replay_board(&store.project).await.unwrap(), whole_board(&store.db, &store.project).await.unwrap());
}

/// The fixture of the newest schema has its tables and columns. `UPDATE_FIXTURES=1` writes it: before a release that has a new migration, and
/// whenever an unreleased one changes.
#[tokio::test]
async fn newest_fixture_has_every_table_and_column() {
    let store = story().await;
    let task = store.task("With a live coder").await;
    let coder = store.agent(&task, AgentKind::Coder).await;
    store.db.add_comment(&coder.caller, &task, "Started", None).await.unwrap();
    store.send(&store.member("eve", &[]).await, "all", "Hello").await.unwrap();
    let judged = store.in_review("With a live reviewer").await;
    store.agent_at(&judged, AgentKind::Reviewer, "head").await;
    store.db.set_owner("owner", PERSONS_TOKEN).await.unwrap();
    let set_token = store.db.write(move |tx| {
        Box::pin(async move {
            tx.skip_event(NoEventReason::NothingChanged);
            let update = sqlx::query("UPDATE tokens SET hash = $1 WHERE run_id = $2").bind(token::hash(CODERS_TOKEN)).bind(coder.run.to_string());
            update.execute(&mut tx.connection).await?;
            Ok(())
        })
    });
    set_token.await.unwrap();

    let readers = &store.db.readers;
    let tables = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_sqlx%' ESCAPE '\\' ORDER BY name";
    let mut text = String::from("-- Rows of a board with two live runs, written by db/src/tests/migrate.rs.\n");
    for table in sqlx::query_scalar::<_, String>(tables).fetch_all(readers).await.unwrap() {
        // The index stores no texts, and its other tables are its own. The ends of the audit log follow its rows.
        if table.starts_with("search_words") || table == "audit_chain" {
            continue;
        }
        let columns = format!("SELECT name FROM pragma_table_info('{table}')");
        let columns: Vec<String> = sqlx::query_scalar(AssertSqlSafe(columns)).fetch_all(readers).await.unwrap();
        let values = columns.iter().map(|column| format!("quote({column})")).collect::<Vec<_>>().join(" || ', ' || ");
        let rows: Vec<String> = sqlx::query_scalar(AssertSqlSafe(format!("SELECT {values} FROM {table}"))).fetch_all(readers).await.unwrap();
        for row in rows {
            text += &format!("INSERT INTO {table} ({}) VALUES ({row});\n", columns.join(", "));
        }
    }
    let schema = MIGRATIONS.iter().count();
    let path = format!("{}/src/tests/fixtures/rows-{schema:04}.sql", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("UPDATE_FIXTURES").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let columns = |text: &str| -> BTreeSet<String> {
        text.lines().filter(|line| line.starts_with("INSERT INTO ")).filter_map(|line| Some(line.split_once(") VALUES")?.0.to_owned())).collect()
    };
    assert_eq!(columns(&std::fs::read_to_string(&path).unwrap()), columns(&text), "set UPDATE_FIXTURES=1 to rewrite {path}");
}
