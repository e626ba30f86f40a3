//! The recorded processes of runs: what the runner needs to prove that they are gone.
//!
//! Must not look at a process.

use domain::id::RunId;
use domain::refusal::Refusal;
use domain::runs::condition::RunCondition;
use domain::runs::run::RunChange;
use sqlx::Row;

use crate::board::task::row as tasks;
use crate::caller::Caller;
use crate::engine::open::Db;
use crate::engine::tx::NoEventReason;
use crate::error::{Error, Result};
use crate::runs::run::row;

/// The processes of a run that was launched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunProcess {
    /// The value of the variable that all its processes inherit.
    pub marker: String,
    /// The start of the machine on which it was launched, where the system tells.
    pub boot_id: Option<String>,
    /// `None` when the server ended before it could store this.
    pub shim: Option<ShimProcess>,
}

/// A process. Ids are reused, the pair is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShimProcess {
    pub pid: i32,
    /// In clock ticks since the machine started.
    pub started: u64,
}

impl Db {
    /// Records that the shim of a run is about to start. Without this record, nothing was ever started. `resume_command` is how a person
    /// continues its session, without the id of the session.
    ///
    /// # Errors
    /// When the run does not exist.
    pub async fn record_launch(&self, id: &RunId, marker: &str, boot_id: Option<&str>, resume_command: Option<&str>) -> Result<()> {
        let (id, marker, boot_id) = (id.clone(), marker.to_owned(), boot_id.map(str::to_owned));
        let resume_command = resume_command.map(str::to_owned);
        self.write(move |tx| {
            Box::pin(async move {
                row::read(&mut tx.connection, &id).await?;
                sqlx::query("UPDATE agent_runs SET marker = $2, boot_id = $3, resume_command = $4 WHERE id = $1")
                    .bind(id.as_str())
                    .bind(&marker)
                    .bind(&boot_id)
                    .bind(&resume_command)
                    .execute(&mut tx.connection)
                    .await?;
                tx.skip_event(NoEventReason::ProcessIdentity);
                Ok(())
            })
        })
        .await
    }

    /// Records the shim of a launched run.
    ///
    /// # Errors
    /// When the run does not exist.
    pub async fn record_shim(&self, id: &RunId, shim: ShimProcess) -> Result<()> {
        let id = id.clone();
        self.write(move |tx| {
            Box::pin(async move {
                row::read(&mut tx.connection, &id).await?;
                sqlx::query("UPDATE agent_runs SET shim_pid = $2, shim_started = $3 WHERE id = $1")
                    .bind(id.as_str())
                    .bind(i64::from(shim.pid))
                    .bind(i64::try_from(shim.started).unwrap_or(i64::MAX))
                    .execute(&mut tx.connection)
                    .await?;
                tx.skip_event(NoEventReason::ProcessIdentity);
                Ok(())
            })
        })
        .await
    }

    /// Reads the processes of a run; `None` when it was never launched.
    ///
    /// # Errors
    /// When the run does not exist.
    pub async fn run_process(&self, id: &RunId) -> Result<Option<RunProcess>> {
        let found = sqlx::query("SELECT marker, boot_id, shim_pid, shim_started FROM agent_runs WHERE id = $1")
            .bind(id.as_str())
            .fetch_optional(&self.readers)
            .await?
            .ok_or_else(|| Error::Refused(Refusal::not_found("run", id)))?;
        let Some(marker) = found.try_get("marker")? else { return Ok(None) };
        let (pid, started): (Option<i64>, Option<i64>) = (found.try_get("shim_pid")?, found.try_get("shim_started")?);
        let pid = pid.and_then(|pid| i32::try_from(pid).ok());
        let started = started.and_then(|started| u64::try_from(started).ok());
        let shim = pid.zip(started).map(|(pid, started)| ShimProcess { pid, started });
        Ok(Some(RunProcess { marker, boot_id: found.try_get("boot_id")?, shim }))
    }

    /// Records what keeps a live run from its work, or that nothing does. A condition that repeats the recorded one changes nothing.
    ///
    /// # Errors
    /// When the run does not exist.
    pub async fn set_run_condition(&self, id: &RunId, condition: Option<RunCondition>) -> Result<()> {
        let id = id.clone();
        self.write(move |tx| {
            Box::pin(async move {
                let run = row::read(&mut tx.connection, &id).await?;
                let is_known = match (&condition, &run.condition) {
                    (Some(condition), Some(earlier)) => condition.repeats(earlier),
                    (condition, earlier) => condition.is_none() && earlier.is_none(),
                };
                if !run.is_live() || is_known {
                    tx.skip_event(NoEventReason::NothingChanged);
                    return Ok(());
                }
                let column = condition.as_ref().map(serde_json::to_string).transpose()?;
                sqlx::query("UPDATE agent_runs SET condition = $2 WHERE id = $1").bind(id.as_str()).bind(column).execute(&mut tx.connection).await?;
                let card = tasks::card(&mut tx.connection, &run.task_id).await?;
                tx.record_for_run(&Caller::Runner, &card.project_id, &card.id, &id, RunChange::ConditionChanged { condition });
                Ok(())
            })
        })
        .await
    }
}
