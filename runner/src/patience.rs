//! Merges and cleans up with patience: what may pass by itself, such as another program's lock, is tried again before the person is asked.
//!
//! Nothing of it is stored: after a restart the tries are counted anew.

use std::time::Duration;

use db::Db;
use domain::board::attention::AttentionKind;
use domain::id::TaskId;
use domain::runs::failure::FailureClass;
use repo::RepoError;
use tokio::time::sleep;

use crate::checkout::{self, CheckoutError};
use crate::{disk, merge, parking};

/// Between the tries.
const PAUSES: [Duration; 2] = [Duration::from_secs(5), Duration::from_secs(25)];

/// Merges an approved task, or tells the person why that cannot be.
///
/// # Errors
/// With what is to be tried again later.
pub(crate) async fn merge(db: &Db, id: &TaskId) -> Result<(), String> {
    let done = patiently(PAUSES, || merge::merge(db, id)).await;
    settle(db, id, done, |error| format!("It could not be merged: {error}")).await
}

/// Removes the checkout of a finished task, or tells the person why that cannot be.
///
/// # Errors
/// As [`merge()`].
pub(crate) async fn clean(db: &Db, id: &TaskId) -> Result<(), String> {
    let done = patiently(PAUSES, || clean_once(db, id)).await;
    settle(db, id, done, |error| format!("Its checkout could not be removed: {error}. Mend it and press Retry.")).await
}

async fn clean_once(db: &Db, id: &TaskId) -> Result<(), CheckoutError> {
    let task = db.task(id).await?;
    let project = db.project(&task.card.project_id).await?;
    let rescue = checkout::clean(db, &project, &task).await?;
    Ok(db.checkout_removed(id, rescue).await?)
}

/// Tries once more after each pause, as long as what went wrong may pass.
async fn patiently<Work: Future<Output = Result<(), CheckoutError>>>(
    pauses: impl IntoIterator<Item = Duration>,
    mut work: impl FnMut() -> Work,
) -> Result<(), CheckoutError> {
    for pause in pauses {
        match work().await {
            Err(error) if may_pass(&error) => {
                tracing::info!(%error, "tried again in {} s", pause.as_secs());
                sleep(pause).await;
            }
            done => return done,
        }
    }
    work().await
}

/// Whether nobody need do anything for it to go better soon.
fn may_pass(error: &CheckoutError) -> bool {
    let passes = match error {
        CheckoutError::Repository { error } => {
            matches!(error, RepoError::Locked { .. } | RepoError::Moved { .. } | RepoError::Git { .. } | RepoError::Io { .. })
        }
        CheckoutError::BrokenOff => true,
        _ => false,
    };
    passes && !disk::is_full(error)
}

async fn settle(db: &Db, id: &TaskId, done: Result<(), CheckoutError>, words: impl FnOnce(&CheckoutError) -> String) -> Result<(), String> {
    let error = match done {
        Ok(()) => return Ok(()),
        Err(CheckoutError::Store(error)) => return Err(error.to_string()),
        Err(error) => error,
    };
    let told = if disk::is_full(&error) {
        // Room has to be made, for everybody; what is asked for here stays to be done.
        parking::park(db, FailureClass::DiskFull, None, Some(&error.to_string())).await.map(|_| Err(error.to_string()))
    } else {
        db.request_attention(id, AttentionKind::Repository, &words(&error)).await.map(Ok)
    };
    told.unwrap_or_else(|told| Err(format!("{error}; {told}")))
}

#[cfg(test)]
mod tests;
