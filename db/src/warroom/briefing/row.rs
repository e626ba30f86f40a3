//! Reads what a briefing contains, each part by index and bounded. Must not change anything.

use domain::id::ProjectId;
use domain::warroom::briefing::{MAX_ENTRIES, MAX_TASKS};
use domain::warroom::party::PartyTask;
use domain::warroom::raid_log::{Priority, RaidLogEntry};
use sqlx::{AssertSqlSafe, Row, SqliteConnection};

use crate::engine::column::parsed;
use crate::error::Result;
use crate::warroom::raid_log::row as raid_log;

/// The open tasks of a project `$1`, those in progress or in review first, at most `$2`.
pub(crate) const OPEN_TASKS: &str = "SELECT id, title, status FROM tasks
    WHERE project_id = $1 AND status IN ('backlog', 'in_progress', 'in_review') ORDER BY status = 'backlog', length(id), id LIMIT $2";
/// Those that are assigned to `$3`.
pub(crate) const ASSIGNED_TASKS: &str = "SELECT id, title, status FROM tasks
    WHERE project_id = $1 AND assigned_to = $3 AND status IN ('backlog', 'in_progress', 'in_review')
    ORDER BY status = 'backlog', length(id), id LIMIT $2";

/// Lists the open tasks of a project, or only those that are assigned to an agent.
pub(super) async fn open_tasks(connection: &mut SqliteConnection, project: &ProjectId, assignee: Option<&str>) -> Result<Vec<PartyTask>> {
    let query = sqlx::query(if assignee.is_some() { ASSIGNED_TASKS } else { OPEN_TASKS }).bind(project.as_str()).bind(MAX_TASKS);
    let query = match assignee {
        Some(name) => query.bind(name),
        None => query,
    };
    let rows = query.fetch_all(connection).await?;
    rows.iter().map(|row| Ok(PartyTask { id: parsed(row, "id")?, title: row.try_get("title")?, status: parsed(row, "status")? })).collect()
}

/// Returns the newest entries of the raid log that change the work of others.
pub(crate) async fn newest_entries(connection: &mut SqliteConnection, project: &ProjectId) -> Result<Vec<RaidLogEntry>> {
    let priorities: Vec<Priority> = Priority::High.and_above().collect();
    let sql = AssertSqlSafe(raid_log::list_sql(&priorities, false));
    let rows = sqlx::query(sql).bind(project.as_str()).bind(i64::MAX).bind(MAX_ENTRIES).fetch_all(connection).await?;
    rows.iter().map(raid_log::entry_of).collect()
}
