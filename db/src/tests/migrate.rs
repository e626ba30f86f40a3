//! Databases of every released schema: what was in them is still there and works after the migrations that followed.

use std::collections::BTreeSet;

use domain::board::status::Status;
use domain::board::task::NewTask;
use domain::config::Config;
use domain::id::{ProjectId, RunId, TaskId};
use domain::runs::agent_kind::AgentKind;
use sqlx::ConnectOptions;
use sqlx::migrate::Migrator;
use sqlx::sqlite::SqliteConnectOptions;

use crate::tests::store::{Store, evidence};
use crate::tests::team::message;
use crate::{Caller, Db};

#[tokio::test]
async fn dump_fixture() {
    let store = crate::tests::feed::story().await;
    let task = store.task("With a live coder").await;
    let coder = store.agent(&task, AgentKind::Coder).await;
    store.db.add_comment(&coder.caller, &task, "Started", None).await.unwrap();
    store.db.send(&store.member("eve", &[]).await, &store.project, message("all", "Hello")).await.unwrap();
    let judged = store.in_review("With a live reviewer").await;
    store.agent_at(&judged, AgentKind::Reviewer, "head").await;
    std::fs::remove_file("/tmp/fixture.db").ok();
    sqlx::query("VACUUM INTO '/tmp/fixture.db'").execute(&store.db.readers).await.ok();
    let mut c = SqliteConnectOptions::new().filename(&store.config.db_path).connect().await.unwrap();
    sqlx::query("VACUUM INTO '/tmp/fixture.db'").execute(&mut c).await.ok();
}
