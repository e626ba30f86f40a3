//! Reads zones. Must not change anything.

use domain::board::planned_files::PlannedFiles;
use domain::id::{ProjectId, TaskId};
use domain::warroom::zone::Zone;
use sqlx::sqlite::SqliteRow;
use sqlx::{QueryBuilder, Row, Sqlite, SqliteConnection};

use crate::engine::column::{optional, parsed};
use crate::error::Result;

/// The zones of a project `$1`.
pub(crate) const OF_PROJECT: &str = "SELECT * FROM zones WHERE project_id = $1 ORDER BY name";

pub(crate) async fn of_project(connection: &mut SqliteConnection, project: &ProjectId) -> Result<Vec<Zone>> {
    sqlx::query(OF_PROJECT).bind(project.as_str()).fetch_all(connection).await?.iter().map(zone_of).collect()
}

/// Returns the task of the managed oracle of a zone, if someone asked it.
pub(crate) async fn oracle_task(connection: &mut SqliteConnection, project: &ProjectId, zone: &str) -> Result<Option<TaskId>> {
    let row = sqlx::query("SELECT task_id FROM zones WHERE project_id = $1 AND name = $2").bind(project.as_str()).bind(zone);
    row.fetch_optional(connection).await?.map_or(Ok(None), |row| optional(&row, "task_id"))
}

/// Returns the zone that the task of a managed oracle is about, if it still exists.
pub(crate) async fn of_oracle_task(connection: &mut SqliteConnection, task: &TaskId) -> Result<Option<Zone>> {
    let row = sqlx::query("SELECT * FROM zones WHERE task_id = $1").bind(task.as_str()).fetch_optional(connection).await?;
    row.as_ref().map(zone_of).transpose()
}

/// The planned files of tasks, which follow.
pub(crate) const PLANNED: &str = "SELECT id, files FROM tasks WHERE files IS NOT NULL AND id IN (";

/// Returns the planned files of tasks. One without any is missing.
pub(crate) async fn planned(connection: &mut SqliteConnection, tasks: &[TaskId]) -> Result<Vec<(TaskId, PlannedFiles)>> {
    let mut query: QueryBuilder<Sqlite> = QueryBuilder::new(PLANNED);
    let mut list = query.separated(", ");
    for task in tasks {
        list.push_bind(task.as_str());
    }
    query.push(")");
    let rows = query.build().fetch_all(connection).await?;
    rows.iter().map(|row| Ok((parsed(row, "id")?, serde_json::from_str(row.try_get("files")?)?))).collect()
}

fn zone_of(row: &SqliteRow) -> Result<Zone> {
    Ok(Zone {
        project_id: parsed(row, "project_id")?,
        name: row.try_get("name")?,
        paths: serde_json::from_str(row.try_get("paths")?)?,
        owner: row.try_get("owner")?,
        oracle: row.try_get("oracle")?,
        author: row.try_get("author")?,
        set_at: parsed(row, "set_at")?,
    })
}
