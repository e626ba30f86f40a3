//! Archives and restores projects. An archived project can be read, but is in no list of current ones, and no agent starts in it.

use domain::board::project::refusal::ProjectRefusal;
use domain::board::project::{Project, ProjectEvent};
use domain::id::{ProjectId, RunId, TaskId};
use sqlx::SqliteConnection;

use super::row;
use crate::caller::Caller;
use crate::engine::open::Db;
use crate::engine::tx::NoEventReason;
use crate::error::Result;
use crate::warroom::claim::write as claim;

pub(crate) const LIVE_RUNS: &str = "SELECT r.id FROM agent_runs r JOIN tasks t ON t.id = r.task_id
  WHERE r.completed_at IS NULL AND t.project_id = $1 ORDER BY length(r.id), r.id";

pub(crate) const TAKEN_OVER: &str = "SELECT id FROM tasks
  WHERE project_id = $1 AND status IN ('backlog', 'in_progress', 'in_review') AND held_by = 'takeover' ORDER BY length(id), id";

impl Db {
    /// Archives a project.
    ///
    /// # Errors
    /// When the project does not exist, or an agent or a person works on one of its tasks.
    pub async fn archive_project(&self, caller: &Caller, id: &ProjectId) -> Result<Project> {
        let (caller, id) = (caller.clone(), id.clone());
        self.write(move |tx| {
            Box::pin(async move {
                caller.require_decision("archiving projects")?;
                let before = row::read(&mut tx.connection, &id).await?;
                if before.archived_at.is_some() {
                    tx.skip_event(NoEventReason::NothingChanged);
                    return Ok(before);
                }
                refuse_at_work(&mut tx.connection, &id).await?;
                sqlx::query("UPDATE projects SET archived_at = $2, updated_at = $2 WHERE id = $1")
                    .bind(id.as_str())
                    .bind(tx.now.to_string())
                    .execute(&mut tx.connection)
                    .await?;
                claim::release_of_project(tx, &caller, &id).await?;
                tx.record_for_project(&caller, &id, ProjectEvent::Archived {});
                row::read(&mut tx.connection, &id).await
            })
        })
        .await
    }

    /// Restores an archived project.
    ///
    /// # Errors
    /// When the project does not exist, or was deleted.
    pub async fn restore_project(&self, caller: &Caller, id: &ProjectId) -> Result<Project> {
        let (caller, id) = (caller.clone(), id.clone());
        self.write(move |tx| {
            Box::pin(async move {
                caller.require_decision("restoring projects")?;
                let before = row::read(&mut tx.connection, &id).await?;
                if before.deleted_at.is_some() {
                    return Err(ProjectRefusal::IsDeleted { project: id }.into());
                }
                if before.archived_at.is_none() {
                    tx.skip_event(NoEventReason::NothingChanged);
                    return Ok(before);
                }
                // Like the end of a pause, so that no wait counts the time in the archive.
                sqlx::query("UPDATE projects SET archived_at = NULL, resumed_at = $2, updated_at = $2 WHERE id = $1")
                    .bind(id.as_str())
                    .bind(tx.now.to_string())
                    .execute(&mut tx.connection)
                    .await?;
                tx.record_for_project(&caller, &id, ProjectEvent::Restored {});
                row::read(&mut tx.connection, &id).await
            })
        })
        .await
    }
}

/// Refuses a project on which an agent or a person works.
pub(super) async fn refuse_at_work(connection: &mut SqliteConnection, id: &ProjectId) -> Result<()> {
    let runs: Vec<String> = sqlx::query_scalar(LIVE_RUNS).bind(id.as_str()).fetch_all(&mut *connection).await?;
    let taken_over: Vec<String> = sqlx::query_scalar(TAKEN_OVER).bind(id.as_str()).fetch_all(connection).await?;
    if runs.is_empty() && taken_over.is_empty() {
        return Ok(());
    }
    let runs = runs.iter().map(|run| run.parse()).collect::<std::result::Result<Vec<RunId>, _>>()?;
    let taken_over = taken_over.iter().map(|task| task.parse()).collect::<std::result::Result<Vec<TaskId>, _>>()?;
    Err(ProjectRefusal::AtWork { project: id.clone(), runs, taken_over }.into())
}
