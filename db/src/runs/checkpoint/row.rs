//! Reads checkpoints. Must not change anything.

use domain::id::{RunId, TaskId};
use domain::runs::checkpoint::Checkpoint;
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;

use crate::engine::column::{json, parsed};
use crate::error::Result;

/// The runs of a task that have checkpoints. Grows with the runs of that task alone.
pub(crate) const OF_TASK: &str = "SELECT id, checkpoints FROM agent_runs WHERE task_id = $1 AND checkpoints <> '[]' ORDER BY length(id), id";

/// All checkpoints of a task with their runs, oldest first.
pub(crate) async fn checkpoints(connection: &mut SqliteConnection, task: &TaskId) -> Result<Vec<(RunId, Checkpoint)>> {
    let rows = sqlx::query(OF_TASK).bind(task.as_str()).fetch_all(connection).await?;
    let runs: Vec<Vec<(RunId, Checkpoint)>> = rows.iter().map(of_run).collect::<Result<_>>()?;
    Ok(runs.into_iter().flatten().collect())
}

/// The checkpoints of a row with an `id` and `checkpoints`.
pub(crate) fn of_run(row: &SqliteRow) -> Result<Vec<(RunId, Checkpoint)>> {
    let id: RunId = parsed(row, "id")?;
    let checkpoints: Vec<Checkpoint> = json(row, "checkpoints")?.unwrap_or_default();
    Ok(checkpoints.into_iter().map(|checkpoint| (id.clone(), checkpoint)).collect())
}
