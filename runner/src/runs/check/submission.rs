//! The quick checks of submitted work, before its reviewer starts.

use std::path::Path;

use domain::id::TaskId;
use domain::runs::check::{CheckStage, await_quick};

use super::{Subject, Verdict, check, request_repair, text};
use crate::runs::checkout::{CheckoutError, with_repository};
use crate::runs::run::RunContext;

/// Checks the submitted commit of a task, and sends it back if a check fails. Repeating it is harmless.
///
/// # Errors
/// When the repository or the store fails; the task still waits for its checks.
pub(crate) async fn check_submission(context: &RunContext, id: &TaskId) -> Result<(), CheckoutError> {
    let db = &context.db;
    let task = db.task(id).await?;
    let project = db.project(&task.card.project_id).await?;
    let submitted = db.submission_in_review(id).await?;
    if !await_quick(&task.card.checks, submitted.as_ref(), &project.profile.checks, project.profile_version) {
        return Ok(());
    }
    let Some(sha) = submitted else { return Ok(()) };
    let commit = sha.clone();
    let tree = with_repository(Path::new(&project.git_dir), move |repository| repository.tree_of(&commit)).await?;
    let subject = Subject { project, work: vec![(id.clone(), sha.clone())], stage: CheckStage::Quick, commit: sha.clone(), tree };
    match check(context, &subject).await? {
        Verdict::Passed | Verdict::Unwanted => Ok(()),
        Verdict::NotRun { why } => Ok(request_repair(db, id, &why).await?),
        Verdict::Failed(failed) => match db.record_failed_checks(id, &sha, &text(&context.config().prompts, &sha, None, &failed)).await {
            // Someone moved the card meanwhile, and that decision stands.
            Err(db::Error::Refused(_)) => Ok(()),
            recorded => Ok(recorded.map(drop)?),
        },
    }
}
