//! Where agents work: names of branches and folders, made and removed so that doing it twice is as good as once.
//!
//! The store's rows are the truth for every name. A name that exists and is not ours is left alone and gets a number.

mod branch;
mod clean;
mod unlock;

pub(crate) use branch::{Foreign, ask, look_again, project_branch};
pub(crate) use clean::clean;
pub(crate) use unlock::unlock;

use std::path::{Path, PathBuf};

use db::Db;
use domain::board::project::Project;
use domain::board::task::Task;
use domain::runs::agent_kind::AgentKind;
use domain::runs::evidence::Sha;
use domain::runs::run::Run;
use repo::{RepoError, Repository};

/// What keeps a checkout from being made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CheckoutError {
    #[error("{error} {}", error.hint())]
    Repository { error: RepoError },
    #[error("the branch {branch} is gone; send the card back with a comment, and the work begins anew")]
    BranchGone { branch: String },
    #[error("{} holds what git cannot keep: {}; move these files elsewhere", path.display(), names.join(", "))]
    NotKept { path: PathBuf, names: Vec<String> },
    #[error("{0}")]
    Foreign(Box<Foreign>),
    #[error(transparent)]
    Store(#[from] db::Error),
    #[error("the work on the repository was broken off")]
    BrokenOff,
}

impl From<RepoError> for CheckoutError {
    fn from(error: RepoError) -> Self {
        Self::Repository { error }
    }
}

/// A place for one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Site {
    pub(crate) git_dir: PathBuf,
    pub(crate) path: PathBuf,
    /// The task's own branch for a coder; for others none: they work on a detached commit, and nothing of it is kept.
    pub(crate) branch: Option<String>,
    /// The branch that the checkout shows, for the prompt.
    pub(crate) shown_branch: String,
    /// The commit that the work starts from, or that is judged.
    pub(crate) sha: Sha,
    /// What the work is compared with: the tip of the project branch, for an orchestrator that of the base branch.
    pub(crate) base: Sha,
}

/// Runs blocking work on a repository beside the event loop.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T, RepoError> + Send + 'static) -> Result<T, CheckoutError> {
    tokio::task::spawn_blocking(work).await.map_err(|_| CheckoutError::BrokenOff)?.map_err(CheckoutError::from)
}

async fn free_name(git_dir: &Path, wanted: String) -> Result<String, CheckoutError> {
    let git_dir = git_dir.to_owned();
    blocking(move || Repository::open(&git_dir)?.free_branch_name(&wanted)).await
}

/// Decides where a run of `phase` works. References are made and written down, no checkout yet.
///
/// # Errors
/// When the repository cannot be served, or there is no branch to judge.
pub(crate) async fn site(db: &Db, worktrees: &Path, project: &Project, task: &Task, phase: AgentKind) -> Result<Site, CheckoutError> {
    let (project_branch, tip) = project_branch(db, project).await?;
    let git_dir = PathBuf::from(&project.git_dir);
    let folder = worktrees.join(project.id.as_str());
    let id = &task.card.id;
    if phase == AgentKind::Coder {
        let branch = own_branch(db, project, task).await?;
        let path = match &task.worktree_path {
            Some(path) => PathBuf::from(path),
            None => free_place(&git_dir, folder, id.to_string()).await?,
        };
        db.record_checkout(id, &branch, &path.to_string_lossy()).await?;
        return Ok(Site { git_dir, path, shown_branch: branch.clone(), branch: Some(branch), sha: tip.clone(), base: tip });
    }
    let path = free_place(&git_dir, folder, format!("{id}-{phase}")).await?;
    let (shown_branch, sha, base) = match (phase, &task.branch) {
        (AgentKind::Reviewer, Some(branch)) => {
            let found = branch_tip(&git_dir, branch).await?;
            (branch.clone(), found.ok_or_else(|| CheckoutError::BranchGone { branch: branch.clone() })?, tip)
        }
        (AgentKind::Reviewer, None) => return Err(CheckoutError::BranchGone { branch: format!("of {id}") }),
        // Who looks at the whole compares it with what the project started from.
        (AgentKind::Orchestrator, _) => {
            let base = branch_tip(&git_dir, &project.base_branch).await?;
            (project_branch, tip.clone(), base.unwrap_or(tip))
        }
        (AgentKind::Planner | AgentKind::Coder, _) => (project_branch, tip.clone(), tip),
    };
    Ok(Site { git_dir, path, branch: None, shown_branch, sha, base })
}

async fn branch_tip(git_dir: &Path, branch: &str) -> Result<Option<Sha>, CheckoutError> {
    let (git_dir, branch) = (git_dir.to_owned(), branch.to_owned());
    blocking(move || Repository::open(&git_dir)?.ref_sha(&branch)).await
}

async fn own_branch(db: &Db, project: &Project, task: &Task) -> Result<String, CheckoutError> {
    if let Some(branch) = &task.branch {
        return Ok(branch.clone());
    }
    let wanted = format!("vr/{}/work", task.card.id);
    let owned = db.owns_reference(&project.git_dir, &wanted).await?;
    let name = if owned { wanted } else { free_name(Path::new(&project.git_dir), wanted).await? };
    db.claim_reference(&project.git_dir, &name, Some(&task.card.id)).await?;
    Ok(name)
}

/// A folder for a new checkout: `stem` in `folder`, or with the first number with which neither the folder nor the checkout exists. Those
/// that do may belong to another database on the same repository.
async fn free_place(git_dir: &Path, folder: PathBuf, stem: String) -> Result<PathBuf, CheckoutError> {
    let git_dir = git_dir.to_owned();
    blocking(move || {
        let repository = Repository::open(&git_dir)?;
        let mut path = folder.join(&stem);
        let mut number = 1;
        while path.symlink_metadata().is_ok() || repository.worktree_head(&checkout_name(&path))?.is_some() {
            number += 1;
            path = folder.join(format!("{stem}-{number}"));
        }
        Ok(path)
    })
    .await
}

/// What the checkout at `path` is called in the repository.
fn checkout_name(path: &Path) -> String {
    format!("vibe-relay-{}", path.file_name().unwrap_or_default().to_string_lossy())
}

/// Makes the checkout of a site.
///
/// # Errors
/// When the folder is taken by something that is not ours, or cannot be written.
pub(crate) async fn lay_out(site: &Site) -> Result<(), CheckoutError> {
    let site = site.clone();
    blocking(move || {
        let (repository, name) = (Repository::open(&site.git_dir)?, checkout_name(&site.path));
        match &site.branch {
            Some(branch) => {
                // No process of an earlier run is left, so what it locked stays locked for ever.
                repository.clear_locks(&name, branch)?;
                repository.add_worktree(&name, &site.path, branch, &site.sha)
            }
            None => repository.add_detached(&name, &site.path, &site.sha),
        }
    })
    .await
}

/// Removes the throw-away checkout of a run that is over. A coder's checkout is its task's and stays.
///
/// # Errors
/// When it cannot be removed.
pub(crate) async fn throw_away(project: &Project, run: &Run) -> Result<(), CheckoutError> {
    let Some(path) = run.worktree_path.as_ref().filter(|_| run.phase != AgentKind::Coder).map(PathBuf::from) else { return Ok(()) };
    let git_dir = PathBuf::from(&project.git_dir);
    blocking(move || Repository::open(&git_dir)?.remove_worktree(&checkout_name(&path), &path)).await
}

#[cfg(test)]
mod tests;
