//! The facts for a formation that the store knows. Reading them costs what is open, however much is finished.

use domain::id::ProjectId;

use crate::engine::open::Db;
use crate::error::Result;

/// How many open tasks of coders in a project `$1` wait for no other task.
pub(crate) const INDEPENDENT: &str = "SELECT COUNT(*) FROM tasks t
    WHERE t.project_id = $1 AND t.phase = 'coder' AND t.status IN ('backlog', 'in_progress', 'in_review')
      AND NOT EXISTS (SELECT 1 FROM dependencies d JOIN tasks o ON o.id = d.depends_on
        WHERE d.task_id = t.id AND o.status IN ('backlog', 'in_progress', 'in_review'))";

impl Db {
    /// Counts the open tasks of coders that wait for no other task.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn independent_tasks(&self, project: &ProjectId) -> Result<u32> {
        let tasks: i64 = sqlx::query_scalar(INDEPENDENT).bind(project.as_str()).fetch_one(&self.readers).await?;
        Ok(u32::try_from(tasks).unwrap_or(u32::MAX))
    }
}
