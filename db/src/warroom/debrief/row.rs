//! Reads debriefs, and the tasks that keep a session open. Must not change anything.

use domain::id::{ProjectId, TaskId};
use domain::warroom::debrief::{Debrief, MAX_NAMED};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::engine::column::{optional, parsed};
use crate::error::Result;

/// The debriefs of a project `$1` before the one `$2`, newest first, at most `$3`.
pub(crate) const OF_PROJECT: &str = "SELECT * FROM debriefs WHERE project_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3";
/// Whether a debrief was filed in the session of a project `$1`.
pub(crate) const FILED: &str = "SELECT EXISTS (SELECT 1 FROM debriefs WHERE project_id = $1 AND session_ended_at IS NULL)";
/// The tasks of a project `$1` that someone works on, or that an external agent was assigned. Other tasks wait for the next session.
pub(crate) const OPEN: &str =
    "SELECT id FROM tasks WHERE project_id = $1 AND (status IN ('in_progress', 'in_review') OR (status = 'backlog' AND assigned_to IS NOT NULL))
   ORDER BY length(id), id";
/// The tasks of a project `$1` that nobody has begun, at most `$2`.
pub(crate) const WAITING: &str = "SELECT id FROM tasks WHERE project_id = $1 AND status = 'backlog' ORDER BY length(id), id LIMIT $2";

pub(super) async fn list(connection: &mut SqliteConnection, project: &ProjectId, before: i64, limit: u32) -> Result<Vec<Debrief>> {
    let rows = sqlx::query(OF_PROJECT).bind(project.as_str()).bind(before).bind(limit).fetch_all(connection).await?;
    rows.iter().map(debrief_of).collect()
}

pub(super) async fn is_filed(connection: &mut SqliteConnection, project: &ProjectId) -> Result<bool> {
    Ok(sqlx::query_scalar(FILED).bind(project.as_str()).fetch_one(connection).await?)
}

/// The open tasks, whose number is bounded by that of the agents.
pub(super) async fn open_tasks(connection: &mut SqliteConnection, project: &ProjectId) -> Result<Vec<TaskId>> {
    ids(sqlx::query_scalar(OPEN).bind(project.as_str()).fetch_all(connection).await?)
}

pub(super) async fn waiting(connection: &mut SqliteConnection, project: &ProjectId) -> Result<Vec<TaskId>> {
    ids(sqlx::query_scalar(WAITING).bind(project.as_str()).bind(i64::try_from(MAX_NAMED).unwrap_or(i64::MAX)).fetch_all(connection).await?)
}

fn ids(found: Vec<String>) -> Result<Vec<TaskId>> {
    Ok(found.iter().map(|id| id.parse()).collect::<std::result::Result<_, _>>()?)
}

pub(super) fn debrief_of(row: &SqliteRow) -> Result<Debrief> {
    Ok(Debrief {
        id: row.try_get("id")?,
        project_id: parsed(row, "project_id")?,
        author: row.try_get("author")?,
        run_id: optional(row, "run_id")?,
        summary: row.try_get("summary")?,
        created_at: parsed(row, "created_at")?,
        session_ended_at: optional(row, "session_ended_at")?,
    })
}
