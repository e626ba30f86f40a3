//! Reads permission requests. Must not change anything.

use domain::id::TaskId;
use domain::runs::permission::PermissionRequest;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::engine::column::{json, optional, parsed};
use crate::error::Result;

/// The requests of the live run of a task that nobody answered.
pub(crate) const OPEN: &str = "SELECT p.* FROM agent_runs r JOIN permission_requests p ON p.run_id = r.id
  WHERE r.task_id = $1 AND r.completed_at IS NULL AND p.closed_at IS NULL AND p.answer IS NULL ORDER BY p.id";

pub(crate) async fn open(connection: &mut SqliteConnection, task: &TaskId) -> Result<Vec<PermissionRequest>> {
    let rows = sqlx::query(OPEN).bind(task.as_str()).fetch_all(connection).await?;
    rows.iter().map(request_of).collect()
}

pub(super) fn request_of(row: &SqliteRow) -> Result<PermissionRequest> {
    Ok(PermissionRequest {
        id: row.try_get("id")?,
        run_id: parsed(row, "run_id")?,
        tool: row.try_get("tool")?,
        input: row.try_get("input")?,
        rule: json(row, "rule")?,
        asked_at: parsed(row, "asked_at")?,
        answer: optional(row, "answer")?,
        reason: row.try_get("reason")?,
        answered_by: row.try_get("answered_by")?,
    })
}
