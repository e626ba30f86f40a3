//! Pauses: stored orders of a person to start no new agent, in one project or in all. Agents at work go on.

pub(crate) mod row;

use domain::board::project::{Project, ProjectEvent};
use domain::event::Event;
use domain::id::ProjectId;
use domain::runs::pause::{PauseEvent, PauseStatus};

use crate::board::project::row as projects;
use crate::caller::Caller;
use crate::engine::open::Db;
use crate::engine::tx::NoEventReason;
use crate::error::Result;

impl Db {
    /// Lets no new agent start in a project until [`Self::resume_project`].
    ///
    /// # Errors
    /// When the project does not exist.
    pub async fn pause_project(&self, caller: &Caller, id: &ProjectId) -> Result<Project> {
        let query = "UPDATE projects SET paused_at = $2, updated_at = $2 WHERE id = $1 AND paused_at IS NULL";
        self.change_project(caller, id, "pausing projects", query, ProjectEvent::Paused {}).await
    }

    /// Ends the pause of a project.
    ///
    /// # Errors
    /// When the project does not exist.
    pub async fn resume_project(&self, caller: &Caller, id: &ProjectId) -> Result<Project> {
        let query = "UPDATE projects SET paused_at = NULL, resumed_at = $2, updated_at = $2 WHERE id = $1 AND paused_at IS NOT NULL";
        self.change_project(caller, id, "resuming projects", query, ProjectEvent::Resumed {}).await
    }

    /// Lets no new agent start in any project until [`Self::resume_all`]. Projects that are paused themselves stay so afterwards.
    ///
    /// # Errors
    /// When the caller is not a person.
    pub async fn pause_all(&self, caller: &Caller) -> Result<PauseStatus> {
        self.change_all(caller, "pausing all projects", ["paused_at", "resumed_at"], PauseEvent::Paused {}.into()).await
    }

    /// Ends the pause of all projects.
    ///
    /// # Errors
    /// When the caller is not a person.
    pub async fn resume_all(&self, caller: &Caller) -> Result<PauseStatus> {
        self.change_all(caller, "resuming all projects", ["resumed_at", "paused_at"], PauseEvent::Resumed {}.into()).await
    }

    /// Whether all projects are paused.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn pause_status(&self) -> Result<PauseStatus> {
        let mut connection = self.readers.acquire().await?;
        Ok(PauseStatus { paused_at: row::of_all(&mut connection).await?.paused_at })
    }

    async fn change_project(
        &self,
        caller: &Caller,
        id: &ProjectId,
        action: &'static str,
        query: &'static str,
        event: ProjectEvent,
    ) -> Result<Project> {
        let (caller, id) = (caller.clone(), id.clone());
        self.write(move |tx| {
            Box::pin(async move {
                caller.require_person(action)?;
                let changed = sqlx::query(query).bind(id.as_str()).bind(tx.now.to_string()).execute(&mut tx.connection).await?;
                if changed.rows_affected() == 0 {
                    tx.skip_event(NoEventReason::NothingChanged);
                } else {
                    tx.record_for_project(&caller, &id, event);
                }
                projects::read(&mut tx.connection, &id).await
            })
        })
        .await
    }

    /// Replaces the time `to_remove` by the time `to_set`, unless that is set already.
    async fn change_all(&self, caller: &Caller, action: &'static str, [to_set, to_remove]: [&'static str; 2], event: Event) -> Result<PauseStatus> {
        let caller = caller.clone();
        self.write(move |tx| {
            Box::pin(async move {
                caller.require_person(action)?;
                let was_paused = row::of_all(&mut tx.connection).await?.paused_at.is_some();
                if was_paused == (to_set == "paused_at") {
                    tx.skip_event(NoEventReason::NothingChanged);
                } else {
                    sqlx::query("DELETE FROM meta WHERE key = $1").bind(to_remove).execute(&mut tx.connection).await?;
                    sqlx::query("INSERT INTO meta (key, value) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = excluded.value")
                        .bind(to_set)
                        .bind(tx.now.to_string())
                        .execute(&mut tx.connection)
                        .await?;
                    tx.record(&caller, event);
                }
                Ok(PauseStatus { paused_at: row::of_all(&mut tx.connection).await?.paused_at })
            })
        })
        .await
    }
}
