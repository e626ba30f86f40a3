//! Records how a run ended: finished, waiting for an answer, stopped, failed, or parked because no agent can work.

use db::{Caller, RunCaller, RunEnd};
use domain::board::card::Card;
use domain::runs::agent_kind::AgentKind;
use domain::runs::failure::{EndClass, FailureClass};
use domain::runs::run::Run;
use domain::runs::usage::Usage;
use domain::text;
use domain::warroom::handover::NewHandover;

use crate::backend::outcome::{ExitEvidence, classify_end};
use crate::backend::parking_hint;
use crate::blocking::off_thread;
use crate::resource;
use crate::run_dir::{ExitErrorKind, ExitRecord, RunDir};
use crate::runs::run::RunContext;
use crate::runs::{checkout, control, leftover, parking};
use crate::watch::cause::{Cause, find_cause, with_last_words};
use crate::watch::output_state::OutputState;
use crate::watch::{EndCause, card_has_moved};

const STDERR_BYTES: u64 = 4096;
/// The longest question that is taken from an agent's last words.
const QUESTION_CHARS: usize = 2000;

/// The most characters of a handover that the runner records.
const HANDOVER_CHARS: usize = 2000;

/// The findings of a watch before the run ended.
#[derive(Debug, Default)]
pub(super) struct Observed {
    pub(super) output: OutputState,
    pub(super) cause: EndCause,
    /// Why the rest of its output could not be read.
    pub(super) unreadable: Option<UnreadableRun>,
}

