//! Keeps the commits of earlier review rounds for the human, who compares them. Must not decide when a task makes no progress.

use std::path::Path;

use db::Db;
use domain::board::project::Project;
use domain::board::task::Task;
use domain::id::TaskId;
use repo::ROUND_PREFIX;

use super::{CheckoutError, with_repository};

/// Keeps the commit that was last sent back, before its coder can replace it.
///
/// # Errors
/// When the repository or the store fails.
pub(crate) async fn keep_last_round(db: &Db, project: &Project, task: &Task) -> Result<(), CheckoutError> {
    let id = &task.card.id;
    let Some(last) = db.review_rounds(id).await?.pop() else { return Ok(()) };
    let reference = format!("{}/{}", folder(id), last.number);
    db.claim_reference(&project.git_dir, &reference, Some(id)).await?;
    with_repository(Path::new(&project.git_dir), move |repository| repository.keep_round(&reference, &last.sha)).await
}

/// The folder of the references of a task.
pub(super) fn folder(task: &TaskId) -> String {
    format!("{ROUND_PREFIX}{task}")
}
