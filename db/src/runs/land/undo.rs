//! Taking a landing back: its tasks wait to be landed again. Must not know how the base branch is set back.

use domain::board::project::{Project, ProjectEvent};
use domain::id::ProjectId;
use domain::runs::land::{LandRefusal, Landing};

use crate::board::finished::write as finished;
use crate::board::project::row as projects;
use crate::caller::Caller;
use crate::engine::open::Db;
use crate::error::Result;

impl Db {
    /// Returns the last landing of a project, which alone can be undone.
    ///
    /// # Errors
    /// When the project does not exist, has no landing that moved its base branch, or `asked` is not the last one.
    pub async fn landing_to_undo(&self, id: &ProjectId, asked: Option<i64>) -> Result<(Project, Landing)> {
        let project = self.project(id).await?;
        let landing = last(&project, asked)?;
        Ok((project, landing))
    }

    /// Records that the base branch is where it was before the landing `landing`, the last one of the project.
    ///
    /// # Errors
    /// When the caller is not a person, or as [`Db::landing_to_undo`].
    pub async fn record_undone_landing(&self, caller: &Caller, id: &ProjectId, landing: i64) -> Result<Project> {
        let (caller, id) = (caller.clone(), id.clone());
        self.write(move |tx| {
            Box::pin(async move {
                caller.require_decision("undoing a landing")?;
                let Landing { base_branch, sha, before_sha: before, tasks, .. } =
                    last(&projects::read(&mut tx.connection, &id).await?, Some(landing))?;
                let (now, by) = (tx.now.to_string(), caller.actor().to_string());
                let undone = sqlx::query("UPDATE landings SET undone_at = $2, undone_by = $3 WHERE id = $1").bind(landing).bind(&now).bind(by);
                undone.execute(&mut tx.connection).await?;
                sqlx::query("UPDATE tasks SET landing_id = NULL WHERE landing_id = $1").bind(landing).execute(&mut tx.connection).await?;
                finished::recount_to_land(tx, &id).await?;
                sqlx::query(
                    "UPDATE projects SET base_head = $2, updated_at = $3,
                       landed_sha = (SELECT l.tip FROM landings l WHERE l.project_id = $1 AND l.undone_at IS NULL AND l.base_branch = $4
                                     ORDER BY l.id DESC LIMIT 1)
                     WHERE id = $1",
                )
                .bind(id.as_str())
                .bind(&before)
                .bind(&now)
                .bind(&base_branch)
                .execute(&mut tx.connection)
                .await?;
                tx.record_for_project(&caller, &id, ProjectEvent::LandingUndone { base_branch, sha, before, tasks });
                projects::read(&mut tx.connection, &id).await
            })
        })
        .await
    }
}

/// The last landing of a project, if it moved the base branch that the project still has.
fn last(project: &Project, asked: Option<i64>) -> Result<Landing> {
    let movable =
        |landing: &&Landing| landing.pull_request.is_none() && landing.before_sha != landing.sha && landing.base_branch == project.base_branch;
    let last = project.landed.as_ref().filter(movable).ok_or_else(|| LandRefusal::NothingToUndo { project: project.id.clone() })?;
    match asked.filter(|asked| *asked != last.id) {
        Some(landing) => Err(LandRefusal::NotTheLastLanding { project: project.id.clone(), landing, last: last.id }.into()),
        None => Ok(last.clone()),
    }
}