/// Records the end of a run whose processes are gone.
///
/// # Errors
/// When the store fails.
pub(super) async fn record(context: &RunContext, run: &Run, exit: &ExitRecord, observed: &Observed) -> db::Result<()> {
    let Observed { output, cause, unreadable } = observed;
    let stderr = stderr(context, run).await?;
    let current = context.db.run(&run.id).await?;
    let card = context.db.card(&run.task_id).await?;
    let outcome = classify_end(&ExitEvidence {
        exit,
        turn: output.turn_end(),
        error: output.error(),
        tool_servers: output.tool_servers(),
        stderr: &stderr,
        stopped: current.stop_requested_at.is_some(),
    });
    let failure = match (cause, unreadable) {
        (EndCause::Unresponsive { .. }, _) => Some(FailureClass::Unresponsive),
        (EndCause::BoardUnreachable, _) => Some(FailureClass::McpNotConnected),
        // The agent was ended because of a full disk. Another cause counts only when the agent ended by itself.
        (EndCause::AgentExited, Some(UnreadableRun { failure: FailureClass::DiskFull, .. })) => Some(FailureClass::DiskFull),
        (EndCause::AgentExited, Some(unreadable)) if !outcome.is_interrupted() => Some(unreadable.failure),
        (EndCause::AgentExited, _) => outcome.failure(),
    };
    if outcome.service_responded() {
        parking::confirm_service(&context.db, run).await?;
    }
    if failure.is_none() {
        parking::confirm_disk(&context.db, run).await?;
    }
    let has_asked = context.db.has_asked(&run.id).await?;
    let mut handed_over = false;
    let mut end = RunEnd {
        exit_code: exit.code.map(i64::from),
        // Nothing was read of a run whose folder is gone; then the last samples stay.
        usage: Some(output.usage()).filter(|usage| *usage != Usage::default()),
        turn_ended: output.has_completed_turn(),
        ..minimal_end(context, EndClass::Finished)
    };
    if current.stop_requested_at.is_some() {
        end.class = EndClass::Stopped;
    } else if card_has_moved(&card, run.phase) || (current.hand_over.is_none() && has_answered(context, run, failure).await?) {
        // The work is done, so a failure after it does not matter.
    } else if let Some(interrupt) = current.interrupt.as_ref().filter(|_| !has_asked) {
        // However it exited. The store holds the task, because its agent was to do nothing until someone wrote to it.
        (end.class, end.error) = (EndClass::Stopped, Some(interrupt.end_sentence()));
    } else if has_asked || (failure.is_none() && asks_in_words(context, run, &card, output).await?) {
        end.class = EndClass::AwaitingAnswer;
    } else if let Some(reason) = &current.hand_over {
        // However it exited: it may have been terminated because it did not end its turn.
        end.error = Some(reason.sentence());
        if let Some(limit) = reason.limit() {
            (end.class, end.failure, end.limit) = (EndClass::Limited, Some(limit.failure()), Some(limit));
        } else {
            // The next run reads the handover instead of the conversation.
            context.db.clear_sessions(&run.task_id, run.phase).await?;
            (end.class, handed_over) = (EndClass::Parked, true);
        }
    } else if failure.is_none() && context.db.waits_for_claim(&run.task_id).await? {
        // It continues its session when the file is its own.
        end.error = Some("it waits for a file that another agent edits".to_owned());
        end.class = EndClass::Parked;
    } else if failure.is_none() && outcome.is_interrupted() {
        // The next run continues its session.
        end.error = outcome.detail();
        end.class = EndClass::Parked;
    } else if failure.is_none() && outcome.lost_session() {
        context.db.clear_sessions(&run.task_id, run.phase).await?;
        end.error = Some("its session is not available; the next run starts a new one".to_owned());
        end.class = EndClass::Parked;
    } else {
        let mut failure = failure.unwrap_or(FailureClass::NoOutcome);
        end.failure = Some(failure);
        end.error = match (cause, unreadable) {
            (EndCause::Unresponsive { silent_for }, _) => {
                Some(format!("no output, no CPU time and no result of a tool for {} min", silent_for.as_secs() / 60))
            }
            (_, Some(unreadable)) => Some(unreadable.error.clone()),
            (_, None) => outcome.detail(),
        };
        end.cause = end.error.clone();
        let has_last_words = failure == FailureClass::NoOutcome;
        if has_last_words {
            let (task, project) = (context.db.task(&run.task_id).await?, context.db.project(&card.project_id).await?);
            let Cause { facts, text, failure: found } = find_cause(&project, &task, run, output).await;
            (end.cause, end.error) = (Some(facts), Some(text).filter(|text| !text.is_empty()));
            (failure, end.failure) = (found, Some(found));
        }
        let hint = failure.park_reason().and_then(parking_hint);
        end.class = if failure == FailureClass::Setup {
            EndClass::NotSetUp
        } else if failure.is_limit() {
            EndClass::Limited
        } else {
            parking::park(&context.db, failure, output.limited_until(), end.error.as_deref().or(hint)).await?
        };
        if end.class == EndClass::Failed && !has_last_words {
            // The next attempt reads what this one tried.
            let error = with_last_words(end.error.as_deref().unwrap_or_default(), output.last_words());
            end.error = Some(error).filter(|error| !error.is_empty());
        }
    }
    let exit_error = exit.error.as_ref().map(|error| error.kind);
    // An agent that never started changed nothing, and what it would have been compared with may be missing.
    if exit_error != Some(ExitErrorKind::NeverStarted) {
        control::report_changes(context, run).await?;
        // After a reboot, the start times of processes cannot be compared, and nothing of the agent is left.
        if exit_error != Some(ExitErrorKind::Rebooted) {
            leftover::report(context, run).await?;
        }
    }
    if handed_over || end.failure == Some(FailureClass::ContextFull) {
        record_handover(context, run, &card, output).await?;
    }
    store_end(context, run, end).await
}

/// Whether the work of an oracle is done: no question is open, or it answered one and those that came too late are for its next run.
async fn has_answered(context: &RunContext, run: &Run, failure: Option<FailureClass>) -> db::Result<bool> {
    if run.phase != AgentKind::Oracle {
        return Ok(false);
    }
    let progress = context.db.oracle_progress(run).await?;
    Ok(progress.open == 0 || (failure.is_none() && progress.has_answered))
}

/// Records what is known of a session that was full, if its agent left no handover itself.
async fn record_handover(context: &RunContext, run: &Run, card: &Card, output: &OutputState) -> db::Result<()> {
    let (task, project) = (context.db.task(&run.task_id).await?, context.db.project(&card.project_id).await?);
    let known = find_cause(&project, &task, run, output).await.text;
    let manifest = format!("The session ended without a handover. {known}");
    let manifest = text::excerpt(manifest.trim_end(), HANDOVER_CHARS);
    context.db.hand_over_for_run(&run.id, NewHandover { manifest, files: Vec::new() }).await
}

