//! Hats: the role that an agent takes on a task. No agent may hold two conflicting hats in one project.

pub(crate) mod write;

use domain::id::ProjectId;
use domain::team::hat::HatAssignment;
use sqlx::Row;

use crate::engine::column::parsed;
use crate::engine::open::Db;
use crate::error::Result;

impl Db {
    /// Lists the hats that were assigned in a project, oldest first.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn hats(&self, project: &ProjectId) -> Result<Vec<HatAssignment>> {
        let rows = sqlx::query(
            "SELECT h.agent_name, h.hat, h.task_id, h.created_at, t.title, t.status FROM hats h JOIN tasks t ON t.id = h.task_id
             WHERE h.project_id = $1 ORDER BY h.created_at, h.id",
        )
        .bind(project.as_str())
        .fetch_all(&self.readers)
        .await?;
        rows.iter()
            .map(|row| {
                Ok(HatAssignment {
                    agent_name: row.try_get("agent_name")?,
                    role_hat: parsed(row, "hat")?,
                    task_id: parsed(row, "task_id")?,
                    title: row.try_get("title")?,
                    status: parsed(row, "status")?,
                    since: parsed(row, "created_at")?,
                })
            })
            .collect()
    }
}
