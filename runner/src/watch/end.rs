//! How a run ended, and what is recorded about it: finished, asked, stopped, failed, or parked because no agent can work.

use std::time::Duration;

use db::RunEnd;
use domain::runs::failure::{EndClass, FailureClass};
use domain::runs::parking::ParkReason;
use domain::runs::run::Run;
use tokio::time::sleep;

use crate::backend::claude::{self, Evidence};
use crate::disk;
use crate::run_dir::{ExitRecord, RunDir, RunState};
use crate::runs::run::RunContext;
use crate::runs::{checkout, parking};
use crate::shim;
use crate::shim::control::{Control, SignalName};
use crate::watch::view::View;
use crate::watch::{Ending, moved};

const STDERR_BYTES: u64 = 4096;
/// Between two looks at whether a run that was killed is gone.
const BURIAL_PAUSE: Duration = Duration::from_millis(100);

/// Records the end of a run whose processes are gone.
///
/// # Errors
/// When the store fails.
pub(super) async fn record(context: &RunContext, run: &Run, run_dir: &RunDir, view: &View, ending: Ending) -> db::Result<()> {
    let exit = match exit(run_dir).await {
        Ok(Some(exit)) => exit,
        Ok(None) => return Ok(()),
        Err(error) => return unreadable(context, run, run_dir, error).await,
    };
    let stderr = run_dir.stderr_tail(STDERR_BYTES).unwrap_or_default();
    let current = context.db.run(&run.id).await?;
    let card = context.db.card(&run.task_id).await?;
    let judged = claude::end(&Evidence {
        exit: &exit,
        result: view.result(),
        api_error: view.api_error(),
        servers: view.servers(),
        limited_until: view.limited_until(),
        stderr: &stderr,
        stopped: current.stop_requested_at.is_some(),
    });
    let failure = match ending {
        Ending::Silent => Some(FailureClass::Unresponsive),
        Ending::NoBoard => Some(FailureClass::McpNotConnected),
        Ending::ByItself => judged.failure(),
    };
    if judged.reached_service() {
        parking::confirm_recovered(&context.db, ParkReason::ServiceUnreachable).await?;
    }
    // A start proves little: its few small files fit on a disk on which no work does.
    if failure.is_none() {
        parking::confirm_recovered(&context.db, ParkReason::DiskFull).await?;
    }
    let mut end = RunEnd {
        exit_code: exit.code.map(i64::from),
        usage: Some(view.usage()),
        turn_ended: view.turn_ended(),
        ..plain(context, EndClass::Finished)
    };
    if current.stop_requested_at.is_some() {
        end.class = EndClass::Stopped;
    } else if moved(&card, run.phase) {
        // Whatever else happened to it, its work is done.
    } else if context.db.has_asked(&run.id).await? {
        end.class = EndClass::AwaitingAnswer;
    } else if failure.is_none() && matches!(judged, claude::RunEnd::NoConversation | claude::RunEnd::SessionInUse) {
        context.db.clear_sessions(&run.task_id, run.phase).await?;
        end.error = Some("its session is not known any more: a new one is begun".to_owned());
        end.class = EndClass::Parked;
    } else {
        let failure = failure.unwrap_or(FailureClass::NoOutcome);
        end.failure = Some(failure);
        end.error = error_text(&judged);
        end.class = parking::park(&context.db, failure, view.limited_until(), end.error.as_deref()).await?;
    }
    close(context, run, end).await
}

/// An end of which nothing more is known.
fn plain(context: &RunContext, class: EndClass) -> RunEnd {
    RunEnd { class, failure: None, error: None, exit_code: None, usage: None, turn_ended: false, max_attempts: context.config().max_attempts }
}

async fn close(context: &RunContext, run: &Run, end: RunEnd) -> db::Result<()> {
    tidy(context, run).await?;
    context.db.end_run(&run.id, end).await.map(|_| ())
}

