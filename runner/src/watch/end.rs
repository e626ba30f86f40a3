//! Records how a run ended: finished, waiting for an answer, stopped, failed, or parked because no agent can work.

use std::time::Duration;

use db::RunEnd;
use domain::runs::failure::{EndClass, FailureClass};
use domain::runs::parking::ParkReason;
use domain::runs::run::Run;
use tokio::task::spawn_blocking;
use tokio::time::sleep;

use crate::backend::outcome::{ExitEvidence, RunOutcome, classify_end};
use crate::backend::parking_hint;
use crate::disk;
use crate::run_dir::{ExitRecord, RunDir, RunDirError, RunState};
use crate::runs::run::RunContext;
use crate::runs::{checkout, parking};
use crate::shim;
use crate::shim::control::{Control, SignalName};
use crate::watch::output_state::OutputState;
use crate::watch::{EndCause, card_has_moved};

const STDERR_BYTES: u64 = 4096;
/// Between two checks whether a killed run is gone.
const KILL_POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Records the end of a run whose processes are gone.
///
/// # Errors
/// When the store fails.
pub(super) async fn record(context: &RunContext, run: &Run, run_dir: &RunDir, output: &OutputState, cause: EndCause) -> db::Result<()> {
    let (exit, stderr) = match exit(run_dir).await {
        Ok(Some(exit)) => exit,
        Ok(None) => return Ok(()),
        Err(error) => return record_unreadable(context, run, run_dir, error).await,
    };
    let current = context.db.run(&run.id).await?;
    let card = context.db.card(&run.task_id).await?;
    let outcome = classify_end(&ExitEvidence {
        exit: &exit,
        turn: output.turn_end(),
        error: output.error(),
        tool_servers: output.tool_servers(),
        stderr: &stderr,
        stopped: current.stop_requested_at.is_some(),
    });
    let failure = match cause {
        EndCause::Unresponsive => Some(FailureClass::Unresponsive),
        EndCause::BoardUnreachable => Some(FailureClass::McpNotConnected),
        EndCause::AgentExited => outcome.failure(),
    };
    if outcome.service_responded() {
        parking::confirm_recovered(&context.db, ParkReason::ServiceUnreachable, run).await?;
    }
    // A start alone does not prove that the disk has room, because its files are small.
    if failure.is_none() {
        parking::confirm_recovered(&context.db, ParkReason::DiskFull, run).await?;
    }
    let mut end = RunEnd {
        exit_code: exit.code.map(i64::from),
        usage: Some(output.usage()),
        turn_ended: output.has_completed_turn(),
        ..minimal_end(context, EndClass::Finished)
    };
    if current.stop_requested_at.is_some() {
        end.class = EndClass::Stopped;
    } else if card_has_moved(&card, run.phase) {
        // The work is done, so a failure after it does not matter.
    } else if context.db.has_asked(&run.id).await? {
        end.class = EndClass::AwaitingAnswer;
    } else if failure.is_none() && outcome.lost_session() {
        context.db.clear_sessions(&run.task_id, run.phase).await?;
        end.error = Some("its session is not available; the next run starts a new one".to_owned());
        end.class = EndClass::Parked;
    } else if outcome == RunOutcome::Interrupted {
        // Nobody's fault and nobody's decision: the task is started again, with its session.
        end.error = outcome.detail();
        end.class = EndClass::Parked;
    } else {
        let failure = failure.unwrap_or(FailureClass::NoOutcome);
        end.failure = Some(failure);
        end.error = outcome.detail();
        let hint = failure.park_reason().and_then(parking_hint);
        end.class = parking::park(&context.db, failure, output.limited_until(), end.error.as_deref().or(hint)).await?;
    }
    store_end(context, run, end).await
}

/// An end without further facts.
fn minimal_end(context: &RunContext, class: EndClass) -> RunEnd {
    RunEnd { class, failure: None, error: None, exit_code: None, usage: None, turn_ended: false, max_attempts: context.config().max_attempts }
}

