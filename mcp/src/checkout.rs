//! The checkout in which the paths of a caller begin: its own worktree, or that of the person.

use std::path::PathBuf;

use db::Caller;
use domain::id::ProjectId;

use crate::call::Call;
use crate::reply::Failure;

/// Where a relative path of a caller begins.
pub(crate) struct Checkout {
    pub(crate) git_dir: PathBuf,
    pub(crate) path: PathBuf,
}

pub(crate) async fn checkout_of(call: &Call, project: &ProjectId) -> Result<Checkout, Failure> {
    let project = call.db.project(project).await?;
    let own = match &call.caller {
        Caller::Run(run) => call.db.task(&run.task_id).await?.worktree_path,
        Caller::Agent(_) | Caller::Person(_) | Caller::Runner | Caller::Invite(_) => None,
    };
    Ok(Checkout { git_dir: project.git_dir.into(), path: own.unwrap_or(project.repo_path).into() })
}
