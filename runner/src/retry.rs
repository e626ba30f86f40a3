//! Retries a merge, a check or a cleanup after transient errors, such as another program's lock, before it asks the human.
//!
//! Nothing is stored: a restart begins to count again.

use std::time::Duration;

use db::Db;
use domain::board::attention::AttentionKind;
use domain::id::TaskId;
use domain::runs::failure::FailureClass;
use repo::RepoError;
use tokio::time::sleep;

use crate::resource;
use crate::runs::check::submission::check_submission;
use crate::runs::checkout::{self, CheckoutError};
use crate::runs::run::RunContext;
use crate::runs::{cleanup, merge, parking};

/// The delays between attempts.
const RETRY_DELAYS: [Duration; 2] = [Duration::from_secs(5), Duration::from_secs(25)];

/// Merges approved tasks of a project, or tells the human on the first of them why that failed.
///
/// # Errors
/// When the job is to be scheduled again later.
pub(crate) async fn merge(context: &RunContext, id: &TaskId, others: &[TaskId]) -> Result<(), String> {
    let outcome = with_retries(RETRY_DELAYS, || merge::merge_all(context, id, others)).await;
    report_failure(&context.db, id, outcome, |error| format!("It could not be merged: {error}")).await
}

/// Runs the quick checks of submitted work, or tells the human why that failed.
///
/// # Errors
/// As [`merge()`].
pub(crate) async fn check(context: &RunContext, id: &TaskId) -> Result<(), String> {
    let outcome = with_retries(RETRY_DELAYS, || check_submission(context, id)).await;
    report_failure(&context.db, id, outcome, |error| {
        format!("It could not be checked: {}. Then press Retry.", error.to_string().trim_end_matches('.'))
    })
    .await
}

/// Removes the checkout of a finished task, or tells the human why that failed.
///
/// # Errors
/// As [`merge()`].
pub(crate) async fn clean(context: &RunContext, id: &TaskId) -> Result<(), String> {
    let outcome = with_retries(RETRY_DELAYS, || try_clean(context, id)).await;
    let text = |error: &CheckoutError| {
        let error = error.to_string();
        format!("Its checkout could not be removed: {}. Then press Retry.", error.trim_end_matches('.'))
    };
    report_failure(&context.db, id, outcome, text).await
}

async fn try_clean(context: &RunContext, id: &TaskId) -> Result<(), CheckoutError> {
    let db = &context.db;
    let task = db.task(id).await?;
    let project = db.project(&task.card.project_id).await?;
    cleanup::run(context, &project, &task).await?;
    let kept = checkout::clean(db, &project, &task).await?;
    Ok(db.checkout_removed(id, kept).await?)
}

/// Repeats `work` after each delay as long as its error is transient.
async fn with_retries<Work: Future<Output = Result<(), CheckoutError>>>(
    delays: impl IntoIterator<Item = Duration>,
    mut work: impl FnMut() -> Work,
) -> Result<(), CheckoutError> {
    for delay in delays {
        match work().await {
            Err(error) if is_transient(&error) => {
                tracing::info!(%error, "retrying in {} s", delay.as_secs());
                sleep(delay).await;
            }
            outcome => return outcome,
        }
    }
    work().await
}

/// Whether the error may pass without anyone doing something about it.
fn is_transient(error: &CheckoutError) -> bool {
    let is_transient = match error {
        CheckoutError::Repository { error } => {
            matches!(
                error,
                RepoError::Locked { .. } | RepoError::Moved { .. } | RepoError::Git { .. } | RepoError::Io { .. } | RepoError::Interrupted
            )
        }
        _ => false,
    };
    is_transient && !resource::is_full(error)
}

async fn report_failure(db: &Db, id: &TaskId, outcome: Result<(), CheckoutError>, text: impl FnOnce(&CheckoutError) -> String) -> Result<(), String> {
    let error = match outcome {
        Ok(()) => return Ok(()),
        Err(CheckoutError::Store(error)) => return Err(error.to_string()),
        // The card says so, and the work stays due.
        Err(error) if error.is_outage() => return Ok(()),
        Err(error) => error,
    };
    let reported = if resource::is_full(&error) {
        // The disk is everyone's, so park instead of flagging this task. Its work stays due.
        parking::park(db, FailureClass::DiskFull, None, Some(&error.to_string())).await.map(|_| Err(error.to_string()))
    } else {
        db.request_attention(id, AttentionKind::Repository, &text(&error)).await.map(Ok)
    };
    reported.unwrap_or_else(|report_error| Err(format!("{error}; {report_error}")))
}

#[cfg(test)]
mod tests;
