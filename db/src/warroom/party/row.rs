//! Reads the tasks of the agents that are present. Must not change anything.

use domain::id::ProjectId;
use domain::warroom::party::PartyTask;
use sqlx::{Row, SqliteConnection};

use crate::engine::column::parsed;
use crate::error::Result;

/// The task of each live run, and the open tasks that are assigned to agents: those in progress or in review first.
pub(crate) const TASKS_OF_PRESENT: &str = "SELECT a.name, t.id, t.title, t.status, length(t.id) AS digits, 0 AS place
    FROM agents a JOIN agent_runs r ON r.id = a.run_id AND r.completed_at IS NULL JOIN tasks t ON t.id = r.task_id
    WHERE a.project_id = $1 AND a.left_at IS NULL
  UNION ALL SELECT a.name, t.id, t.title, t.status, length(t.id), t.status = 'backlog'
    FROM agents a JOIN tasks t ON t.project_id = a.project_id AND t.assigned_to = a.name AND t.status IN ('backlog', 'in_progress', 'in_review')
    WHERE a.project_id = $1 AND a.left_at IS NULL AND a.run_id IS NULL
  ORDER BY place, digits, id";

/// Returns the tasks with the names of their agents.
pub(crate) async fn tasks_of_present(connection: &mut SqliteConnection, project: &ProjectId) -> Result<Vec<(String, PartyTask)>> {
    let rows = sqlx::query(TASKS_OF_PRESENT).bind(project.as_str()).fetch_all(connection).await?;
    rows.iter()
        .map(|row| Ok((row.try_get("name")?, PartyTask { id: parsed(row, "id")?, title: row.try_get("title")?, status: parsed(row, "status")? })))
        .collect()
}
