//! The checkouts of a project in which commands run other than agents. They move from commit to commit, and what git ignores stays in them.
//!
//! Each purpose has one of its own: what work that nobody approved leaves behind must not decide about a merge.

use std::fs;
use std::path::{Path, PathBuf};

use domain::board::project::Project;
use domain::id::ProjectId;
use domain::runs::agent_kind::AgentKind;
use domain::runs::check::CheckStage;
use domain::runs::evidence::Sha;

use crate::blocking::off_thread;
use crate::runs::checkout::{self, CheckoutError, CheckoutPlan, checkout_name, with_files};
use crate::runs::run::preparation::{self, Preparation};
use crate::runs::run::{RunContext, SETUP_CACHE};

/// The purpose of a checkout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Checks(CheckStage),
    Preview,
}

impl Purpose {
    const ALL: [Self; 3] = [Self::Checks(CheckStage::Quick), Self::Checks(CheckStage::Full), Self::Preview];

    fn path(self, worktrees: &Path, project: &ProjectId) -> PathBuf {
        let name = match self {
            Self::Checks(stage) => format!("checks-{stage}"),
            Self::Preview => "preview".to_owned(),
        };
        checkout::folder_of(worktrees, project).join(name)
    }
}

/// Whether `path` is a scratch checkout of a project.
pub(crate) fn is_of(path: &Path, worktrees: &Path, project: &ProjectId) -> bool {
    Purpose::ALL.into_iter().any(|purpose| purpose.path(worktrees, project) == path)
}

/// Whether `path` belongs to a project itself and not to one of its tasks: a scratch checkout, or the kept setups.
pub fn is_of_project(path: &Path, worktrees: &Path, project: &ProjectId) -> bool {
    is_of(path, worktrees, project) || path == checkout::folder_of(worktrees, project).join(SETUP_CACHE)
}

/// Moves a checkout to the commit, with the files that agents get.
///
/// # Errors
/// When the repository fails.
pub(super) async fn prepare(
    context: &RunContext,
    project: &Project,
    purpose: Purpose,
    commit: &Sha,
) -> Result<(CheckoutPlan, Preparation), CheckoutError> {
    let path = purpose.path(&context.config().worktrees_path, &project.id);
    let plan = CheckoutPlan { sha: commit.clone(), ..CheckoutPlan::of_existing(project, path.clone()) };
    let commit = commit.clone();
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

/// Removes the scratch checkouts of a deleted project. Git's data about them goes too, if the repository still exists.
///
/// # Errors
/// When the store fails or a folder cannot be removed.
pub(crate) async fn remove_all(context: &RunContext, id: &ProjectId) -> Result<(), String> {
    let project = context.db.project(id).await.map_err(|error| error.to_string())?;
    for purpose in Purpose::ALL {
        let path = purpose.path(&context.config().worktrees_path, id);
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
