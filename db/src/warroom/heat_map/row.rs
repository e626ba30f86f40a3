//! Reads what tasks took. Must not change anything.

use std::collections::BTreeMap;

use domain::board::planned_files::PlannedFiles;
use domain::id::{ProjectId, TaskId};
use domain::time::Timestamp;
use domain::warroom::claim::ClaimPath;
use domain::warroom::heat_map::{MAX_FINISHED, TaskActivity};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::engine::column::{count, json, parsed};
use crate::error::Result;

/// The open tasks of a project `$1`.
pub(crate) fn open_sql() -> String {
    activity_sql("SELECT * FROM tasks WHERE project_id = $1 AND status IN ('backlog', 'in_progress', 'in_review')")
}

/// The tasks of a project `$1` that ended since `$2`, newest first, at most `$3`.
pub(crate) fn ended_sql() -> String {
    // Both conditions on the status are needed: one for the index of finished tasks, one for its order.
    let ended = |status: &str| {
        format!(
            "SELECT * FROM (SELECT * FROM tasks WHERE project_id = $1 AND status = '{status}' AND status IN ('done', 'cancelled') AND updated_at >= $2
               ORDER BY updated_at DESC, id DESC LIMIT $3)"
        )
    };
    activity_sql(&format!("{} UNION ALL {}", ended("done"), ended("cancelled")))
}

/// The paths that the agents of tasks of a project `$1` hold.
pub(crate) const CLAIMED: &str = "SELECT task_id, path FROM claims WHERE project_id = $1 AND task_id IS NOT NULL";

/// The runner sends back what it cannot merge.
fn activity_sql(tasks: &str) -> String {
    format!(
        "SELECT t.id, t.status, t.files, t.changed_files, t.cost_micro_usd, t.updated_at,
           (SELECT COUNT(*) FROM agent_runs r WHERE r.task_id = t.id) AS runs,
           t.activity_count + (SELECT COUNT(*) FROM comments c WHERE c.task_id = t.id AND c.author_role <> 'runner') AS updates,
           (SELECT COUNT(*) FROM verdicts v WHERE v.task_id = t.id AND v.verdict = 'sent_back' AND v.actor <> 'runner') AS send_backs,
           (SELECT COUNT(*) FROM verdicts v WHERE v.task_id = t.id AND v.verdict = 'sent_back' AND v.actor = 'runner') AS conflicts
         FROM ({tasks}) AS t"
    )
}

/// Reads the open tasks, with the paths that their agents hold.
pub(crate) async fn open(connection: &mut SqliteConnection, project: &ProjectId) -> Result<Vec<TaskActivity>> {
    let mut held: BTreeMap<TaskId, Vec<ClaimPath>> = BTreeMap::new();
    for row in &sqlx::query(CLAIMED).bind(project.as_str()).fetch_all(&mut *connection).await? {
        held.entry(parsed(row, "task_id")?).or_default().extend(row.try_get::<&str, _>("path")?.parse().ok());
    }
    let sql = open_sql();
    let rows = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(project.as_str()).fetch_all(connection).await?;
    rows.iter().map(|row| activity_of(row, held.remove(&parsed(row, "id")?).unwrap_or_default())).collect()
}

/// Reads the tasks that ended since then, newest first: one more than count, to tell whether there are more.
pub(crate) async fn ended(connection: &mut SqliteConnection, project: &ProjectId, since: &Timestamp) -> Result<Vec<TaskActivity>> {
    let most = i64::try_from(MAX_FINISHED + 1).unwrap_or(i64::MAX);
    let sql = ended_sql();
    let query = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(project.as_str()).bind(since.to_string()).bind(most);
    let mut rows = query.fetch_all(connection).await?;
    rows.sort_by_cached_key(|row| std::cmp::Reverse(row.try_get::<String, _>("updated_at").unwrap_or_default()));
    rows.iter().map(|row| activity_of(row, Vec::new())).collect()
}

/// Reads a task. The files that it changed are better known than those that it was planned to change.
fn activity_of(row: &SqliteRow, mut paths: Vec<ClaimPath>) -> Result<TaskActivity> {
    let changed: Vec<String> = json(row, "changed_files")?.unwrap_or_default();
    // Nobody can claim a name with a line break, or one that is too long.
    paths.extend(changed.iter().filter_map(|path| ClaimPath::parse(path, &[]).ok()));
    if paths.is_empty() {
        paths = json::<PlannedFiles>(row, "files")?.unwrap_or_default().paths().to_vec();
    }
    paths.sort();
    paths.dedup();
    Ok(TaskActivity {
        paths,
        is_open: matches!(row.try_get("status")?, "backlog" | "in_progress" | "in_review"),
        runs: count(row, "runs")?,
        updates: count(row, "updates")?,
        send_backs: count(row, "send_backs")?,
        conflicts: count(row, "conflicts")?,
        cost_micro_usd: row.try_get("cost_micro_usd")?,
    })
}
