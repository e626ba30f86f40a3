//! Handovers: an agent leaves its successor what it needs, who reads it once.
//!
//! Must not read the repository: callers find the files.

pub(crate) mod row;
pub(crate) mod write;

use domain::id::{ProjectId, RunId};
use domain::refusal::Refusal;
use domain::runs::run::Run;
use domain::warroom::handover::{Handover, NewHandover};

use crate::board::project::row as projects;
use crate::board::task::row::project_of_task;
use crate::caller::Caller;
use crate::engine::open::Db;
use crate::engine::tx::NoEventReason;
use crate::error::Result;
use crate::runs::run::row as runs;
use crate::team::participant::row as participant;

use self::write::Leaver;

/// The most handovers that one call returns.
const MAX_HANDOVERS: u32 = 50;

impl Db {
    /// Records what the caller leaves to its successor. An earlier handover that nobody read is replaced.
    ///
    /// # Errors
    /// When the caller is not an agent of the project, or the handover is not acceptable.
    pub async fn hand_over(&self, caller: &Caller, project: &ProjectId, new: NewHandover) -> Result<Handover> {
        let project = project.clone();
        self.run_once(caller, move |tx, caller| {
            Box::pin(async move {
                let participant = participant::load(&mut tx.connection, caller, &project).await?;
                let run = match caller {
                    Caller::Run(run) => Some((&run.run_id, &run.task_id)),
                    Caller::Agent(_) => None,
                    Caller::Person(_) | Caller::Runner | Caller::Invite(_) => {
                        let hint = "Write a comment on the task, or an entry of the raid log.";
                        return Err(Refusal::invalid("agent_name", "only agents hand over", hint).into());
                    }
                };
                let leaver = Leaver { project: &project, agent: &participant.name, run, automatic: false };
                write::record(tx, caller, leaver, &new).await
            })
        })
        .await
    }

    /// Records a handover for a run that ended without one.
    ///
    /// # Errors
    /// When the run does not exist, or the handover is not acceptable.
    pub async fn hand_over_for_run(&self, run: &RunId, new: NewHandover) -> Result<()> {
        let id = run.clone();
        self.write(move |tx| {
            Box::pin(async move {
                let run = runs::read(&mut tx.connection, &id).await?;
                if row::exists_of_run(&mut tx.connection, &id).await? {
                    tx.skip_event(NoEventReason::NothingChanged);
                    return Ok(());
                }
                let project = project_of_task(&mut tx.connection, &run.task_id).await?;
                let agent = Run::agent_name(run.phase, &run.task_id);
                let leaver = Leaver { project: &project, agent: &agent, run: Some((&id, &run.task_id)), automatic: true };
                write::record(tx, &Caller::Runner, leaver, &new).await?;
                Ok(())
            })
        })
        .await
    }

    /// Marks the handover that a managed agent got with its first message as read, so that no later run gets it again.
    ///
    /// # Errors
    /// When the run does not exist.
    pub async fn continue_handover(&self, run: &RunId) -> Result<()> {
        let id = run.clone();
        self.write(move |tx| {
            Box::pin(async move {
                let run = runs::read(&mut tx.connection, &id).await?;
                let project = project_of_task(&mut tx.connection, &run.task_id).await?;
                let agent = Run::agent_name(run.phase, &run.task_id);
                match row::unread(&mut tx.connection, &project, &agent).await? {
                    Some(handover) => write::mark_read(tx, &Caller::Runner, &handover, &agent).await,
                    None => {
                        tx.skip_event(NoEventReason::NothingChanged);
                        Ok(())
                    }
                }
            })
        })
        .await
    }

    /// Lists handovers of a project, newest first: all before the one with the id `before`.
    ///
    /// # Errors
    /// When the project does not exist.
    pub async fn handovers(&self, project: &ProjectId, before: Option<i64>, limit: u32) -> Result<Vec<Handover>> {
        let mut connection = self.readers.acquire().await?;
        projects::read(&mut connection, project).await?;
        let rows = sqlx::query(row::PAGE)
            .bind(project.as_str())
            .bind(before.unwrap_or(i64::MAX))
            .bind(limit.clamp(1, MAX_HANDOVERS))
            .fetch_all(&mut *connection)
            .await?;
        rows.iter().map(row::handover_of).collect()
    }
}
