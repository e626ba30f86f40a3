//! Records the end of a run once.

use domain::board::attention::Attention;
use domain::board::search::SearchKind;
use domain::id::RunId;
use domain::runs::failure::{EndClass, FailureClass};
use domain::runs::limit::{LimitScope, LimitUse};
use domain::runs::run::{Run, RunChange};
use domain::runs::usage::Usage;

use crate::board::search::write::{self as search, Document};
use crate::board::task::row as tasks;
use crate::caller::Caller;
use crate::consequences::run_ended::{Outcome, run_ended};
use crate::engine::open::Db;
use crate::engine::tx::{NoEventReason, Tx};
use crate::error::Result;
use crate::runs::limit::write as limit;
use crate::runs::run::row::read;
use crate::runs::run::write::write_usage;

/// The number of conversations that agents of one kind may fill on a task before the human is asked, and asked again.
const MAX_SESSIONS: i64 = 5;

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunEnd {
    pub class: EndClass,
    pub failure: Option<FailureClass>,
    /// The error, as shown to the human.
    pub error: Option<String>,
    /// The facts of the failure. Two failures in a row with the same facts are not followed by a third attempt.
    pub cause: Option<String>,
    pub exit_code: Option<i64>,
    pub usage: Option<Usage>,
    /// The limit that ended it.
    pub limit: Option<LimitUse>,
    /// Whether the agent's last turn ended. It has then read its whole conversation.
    pub turn_ended: bool,
    /// Failed attempts in a row after which the task needs attention.
    pub max_attempts: u32,
}

impl RunEnd {
    /// An end without further facts.
    pub const fn new(class: EndClass, max_attempts: u32) -> Self {
        Self { class, failure: None, error: None, cause: None, exit_code: None, usage: None, limit: None, turn_ended: false, max_attempts }
    }
}

impl Db {
    /// Records the end of a run. A second record changes nothing. A run that a person stopped ends as stopped, whatever its process
    /// reported. A failure is stored with the time of the next attempt.
    ///
    /// # Errors
    /// When the run does not exist.
    pub async fn end_run(&self, id: &RunId, mut end: RunEnd) -> Result<Run> {
        let id = id.clone();
        self.write(move |tx| {
            Box::pin(async move {
                let run = read(&mut tx.connection, &id).await?;
                if !run.is_live() {
                    tx.skip_event(NoEventReason::NothingChanged);
                    return Ok(run);
                }
                if run.stop_requested_at.is_some() {
                    (end.class, end.failure, end.error, end.cause) = (EndClass::Stopped, None, None, None);
                }
                if let Some(usage) = end.usage {
                    write_usage(tx, &run, usage).await?;
                }
                sqlx::query(
                    "UPDATE agent_runs SET completed_at = $2, exit_code = $3, end_class = $4, failure = $5, error = $6, port = NULL, condition = NULL,
                            cause = $7 WHERE id = $1",
                )
                .bind(id.as_str())
                .bind(tx.now.to_string())
                .bind(end.exit_code)
                .bind(end.class.as_str())
                .bind(end.failure.map(FailureClass::as_str))
                .bind(&end.error)
                .bind(&end.cause)
                .execute(&mut tx.connection)
                .await?;
                if let Some(error) = &end.error {
                    let project = tasks::project_of_task(&mut tx.connection, &run.task_id).await?;
                    let document = Document { kind: SearchKind::Run, reference: id.as_str(), project: &project, task: Some(&run.task_id) };
                    search::add(tx, document, error).await?;
                }
                limit::run_ended(tx, &id, &run.task_id).await?;
                let card = tasks::card(&mut tx.connection, &run.task_id).await?;
                let event = RunChange::Ended { end: end.class, failure: end.failure };
                tx.record_for_run(&Caller::Runner, &card.project_id, &card.id, &id, event);
                let outcome = Outcome {
                    holds: end.class == EndClass::Stopped && run.interrupt.is_some() && run.stop_requested_at.is_none(),
                    read_inbox: end.turn_ended && matches!(end.class, EndClass::Finished | EndClass::AwaitingAnswer),
                    failure: (end.class == EndClass::Failed).then(|| end.failure.unwrap_or(FailureClass::Crashed)),
                    error: end.error.as_deref(),
                    cause: end.cause.as_deref(),
                    question: match end.class {
                        EndClass::Limited => question(tx, &run, &end).await?,
                        EndClass::NotSetUp => Some(Attention::setup_failed(end.error.as_deref().unwrap_or(FailureClass::Setup.sentence()))),
                        _ => None,
                    },
                    max_attempts: end.max_attempts,
                };
                run_ended(tx, &card, &run, &outcome).await?;
                read(&mut tx.connection, &id).await
            })
        })
        .await
    }
}

/// The question to the human after a run that a limit ended. The schedule asks about limits that concern more than one run.
async fn question(tx: &mut Tx, run: &Run, end: &RunEnd) -> Result<Option<Attention>> {
    if end.failure == Some(FailureClass::ContextFull) {
        let sessions: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM agent_runs WHERE task_id = $1 AND phase = $2 AND failure = $3")
            .bind(run.task_id.as_str())
            .bind(run.phase.as_str())
            .bind(FailureClass::ContextFull.as_str())
            .fetch_one(&mut tx.connection)
            .await?;
        return Ok((sessions % MAX_SESSIONS == 0).then(|| Attention::sessions_used_up(sessions, run.phase)));
    }
    Ok(match end.limit {
        Some(limit) => (limit.scope == LimitScope::Run).then(|| Attention::limit_reached(&limit)),
        None => end.failure.map(Attention::program_limit_reached),
    })
}