/// What the person reads about a failed run besides the kind of its failure.
fn error_text(judged: &claude::RunEnd) -> Option<String> {
    let text = match judged {
        claude::RunEnd::ApiError { status: Some(status), text } => format!("{status}: {text}"),
        claude::RunEnd::ApiError { status: None, text } => text.clone(),
        claude::RunEnd::Spawn { detail } | claude::RunEnd::DiskFull { text: detail } => detail.clone(),
        claude::RunEnd::McpNotConnected { status } => format!("the MCP server vibe-relay is {status}"),
        claude::RunEnd::Crashed { code, signal, text } => {
            let how = match (code, signal) {
                (_, Some(signal)) => format!("ended by signal {signal}"),
                (Some(code), None) => format!("exit code {code}"),
                (None, None) => "ended".to_owned(),
            };
            if text.is_empty() { how } else { format!("{how}: {text}") }
        }
        _ => return None,
    };
    Some(domain::text::excerpt(&text, 500))
}

/// Records the end of a run of which nothing can be read any more. Its processes are ended first.
///
/// # Errors
/// When the store fails.
pub(super) async fn unreadable(context: &RunContext, run: &Run, run_dir: &RunDir, Unreadable { failure, error }: Unreadable) -> db::Result<()> {
    put_down(run_dir).await;
    let class = parking::park(&context.db, failure, None, Some(&error)).await?;
    close(context, run, RunEnd { failure: Some(failure), error: Some(error), ..plain(context, class) }).await
}

/// What keeps a run from being followed.
pub(super) struct Unreadable {
    failure: FailureClass,
    error: String,
}

impl Unreadable {
    /// `attempted` is what the error says nothing about: "could not …: ", or nothing.
    pub(super) fn new(attempted: &str, error: &(dyn std::error::Error + 'static)) -> Self {
        Self { failure: disk::failure(error, FailureClass::Lost), error: format!("{attempted}{error}") }
    }
}

/// Records that a reserved run could not be started.
///
/// # Errors
/// When the store fails.
pub(crate) async fn not_started(context: &RunContext, run: &Run, failure: FailureClass, error: String) -> db::Result<()> {
    tracing::warn!(run = %run.id, %failure, %error, "a run could not be started");
    let class = parking::park(&context.db, failure, None, Some(&error)).await?;
    close(context, run, RunEnd { failure: Some(failure), error: Some(error), ..plain(context, class) }).await
}

/// Records the end of a run that was reserved and of which nothing was started: nobody pays for it.
///
/// # Errors
/// When the store fails.
pub(super) async fn never_started(context: &RunContext, run: &Run) -> db::Result<()> {
    let error = Some("the server ended before the agent was started".to_owned());
    close(context, run, RunEnd { error, ..plain(context, EndClass::Parked) }).await
}

/// Ends whatever a run left running, and does not come back before it is gone: a successor must not work beside it.
async fn put_down(run_dir: &RunDir) {
    while run_dir.is_alive().unwrap_or(false) {
        if let Ok(control) = Control::connect(run_dir).await {
            // It may be just ending, which the next look finds.
            drop(control.signal(SignalName::Kill).await);
        }
        sleep(BURIAL_PAUSE).await;
    }
    if let Err(Unreadable { error, .. }) = exit(run_dir).await {
        tracing::warn!(run_dir = %run_dir.path().display(), error, "what a run left behind may still be there");
    }
}

async fn exit(run_dir: &RunDir) -> Result<Option<ExitRecord>, Unreadable> {
    match run_dir.state() {
        Ok(RunState::Ended(exit)) => Ok(Some(exit)),
        Ok(RunState::Alive) => Ok(None),
        Ok(RunState::Lost) => {
            let run_dir = run_dir.clone();
            let buried = tokio::task::spawn_blocking(move || shim::reap_lost_run(&run_dir)).await;
            buried.map_err(|error| Unreadable::new("", &error))?.map_err(|error| Unreadable::new("", &error))
        }
        Err(error) => Err(Unreadable::new("", &error)),
    }
}

/// Removes what only this run needed.
async fn tidy(context: &RunContext, run: &Run) -> db::Result<()> {
    let card = context.db.card(&run.task_id).await?;
    let project = context.db.project(&card.project_id).await?;
    if let Err(error) = checkout::remove_temporary(&project, run).await {
        tracing::warn!(run = %run.id, %error, "a throw-away checkout was left behind");
    }
    Ok(())
}