async fn store_end(context: &RunContext, run: &Run, end: RunEnd) -> db::Result<()> {
    remove_run_files(context, run).await?;
    let (failure, error) = (end.failure.map(FailureClass::as_str), end.error.as_deref());
    tracing::info!(run = %run.id, task = %run.task_id, end = %end.class, failure, error, "an agent's run ended");
    context.db.end_run(&run.id, end).await.map(|_| ())
}

/// Kills an unreadable run and records its end.
///
/// # Errors
/// When the store fails.
pub(super) async fn record_unreadable(context: &RunContext, run: &Run, run_dir: &RunDir, unreadable: UnreadableRun) -> db::Result<()> {
    let UnreadableRun { failure, error } = unreadable;
    kill_and_wait(run_dir).await;
    let class = parking::park(&context.db, failure, None, Some(&error)).await?;
    store_end(context, run, RunEnd { failure: Some(failure), error: Some(error), ..minimal_end(context, class) }).await
}

/// Why a run cannot be watched.
pub(super) struct UnreadableRun {
    failure: FailureClass,
    error: String,
}

impl UnreadableRun {
    /// `attempted` is prefixed to the error: "could not …: ", or nothing.
    pub(super) fn new(attempted: &str, error: &(dyn std::error::Error + 'static)) -> Self {
        Self { failure: disk::failure(error, FailureClass::Lost), error: format!("{attempted}{error}") }
    }
}

/// Records that a reserved run could not be started.
///
/// # Errors
/// When the store fails.
pub(crate) async fn record_start_failure(context: &RunContext, run: &Run, failure: FailureClass, error: String) -> db::Result<()> {
    tracing::warn!(run = %run.id, %failure, %error, "a run was not started");
    let class = parking::park(&context.db, failure, None, Some(&error)).await?;
    store_end(context, run, RunEnd { failure: Some(failure), error: Some(error), ..minimal_end(context, class) }).await
}

/// Records the end of a reserved run that was never started. It does not count as an attempt.
///
/// # Errors
/// When the store fails.
pub(super) async fn record_never_started(context: &RunContext, run: &Run) -> db::Result<()> {
    let error = Some("the server ended before the agent was started".to_owned());
    store_end(context, run, RunEnd { error, ..minimal_end(context, EndClass::Parked) }).await
}

/// Kills everything the run left behind and waits for it to exit, because the next run uses the same checkout.
async fn kill_and_wait(run_dir: &RunDir) {
    while is_alive(run_dir).await {
        if let Ok(control) = Control::connect(run_dir).await {
            // A failure means that it is exiting, which the next check finds.
            drop(control.signal(SignalName::Kill).await);
        }
        sleep(KILL_POLL_INTERVAL).await;
    }
    if let Err(UnreadableRun { error, .. }) = exit(run_dir).await {
        tracing::warn!(run_dir = %run_dir.path().display(), error, "processes that the run left behind may still be alive");
    }
}

async fn is_alive(run_dir: &RunDir) -> bool {
    let run_dir = run_dir.clone();
    spawn_blocking(move || run_dir.is_alive().unwrap_or(false)).await.unwrap_or(false)
}

/// The exit record and the end of stderr; `None` while the run lives. A run whose shim died is reaped first.
async fn exit(run_dir: &RunDir) -> Result<Option<(ExitRecord, String)>, UnreadableRun> {
    let run_dir = run_dir.clone();
    let read = spawn_blocking(move || {
        let exit = match run_dir.state()? {
            RunState::Ended(exit) => Some(exit),
            RunState::Alive => None,
            RunState::Lost => shim::reap_lost_run(&run_dir)?,
        };
        Ok(exit.map(|exit| (exit, run_dir.stderr_tail(STDERR_BYTES).unwrap_or_default())))
    });
    let read = read.await.map_err(|error| UnreadableRun::new("", &error))?;
    read.map_err(|error: RunDirError| UnreadableRun::new("", &error))
}

/// Removes the checkout that only this run used.
async fn remove_run_files(context: &RunContext, run: &Run) -> db::Result<()> {
    let card = context.db.card(&run.task_id).await?;
    let project = context.db.project(&card.project_id).await?;
    if let Err(error) = checkout::remove_temporary(&project, run).await {
        tracing::warn!(run = %run.id, %error, "a temporary checkout was not removed");
    }
    Ok(())
}
