//! Indexes: frequent queries do not scan a table.

use domain::id::TaskId;
use sqlx::{AssertSqlSafe, Row};

use crate::HistoryQuery;
use crate::team::message::history_sql;
use crate::tests::store::Store;

async fn plan(store: &Store, statement: &str) -> String {
    let rows = sqlx::query(AssertSqlSafe(format!("EXPLAIN QUERY PLAN {statement}"))).fetch_all(&store.db.readers).await.unwrap();
    rows.iter().map(|row| row.get::<String, _>("detail")).collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn threads_and_history_use_indexes() {
    let store = Store::board().await;
    let thread = plan(&store, &history_sql(&HistoryQuery { task: Some(TaskId::new(1)), ..HistoryQuery::default() })).await;
    assert!(thread.contains("messages_by_task") && !thread.contains("TEMP B-TREE"), "{thread}");
    let all = plan(&store, &history_sql(&HistoryQuery::default())).await;
    assert!(all.contains("messages_by_project"), "{all}");
}

#[tokio::test]
async fn agents_and_their_tasks_use_indexes() {
    let store = Store::board().await;
    let statements = [
        ("agents_present", "SELECT name FROM agents WHERE project_id = 'PROJ-001' AND left_at IS NULL ORDER BY name"),
        ("tasks_by_assignee", "SELECT id FROM tasks WHERE project_id = 'PROJ-001' AND assigned_to = 'ben' AND status NOT IN ('done', 'cancelled')"),
        ("minions_by_run", "UPDATE minions SET status = 'failed' WHERE run_id = 'RUN-001' AND status = 'spawned'"),
        ("agents_by_name_nocase", "SELECT name FROM agents WHERE project_id = 'PROJ-001' AND lower(name) = lower('Ben') AND name <> 'Ben'"),
        ("calls_by_age", "DELETE FROM calls WHERE created_at < '2026-01-31T09:05:00.000Z'"),
    ];
    for (index, statement) in statements {
        let plan = plan(&store, statement).await;
        assert!(plan.contains(index), "{statement}\n{plan}");
    }
}

#[tokio::test]
async fn retention_finds_what_it_may_remove_without_reading_what_stays() {
    let store = Store::board().await;
    let statements = [
        ("broadcast_reads_read", "SELECT message_id FROM broadcast_reads WHERE read_at IS NOT NULL AND read_at < '2026-01-31T09:05:00.000Z'"),
        (
            "messages_removable",
            "SELECT id FROM messages WHERE read_at IS NOT NULL AND read_at < '2026-01-31T09:05:00.000Z' AND from_agent <> 'human'",
        ),
        ("messages_replies", "SELECT 1 FROM messages WHERE reply_to = 7"),
        ("runs_with_folder", "SELECT id FROM agent_runs WHERE run_dir IS NOT NULL AND dir_removed_at IS NULL ORDER BY task_id"),
        ("INTEGER PRIMARY KEY", "SELECT seq FROM events WHERE seq < 9 ORDER BY seq LIMIT 3"),
    ];
    for (index, statement) in statements {
        let plan = plan(&store, statement).await;
        assert!(plan.contains(index), "{statement}\n{plan}");
    }
}
