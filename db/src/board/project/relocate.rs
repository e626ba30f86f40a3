//! Gives the projects of a repository its new folder, after it was moved.
//!
//! The caller compares the record with the repository first.

use domain::board::project::refusal::ProjectRefusal;
use domain::board::project::{Project, ProjectEvent};
use domain::id::{ProjectId, RunId, TaskId};
use domain::runs::evidence::{CheckoutRecord, KnownCommit, RepositoryPlace, RepositoryRecord};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use super::row;
use crate::caller::Caller;
use crate::engine::column::parsed;
use crate::engine::open::Db;
use crate::engine::tx::NoEventReason;
use crate::error::Result;

const OF_REPOSITORY: &str = concat!(row::select_project!(), "WHERE p.git_dir = $1 ORDER BY length(p.id), p.id");

impl Db {
    /// Returns what the repository of a project must hold: the tips of all projects on it, and the checkouts of their tasks.
    ///
    /// # Errors
    /// When the project does not exist, or agents work in the repository.
    pub async fn repository_record(&self, id: &ProjectId) -> Result<RepositoryRecord> {
        let mut connection = self.readers.acquire().await?;
        let project = row::read(&mut connection, id).await?;
        refuse_live_runs(&mut connection, &project).await?;
        let projects = sqlx::query(OF_REPOSITORY).bind(&project.git_dir);
        let projects = projects.fetch_all(&mut *connection).await?;
        let mut commits = Vec::new();
        for found in &projects {
            let Project { base_branch, base_head, integration_branch, integration_head, .. } = row::project_of(found)?;
            // The project branch holds the base, whose own record someone may have removed by now.
            commits.push(match integration_head {
                Some(sha) => KnownCommit { name: format!("the tip of {integration_branch}"), sha },
                None => KnownCommit { name: format!("the tip of {base_branch}"), sha: base_head },
            });
        }
        let checkouts = sqlx::query(
            "SELECT id, branch, worktree_path FROM tasks
             WHERE worktree_path IS NOT NULL AND branch IS NOT NULL AND project_id IN (SELECT id FROM projects WHERE git_dir = $1)
             ORDER BY length(id), id",
        );
        let checkouts = checkouts.bind(&project.git_dir).fetch_all(&mut *connection).await?;
        let checkout = |found: &SqliteRow| -> Result<CheckoutRecord> {
            Ok(CheckoutRecord { task: parsed(found, "id")?, branch: found.try_get("branch")?, path: found.try_get("worktree_path")? })
        };
        Ok(RepositoryRecord { commits, checkouts: checkouts.iter().map(checkout).collect::<Result<_>>()? })
    }

    /// Records the new folder of the repository of a project, for all projects on it. `moved` are the checkouts that were moved with it.
    ///
    /// # Errors
    /// When the caller is not a person, or agents work in the repository.
    pub async fn relocate_project(&self, caller: &Caller, id: &ProjectId, place: RepositoryPlace, moved: Vec<(TaskId, String)>) -> Result<Project> {
        let (caller, id) = (caller.clone(), id.clone());
        self.write(move |tx| {
            Box::pin(async move {
                caller.require_decision("moving repositories")?;
                let before = row::read(&mut tx.connection, &id).await?;
                if before.git_dir == place.git_dir && before.repo_path == place.repo_path {
                    tx.skip_event(NoEventReason::NothingChanged);
                    return Ok(before);
                }
                refuse_live_runs(&mut tx.connection, &before).await?;
                // A project that was created at the new place decides what agents may reach there.
                let changed = sqlx::query(
                    "UPDATE projects SET repo_path = $2, git_dir = $3, updated_at = $4,
                            allowed_access = COALESCE((SELECT allowed_access FROM projects WHERE git_dir = $3 LIMIT 1), allowed_access)
                     WHERE git_dir = $1 RETURNING id",
                )
                .bind(&before.git_dir)
                .bind(&place.repo_path)
                .bind(&place.git_dir)
                .bind(tx.now.to_string())
                .fetch_all(&mut tx.connection)
                .await?;
                if before.git_dir != place.git_dir {
                    for statement in [
                        "DELETE FROM owned_refs WHERE git_dir = $1 AND name IN (SELECT name FROM owned_refs WHERE git_dir = $2)",
                        "UPDATE owned_refs SET git_dir = $2 WHERE git_dir = $1",
                    ] {
                        sqlx::query(statement).bind(&before.git_dir).bind(&place.git_dir).execute(&mut tx.connection).await?;
                    }
                }
                for (task, path) in &moved {
                    sqlx::query("UPDATE tasks SET worktree_path = $2 WHERE id = $1 AND worktree_path IS NOT NULL")
                        .bind(task.as_str())
                        .bind(path)
                        .execute(&mut tx.connection)
                        .await?;
                }
                for row in &changed {
                    let project: ProjectId = parsed(row, "id")?;
                    tx.record_for_project(&caller, &project, ProjectEvent::Relocated { repo_path: place.repo_path.clone() });
                }
                row::read(&mut tx.connection, &id).await
            })
        })
        .await
    }
}

async fn refuse_live_runs(connection: &mut SqliteConnection, project: &Project) -> Result<()> {
    let live = sqlx::query(
        "SELECT id FROM agent_runs WHERE completed_at IS NULL
           AND task_id IN (SELECT id FROM tasks WHERE project_id IN (SELECT id FROM projects WHERE git_dir = $1)) ORDER BY length(id), id",
    );
    let live = live.bind(&project.git_dir).fetch_all(connection).await?;
    let runs = live.iter().map(|row| parsed(row, "id")).collect::<Result<Vec<RunId>>>()?;
    if runs.is_empty() { Ok(()) } else { Err(ProjectRefusal::AgentsWork { project: project.id.clone(), runs }.into()) }
}
