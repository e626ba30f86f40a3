//! The sandbox of agents: which one the owner chose, what it refused to a run, and what the owner allowed.

pub(crate) mod write;

use domain::board::project::{Project, ProjectEvent};
use domain::id::{ProjectId, RunId};
use domain::runs::parking::ParkReason;
use domain::runs::run::RunChange;
use domain::runs::sandbox::{Access, SandboxEvent, SandboxTier};

use crate::board::project::row as projects;

use crate::board::task::row as tasks;
use crate::caller::Caller;
use crate::engine::column::parsed;
use crate::engine::open::Db;
use crate::engine::tx::NoEventReason;
use crate::error::Result;
use crate::runs::parking::write::resume;
use crate::runs::run::row::read;

/// The most refusals that a run keeps. The first ones explain the others.
const MAX_REFUSALS: usize = 50;

impl Db {
    /// Adds what the sandbox refused to a run. Only new refusals change anything.
    ///
    /// # Errors
    /// When the run does not exist.
    pub async fn record_refusals(&self, id: &RunId, refused: Vec<Access>) -> Result<()> {
        let id = id.clone();
        self.write(move |tx| {
            Box::pin(async move {
                let mut run = read(&mut tx.connection, &id).await?;
                let new: Vec<Access> = refused.into_iter().filter(|access| !run.refusals.contains(access)).collect();
                let new: Vec<Access> = new.into_iter().take(MAX_REFUSALS.saturating_sub(run.refusals.len())).collect();
                if new.is_empty() {
                    tx.skip_event(NoEventReason::NothingChanged);
                    return Ok(());
                }
                run.refusals.extend(new.iter().cloned());
                sqlx::query("UPDATE agent_runs SET refusals = $2 WHERE id = $1")
                    .bind(id.as_str())
                    .bind(serde_json::to_string(&run.refusals)?)
                    .execute(&mut tx.connection)
                    .await?;
                let card = tasks::card(&mut tx.connection, &run.task_id).await?;
                tx.record_for_run(&Caller::Runner, &card.project_id, &card.id, &id, RunChange::AccessRefused { access: new });
                Ok(())
            })
        })
        .await
    }

    /// Allows an access for the agents of a repository. It applies to later runs.
    ///
    /// # Errors
    /// When the caller is not the owner, or it cannot be allowed.
    pub async fn allow_access(&self, caller: &Caller, id: &ProjectId, access: Access) -> Result<Project> {
        let (caller, id) = (caller.clone(), id.clone());
        self.write(move |tx| {
            Box::pin(async move {
                let before = projects::read(&mut tx.connection, &id).await?;
                let mut allowed = before.allowed_access.clone();
                if !allowed.contains(&access) {
                    allowed.push(access);
                }
                write::replace_allowed(tx, &caller, &before, &allowed).await?;
                tx.record_for_project(&caller, &id, ProjectEvent::Edited {});
                projects::read(&mut tx.connection, &id).await
            })
        })
        .await
    }

    /// Stores which sandbox agents get where the configuration leaves the choice, and lets agents start that waited for it.
    ///
    /// # Errors
    /// When the caller is not the owner.
    pub async fn choose_sandbox(&self, caller: &Caller, tier: SandboxTier) -> Result<()> {
        let caller = caller.clone();
        self.write(move |tx| {
            Box::pin(async move {
                caller.require_owner("choosing the sandbox of agents")?;
                sqlx::query("INSERT INTO meta (key, value) VALUES ('sandbox', $1) ON CONFLICT (key) DO UPDATE SET value = excluded.value")
                    .bind(tier.as_str())
                    .execute(&mut tx.connection)
                    .await?;
                tx.record(&caller, SandboxEvent::Chosen { tier });
                resume(tx, &caller, ParkReason::Sandbox).await?;
                Ok(())
            })
        })
        .await
    }

    /// The sandbox that the owner chose.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn chosen_sandbox(&self) -> Result<Option<SandboxTier>> {
        let row = sqlx::query("SELECT value FROM meta WHERE key = 'sandbox'").fetch_optional(&self.readers).await?;
        row.as_ref().map(|row| parsed(row, "value")).transpose()
    }
}