/// Asks the human what the agent asked in its last words instead of with its tool. Returns whether there was such a question.
async fn asks_in_words(context: &RunContext, run: &Run, card: &Card, output: &OutputState) -> db::Result<bool> {
    let Some(question) = output.question().map(|question| text::excerpt_end(question, QUESTION_CHARS)) else { return Ok(false) };
    let (run_id, task_id, project_id) = (run.id.clone(), run.task_id.clone(), card.project_id.clone());
    let caller = Caller::Run(RunCaller { run_id, task_id, project_id, phase: run.phase, call_id: None });
    match context.db.ask_question(&caller, &question, Vec::new(), None).await {
        Ok(_) => Ok(true),
        // An agent of this kind may not ask.
        Err(db::Error::Refused(_)) => Ok(false),
        Err(error) => Err(error),
    }
}

/// An end without further facts.
fn minimal_end(context: &RunContext, class: EndClass) -> RunEnd {
    RunEnd::new(class, context.config().max_attempts)
}

async fn store_end(context: &RunContext, run: &Run, end: RunEnd) -> db::Result<()> {
    remove_run_files(context, run).await?;
    let (failure, error) = (end.failure.map(FailureClass::as_str), end.error.as_deref());
    tracing::info!(run = %run.id, task = %run.task_id, end = %end.class, failure, error, "an agent's run ended");
    context.db.end_run(&run.id, end).await.map(|_| ())
}

/// Why a run cannot be watched.
#[derive(Debug)]
pub(super) struct UnreadableRun {
    pub(super) failure: FailureClass,
    pub(super) error: String,
}

impl UnreadableRun {
    /// `attempted` is prefixed to the error: "could not …: ", or nothing.
    pub(super) fn new(attempted: &str, error: &(dyn std::error::Error + 'static)) -> Self {
        Self { failure: resource::failure(error, FailureClass::Lost), error: format!("{attempted}{error}") }
    }
}

/// Records that a reserved run could not be started.
///
/// # Errors
/// When the store fails.
pub(crate) async fn record_start_failure(context: &RunContext, run: &Run, failure: FailureClass, error: String) -> db::Result<()> {
    tracing::warn!(run = %run.id, %failure, %error, "a run was not started");
    let class = match failure {
        FailureClass::Setup => EndClass::NotSetUp,
        _ => parking::park(&context.db, failure, None, Some(&error)).await?,
    };
    store_end(context, run, RunEnd { failure: Some(failure), cause: Some(error.clone()), error: Some(error), ..minimal_end(context, class) }).await
}

/// Records the end of a reserved run that was never started. It does not count as an attempt.
///
/// # Errors
/// When the store fails.
pub(crate) async fn record_never_started(context: &RunContext, run: &Run, error: String) -> db::Result<()> {
    store_end(context, run, RunEnd { error: Some(error), ..minimal_end(context, EndClass::Parked) }).await
}

/// The end of what the agent and its shim wrote to stderr; empty when that cannot be read.
async fn stderr(context: &RunContext, run: &Run) -> db::Result<String> {
    let path = context.db.run_dir(&run.id).await?;
    let read = off_thread(move || RunDir::open(&path).and_then(|run_dir| run_dir.stderr_tail(STDERR_BYTES)));
    Ok(read.await.ok().and_then(Result::ok).unwrap_or_default())
}

/// Removes the checkout that only this run used.
async fn remove_run_files(context: &RunContext, run: &Run) -> db::Result<()> {
    let card = context.db.card(&run.task_id).await?;
    let project = context.db.project(&card.project_id).await?;
    if let Err(error) = checkout::remove_temporary(&project, run).await {
        tracing::warn!(run = %run.id, %error, "a temporary checkout was not removed; trying again within an hour");
        context.db.set_checkout_left(&run.id, Some(error.to_string())).await?;
    }
    Ok(())
}
