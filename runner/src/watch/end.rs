//! How a run ended, and what is recorded about it: finished, asked, stopped, failed, or parked because no agent can work.

use std::time::Duration;

use db::RunEnd;
use domain::attention::AttentionKind;
use domain::failure::{EndClass, FailureClass};
use domain::park::{ParkReason, Parking};
use domain::run::Run;
use domain::task::Phase;
use domain::time::Timestamp;

use crate::backend::claude::{self, Evidence};
use crate::checkout;
use crate::run::Context;
use crate::run_dir::{Exit, RunDir, RunState};
use crate::shim;
use crate::watch::view::View;
use crate::watch::{Ending, moved};

/// When a reason to park is looked at again, if nothing says better.
const LOOK_AGAIN: Duration = Duration::from_secs(30);
const RATE_LIMIT_GUESS: Duration = Duration::from_secs(300);
const STDERR_BYTES: u64 = 4096;

/// Records the end of a run whose processes are gone.
///
/// # Errors
/// When the store fails.
pub(super) async fn record(context: &Context, run: &Run, run_dir: &RunDir, view: &View, ending: Ending) -> db::Result<()> {
    let exit = match exit(run_dir).await {
        Ok(Some(exit)) => exit,
        Ok(None) => return Ok(()),
        Err(error) => return unreadable(context, run, run_dir, error).await,
    };
    let stderr = run_dir.stderr_tail(STDERR_BYTES).unwrap_or_default();
    let current = context.db.run(&run.id).await?;
    let card = context.db.card(&run.task_id).await?;
    let asked = card.attention.as_ref().is_some_and(|attention| attention.kind == AttentionKind::NeedsInput)
        && context.db.open_question(&run.task_id).await?.is_some_and(|question| question.run_id == run.id);
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
        Ending::Silent => Some(FailureClass::Silent),
        Ending::NoBoard => Some(FailureClass::McpNotConnected),
        Ending::ByItself => judged.failure(),
    };
    let mut end = RunEnd {
        class: EndClass::Finished,
        failure: None,
        error: None,
        exit_code: exit.code.map(i64::from),
        usage: Some(view.usage()),
        max_attempts: context.config.max_attempts,
    };
    if current.stop_requested_at.is_some() {
        end.class = EndClass::Stopped;
    } else if asked {
        end.class = EndClass::Asked;
    } else if !moved(&card, run.phase) {
        let forgotten = matches!(judged, claude::RunEnd::NoConversation | claude::RunEnd::SessionInUse);
        if forgotten {
            context.db.forget_sessions(&run.task_id, run.phase).await?;
        }
        end.error = error_text(&judged, failure);
        end.class = match failure {
            Some(failure) => park(context, failure, view, end.error.as_deref()).await?,
            None if forgotten => EndClass::Parked,
            None => EndClass::Failed,
        };
        end.failure = if forgotten { None } else { Some(failure.unwrap_or(FailureClass::NoMove)) };
    }
    tidy(context, run).await?;
    context.db.end_run(&run.id, end).await.map(|_| ())
}

/// Parks every agent when the failure is not the task's, and says how the run ended then.
async fn park(context: &Context, failure: FailureClass, view: &View, error: Option<&str>) -> db::Result<EndClass> {
    let Some(reason) = failure.parks() else { return Ok(EndClass::Failed) };
    let now = db::now();
    let until = match (reason, view.limited_until()) {
        (ParkReason::RateLimited, Some(seconds)) => Timestamp::from_milliseconds(seconds.saturating_mul(1000)).max(now.after(Duration::from_secs(5))),
        (ParkReason::RateLimited, None) => now.after(RATE_LIMIT_GUESS),
        _ => now.after(LOOK_AGAIN),
    };
    context.db.park(Parking { reason, until, detail: error.unwrap_or(reason.sentence()).to_owned() }).await?;
    Ok(EndClass::Parked)
}

/// What the person reads about a failed run.
fn error_text(judged: &claude::RunEnd, failure: Option<FailureClass>) -> Option<String> {
    let text = match judged {
        claude::RunEnd::ApiError { status: Some(status), text } => format!("{status}: {text}"),
        claude::RunEnd::ApiError { status: None, text } => text.clone(),
        claude::RunEnd::Spawn { detail } => detail.clone(),
        claude::RunEnd::McpNotConnected { status } => format!("the MCP server vibe-relay is {status}"),
        claude::RunEnd::Crashed { code, signal, text } => {
            let how = match (code, signal) {
                (_, Some(signal)) => format!("ended by signal {signal}"),
                (Some(code), None) => format!("exit code {code}"),
                (None, None) => "ended".to_owned(),
            };
            if text.is_empty() { how } else { format!("{how}: {text}") }
        }
        _ => failure.unwrap_or(FailureClass::NoMove).sentence().to_owned(),
    };
    Some(domain::text::excerpt(&text, 500))
}

/// Records the end of a run of which nothing can be read any more. Its processes are ended.
///
/// # Errors
/// When the store fails.
pub(super) async fn unreadable(context: &Context, run: &Run, run_dir: &RunDir, error: String) -> db::Result<()> {
    // Whatever it left running must not work on beside its successor.
    drop(exit(run_dir).await);
    let end = RunEnd {
        class: EndClass::Failed,
        failure: Some(FailureClass::Lost),
        error: Some(error),
        exit_code: None,
        usage: None,
        max_attempts: context.config.max_attempts,
    };
    tidy(context, run).await?;
    context.db.end_run(&run.id, end).await.map(|_| ())
}

/// Records the end of a run that was reserved and of which nothing was started: nobody pays for it.
///
/// # Errors
/// When the store fails.
pub(super) async fn never_started(context: &Context, run: &Run) -> db::Result<()> {
    let end = RunEnd {
        class: EndClass::Parked,
        failure: None,
        error: Some("the server ended before the agent was started".to_owned()),
        exit_code: None,
        usage: None,
        max_attempts: context.config.max_attempts,
    };
    tidy(context, run).await?;
    context.db.end_run(&run.id, end).await.map(|_| ())
}

async fn exit(run_dir: &RunDir) -> Result<Option<Exit>, String> {
    match run_dir.state() {
        Ok(RunState::Ended(exit)) => Ok(Some(exit)),
        Ok(RunState::Alive) => Ok(None),
        Ok(RunState::Lost) => {
            let run_dir = run_dir.clone();
            let buried = tokio::task::spawn_blocking(move || shim::bury(&run_dir)).await;
            buried.map_err(|error| error.to_string())?.map_err(|error| error.to_string())
        }
        Err(error) => Err(error.to_string()),
    }
}

/// Removes what only this run needed. A coder's checkout is its task's and stays.
async fn tidy(context: &Context, run: &Run) -> db::Result<()> {
    if run.phase == Phase::Coder {
        return Ok(());
    }
    let task = context.db.task(&run.task_id).await?;
    let project = context.db.project(&task.card.project_id).await?;
    if let Err(error) = checkout::throw_away(&context.config.worktrees_path, &project, &task, run.phase).await {
        tracing::warn!(run = %run.id, %error, "a throw-away checkout was left behind");
    }
    Ok(())
}
