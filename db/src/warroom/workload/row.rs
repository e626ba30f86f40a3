//! Reads how much tasks will cost. Must not change anything.

use std::collections::BTreeSet;

use domain::board::planned_files::PlannedFiles;
use domain::id::{ProjectId, TaskId};
use domain::warroom::workload::Workload;
use sqlx::{Row, SqliteConnection};

use crate::engine::column::{json, parsed};
use crate::error::Result;

/// The tasks of a project `$1` that someone could begin.
pub(crate) const AVAILABLE: &str = "SELECT id, files, description FROM tasks WHERE project_id = $1 AND status = 'backlog' AND assigned_to IS NULL";

pub(super) async fn light(connection: &mut SqliteConnection, project: &ProjectId) -> Result<BTreeSet<TaskId>> {
    let mut light = BTreeSet::new();
    for row in &sqlx::query(AVAILABLE).bind(project.as_str()).fetch_all(connection).await? {
        let files: PlannedFiles = json(row, "files")?.unwrap_or_default();
        if Workload::of(&files, row.try_get("description")?) == Workload::Light {
            light.insert(parsed(row, "id")?);
        }
    }
    Ok(light)
}
