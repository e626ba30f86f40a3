//! Control files of a repository: compared before and after a run, because every later git command obeys what an agent changed there.
//!
//! It must not execute, undo or judge a change. The human reads it on the card.

use std::path::Path;
use std::{fs, io};

use domain::runs::run::Run;
use repo::{ControlFiles, RepoError};

use super::checkout::{CheckoutError, CheckoutPlan, checkout_name, with_repository};
use super::run::RunContext;

/// The control files before the run, in the run's folder.
pub(crate) const FILE: &str = "control.json";

/// Reads the control files that a run finds.
///
/// # Errors
/// When the repository is unusable, or a control file cannot be read.
pub(crate) async fn read(plan: &CheckoutPlan) -> Result<ControlFiles, CheckoutError> {
    let name = checkout_name(&plan.path);
    with_repository(&plan.git_dir, move |repository| repository.control_files(&name)).await
}

/// Tells on the card how the control files changed during a run. Call it before the end of the run is recorded.
///
/// # Errors
/// When the store fails.
pub(crate) async fn report_changes(context: &RunContext, run: &Run) -> db::Result<()> {
    let card = context.db.card(&run.task_id).await?;
    let project = context.db.project(&card.project_id).await?;
    let (file, name) = (context.db.run_dir(&run.id).await?.join(FILE), checkout_name(Path::new(run.worktree_path.as_deref().unwrap_or_default())));
    let compared = with_repository(Path::new(&project.git_dir), move |repository| {
        let before: ControlFiles = fs::read(&file).and_then(|text| serde_json::from_slice(&text).map_err(io::Error::from)).map_err(unreadable)?;
        Ok(before.changes(&repository.control_files(&name)?))
    });
    let note = match compared.await {
        Ok(changes) if changes.is_empty() => return Ok(()),
        Ok(changes) => {
            let listed: Vec<String> = changes.iter().map(|line| format!("    {line}")).collect();
            format!(
                "Files that git obeys in every checkout of this repository changed while {} was at work, by its agent or by someone else. Nothing \
                 was executed or undone. Check them before your next git command there.\n\n{}",
                run.id,
                listed.join("\n")
            )
        }
        Err(error) => format!("Whether {} changed files that git obeys is unknown: {error}", run.id),
    };
    context.db.note_for_run(&run.id, &note).await
}

fn unreadable(reason: io::Error) -> RepoError {
    RepoError::Io { attempted: "read what they were before the run".to_owned(), reason }
}
