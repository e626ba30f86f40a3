//! Deletes projects in two steps: the owner deletes one, and the runner removes its rows after the checkouts of its tasks are gone.
//!
//! Must not touch a repository: the runner keeps unmerged work and removes checkouts.

use std::path::PathBuf;

use domain::board::project::{Project, ProjectEvent};
use domain::board::status::{CancelReason, Status};
use domain::id::{ProjectId, TaskId};
use domain::refusal::Refusal;
use domain::runs::evidence::EvidenceResult;
use sqlx::SqliteConnection;

use super::archive::refuse_at_work;
use super::row;
use crate::board::task::row as tasks;
use crate::board::task::write::change::MoveRequest;
use crate::caller::Caller;
use crate::consequences::project_removed::remove_rows;
use crate::consequences::task_moved::move_task;
use crate::engine::open::Db;
use crate::engine::tx::NoEventReason;
use crate::error::Result;
use crate::warroom::claim::write as claim;

const OPEN_TASKS: &str =
    "SELECT id FROM tasks WHERE project_id = $1 AND status IN ('backlog', 'in_progress', 'in_review') ORDER BY length(id) DESC, id DESC";

const FOLDERS: &str = "SELECT r.run_dir FROM tasks t JOIN agent_runs r ON r.task_id = t.id
  WHERE t.project_id = $1 AND r.run_dir IS NOT NULL AND r.dir_removed_at IS NULL";

impl Db {
    /// Deletes a project: archives it for good and cancels its open tasks, so that the runner removes their checkouts. `title` proves that the
    /// person means this one.
    ///
    /// # Errors
    /// When the project does not exist or has another title, or an agent or a person works on one of its tasks.
    pub async fn delete_project(&self, caller: &Caller, id: &ProjectId, title: &str) -> Result<Project> {
        let (caller, id, title) = (caller.clone(), id.clone(), title.trim().to_owned());
        self.write(move |tx| {
            Box::pin(async move {
                caller.require_decision("deleting projects")?;
                let before = row::read(&mut tx.connection, &id).await?;
                if before.deleted_at.is_some() {
                    tx.skip_event(NoEventReason::NothingChanged);
                    return Ok(before);
                }
                if title != before.title {
                    return Err(Refusal::invalid("title", format!("it is not the title of {id}"), "Type the title as the board shows it.").into());
                }
                refuse_at_work(&mut tx.connection, &id).await?;
                let open: Vec<String> = sqlx::query_scalar(OPEN_TASKS).bind(id.as_str()).fetch_all(&mut tx.connection).await?;
                for task in open {
                    let task = tasks::task(&mut tx.connection, &task.parse::<TaskId>()?).await?;
                    let cancel = MoveRequest { reason: Some(CancelReason::Obsolete.to_string()), ..MoveRequest::to(Status::Cancelled) };
                    move_task(tx, &caller, &task, &cancel, &EvidenceResult::Nothing).await?;
                }
                sqlx::query(
                    "UPDATE projects SET archived_at = COALESCE(archived_at, $2), deleted_at = $2, deleted_by = $3, updated_at = $2 WHERE id = $1",
                )
                .bind(id.as_str())
                .bind(tx.now.to_string())
                .bind(caller.actor().to_string())
                .execute(&mut tx.connection)
                .await?;
                claim::release_of_project(tx, &caller, &id).await?;
                tx.record_for_project(&caller, &id, ProjectEvent::Deleted {});
                row::read(&mut tx.connection, &id).await
            })
        })
        .await
    }

    /// Lists the folders of the runs of a project.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn run_folders_of(&self, id: &ProjectId) -> Result<Vec<PathBuf>> {
        let folders: Vec<String> = sqlx::query_scalar(FOLDERS).bind(id.as_str()).fetch_all(&self.readers).await?;
        Ok(folders.into_iter().map(PathBuf::from).collect())
    }

    /// Removes the rows of a deleted project, unless something of it is left outside of the store. Its events are replaced by empty ones.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn remove_deleted_project(&self, id: &ProjectId) -> Result<()> {
        let id = id.clone();
        self.write(move |tx| {
            Box::pin(async move {
                let Some(by) = deleted_by(&mut tx.connection, &id).await? else {
                    tx.skip_event(NoEventReason::NothingChanged);
                    return Ok(());
                };
                remove_rows(tx, &id).await?;
                tx.record(&Caller::Runner, ProjectEvent::Removed { project: id, by });
                Ok(())
            })
        })
        .await
    }
}

/// The participant that deleted a project whose rows can be removed.
async fn deleted_by(connection: &mut SqliteConnection, id: &ProjectId) -> Result<Option<String>> {
    if !row::removable(connection).await?.contains(id) {
        return Ok(None);
    }
    Ok(sqlx::query_scalar("SELECT deleted_by FROM projects WHERE id = $1").bind(id.as_str()).fetch_optional(connection).await?)
}
