//! The checkouts in which checks run. They move from commit to commit, and what git ignores stays in them.
//!
//! Work that nobody approved has one of its own: what it leaves behind must not decide about a merge.

use std::fs;
use std::path::{Path, PathBuf};

use domain::id::ProjectId;
use domain::runs::agent_kind::AgentKind;
use domain::runs::check::CheckStage;

use super::Subject;
use crate::blocking::off_thread;
use crate::runs::checkout::{self, CheckoutError, CheckoutPlan, checkout_name, with_files};
use crate::runs::run::RunContext;
use crate::runs::run::preparation::{self, Preparation};

/// Moves the checkout of a stage to the commit, with the files that agents get.
///
/// # Errors
/// When the repository fails.
pub(super) async fn prepare(context: &RunContext, subject: &Subject) -> Result<(CheckoutPlan, Preparation), CheckoutError> {
    let project = &subject.project;
    let path = scratch(&context.config().worktrees_path, &project.id, subject.stage);
    let plan = CheckoutPlan {
        git_dir: PathBuf::from(&project.git_dir),
        path: path.clone(),
        branch: None,
        shown_branch: String::new(),
        sha: subject.commit.clone(),
        checkpoint: None,
        base: project.base_head.clone(),
        base_branch: project.base_branch.clone(),
        rules: None,
    };
    let commit = subject.commit.clone();
    with_files(&plan.git_dir, move |repository| {
        let name = checkout_name(&path);
        match repository.move_detached(&name, &path, &commit) {
            Err(error) if !error.is_outage() => {
                tracing::warn!(checkout = %path.display(), %error, "a scratch checkout could not be moved; it is created again");
                repository.remove_worktree(&name, &path)?;
                repository.move_detached(&name, &path, &commit)
            }
            moved => moved,
        }
    })
    .await?;
    let setup = preparation::plan(project, &plan, AgentKind::Reviewer).await?;
    Ok((plan, setup))
}

/// The checkout in which the checks of a stage run.
fn scratch(worktrees: &Path, project: &ProjectId, stage: CheckStage) -> PathBuf {
    checkout::folder_of(worktrees, project).join(format!("checks-{stage}"))
}

/// Removes the checkouts in which checks of a deleted project ran. Git's data about them goes too, if the repository still exists.
///
/// # Errors
/// When the store fails or a folder cannot be removed.
pub(crate) async fn remove_scratch(context: &RunContext, id: &ProjectId) -> Result<(), String> {
    let project = context.db.project(id).await.map_err(|error| error.to_string())?;
    for stage in CheckStage::ALL {
        let path = scratch(&context.config().worktrees_path, id, *stage);
        let removed = path.clone();
        let in_repository = with_files(Path::new(&project.git_dir), move |repository| repository.remove_worktree(&checkout_name(&removed), &removed));
        if let Err(error) = in_repository.await {
            tracing::warn!(checkout = %path.display(), %error, "a scratch checkout is removed without its repository");
            let remove = move || if path.exists() { fs::remove_dir_all(&path) } else { Ok(()) };
            off_thread(remove).await.map_err(|error| error.to_string())?.map_err(|error| format!("could not remove a checkout: {error}"))?;
        }
    }
    Ok(())
}
