//! The checkout in which the paths of an agent begin: its own worktree, or that of the person. Also finds when files in it changed.

use std::path::PathBuf;

use db::{Caller, Db};
use domain::id::{ProjectId, TaskId};
use domain::warroom::claim::ClaimPath;
use domain::warroom::freshness::ChangedFile;
use repo::{Effort, Repository, in_lane};

use crate::call::Call;
use crate::reply::Failure;

/// Where a relative path of an agent begins.
pub(crate) struct Checkout {
    pub(crate) git_dir: PathBuf,
    pub(crate) path: PathBuf,
}

/// The checkout of a caller.
pub(crate) async fn checkout_of(call: &Call, project: &ProjectId) -> Result<Checkout, Failure> {
    let task = match &call.caller {
        Caller::Run(run) => Some(&run.task_id),
        Caller::Agent(_) | Caller::Person(_) | Caller::Runner | Caller::Invite(_) => None,
    };
    checkout_for(&call.db, project, task).await
}

/// The worktree of a task, or the checkout of the person.
pub(crate) async fn checkout_for(db: &Db, project: &ProjectId, task: Option<&TaskId>) -> Result<Checkout, Failure> {
    let project = db.project(project).await?;
    let own = match task {
        Some(task) => db.task(task).await?.worktree_path,
        None => None,
    };
    Ok(Checkout { git_dir: project.git_dir.into(), path: own.unwrap_or(project.repo_path).into() })
}

/// Returns the files behind each path with their last changes.
pub(crate) async fn file_times(checkout: Checkout, paths: Vec<ClaimPath>) -> Result<Vec<Vec<ChangedFile>>, Failure> {
    let Checkout { git_dir, path } = checkout;
    Ok(in_lane(&git_dir.clone(), Effort::Brief, move || Repository::open(&git_dir)?.file_times(&path, &paths)).await??)
}
