//! Where agents work: plans, creates and removes checkouts and the branches of tasks, each step idempotent.
//!
//! The store's rows own every name. A name that exists and is not ours stays untouched, and ours gets a number. This module must not
//! decide whether a run starts.

mod clean;
mod review_round;
mod unlock;

pub(crate) use clean::clean;
pub(crate) use repo::checkout_name;
pub(crate) use unlock::{unlock, unlock_landings};

use std::path::{Path, PathBuf};

use db::Db;
use domain::board::project::Project;
use domain::board::task::Task;
use domain::id::ProjectId;
use domain::refusal::RepositoryRefusal;
use domain::runs::agent_kind::AgentKind;
use domain::runs::evidence::Sha;
use domain::runs::land::{replace_base, similar_branches};
use domain::runs::run::Run;
use repo::{Effort, RepoError, Repository};

use super::branch::{UnapprovedCommits, project_branch};
use crate::backend;
use crate::blocking::off_thread;

/// Why a checkout, a branch or a merge failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CheckoutError {
    #[error("{error}. {}", error.hint())]
    Repository { error: RepoError },
    #[error("the branch {branch} does not exist; send the card back with a comment to start the work again")]
    BranchGone { branch: String },
    #[error("the branch {branch}, from which this task starts, does not exist; create it again, then press Retry")]
    StartGone { branch: String },
    #[error("the base branch {branch} does not exist{}. {}, then press Retry.", similar_branches(near), replace_base(project))]
    BaseMissing { project: ProjectId, branch: String, near: Vec<String> },
    #[error("{} holds files that git cannot keep: {}; move them elsewhere", path.display(), names.join(", "))]
    NotKept { path: PathBuf, names: Vec<String> },
    #[error("{0}")]
    UnapprovedCommits(Box<UnapprovedCommits>),
    #[error(transparent)]
    Store(#[from] db::Error),
}

impl CheckoutError {
    /// Whether the repository could not be used at all for now. Nobody's work is the reason.
    pub(crate) fn is_outage(&self) -> bool {
        matches!(self, Self::Repository { error } if error.is_outage())
    }

    /// Whether the machine of the person lacks something. Nobody's work is the reason.
    pub(crate) fn is_of_machine(&self) -> bool {
        matches!(self, Self::Repository { error } if error.is_of_machine())
    }
}

impl From<RepoError> for CheckoutError {
    fn from(error: RepoError) -> Self {
        Self::Repository { error }
    }
}

impl From<CheckoutError> for db::Error {
    /// For a person who asked for something. The runner itself puts the failure on the card.
    fn from(error: CheckoutError) -> Self {
        match error {
            CheckoutError::Store(error) => error,
            CheckoutError::Repository { error } => RepositoryRefusal { code: error.code(), detail: error.to_string(), hint: error.hint() }.into(),
            error => {
                let hint = "Look at the repository, then try again.".to_owned();
                RepositoryRefusal { code: "repository", detail: error.to_string(), hint }.into()
            }
        }
    }
}

/// Where one run works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CheckoutPlan {
    pub(crate) git_dir: PathBuf,
    pub(crate) path: PathBuf,
    /// The task's own branch for a coder. Other agents work on a detached commit, and nothing of their checkout is kept.
    pub(crate) branch: Option<String>,
    /// The branch that the prompt names.
    pub(crate) shown_branch: String,
    /// The commit that the work starts from, or that is reviewed.
    pub(crate) sha: Sha,
    /// The checkpoint whose files a new checkout gets.
    pub(crate) checkpoint: Option<Sha>,
    /// The commit that the work is compared with: the tip of the project branch, or of the base branch for an orchestrator.
    pub(crate) base: Sha,
    pub(crate) base_branch: String,
    /// The commit whose CLAUDE.md and AGENTS.md instruct an agent that judges the work of others; `None` for an agent that follows those of
    /// its checkout.
    pub(crate) rules: Option<Sha>,
}

impl CheckoutPlan {
    /// A checkout that exists, for a command other than an agent. It moves no branch.
    pub(crate) fn of_existing(project: &Project, path: PathBuf) -> Self {
        Self {
            git_dir: PathBuf::from(&project.git_dir),
            path,
            branch: None,
            shown_branch: String::new(),
            sha: project.base_head.clone(),
            checkpoint: None,
            base: project.base_head.clone(),
            base_branch: project.base_branch.clone(),
            rules: None,
        }
    }
}

/// Reads or moves references and commits of a repository.
pub(crate) async fn with_repository<T: Send + 'static>(
    git_dir: &Path,
    work: impl FnOnce(&Repository) -> Result<T, RepoError> + Send + 'static,
) -> Result<T, CheckoutError> {
    in_lane(git_dir, Effort::Brief, work).await
}

/// Reads, writes or removes the files of a checkout, which may take long.
pub(crate) async fn with_files<T: Send + 'static>(
    git_dir: &Path,
    work: impl FnOnce(&Repository) -> Result<T, RepoError> + Send + 'static,
) -> Result<T, CheckoutError> {
    in_lane(git_dir, Effort::Long, work).await
}

async fn in_lane<T: Send + 'static>(
    git_dir: &Path,
    effort: Effort,
    work: impl FnOnce(&Repository) -> Result<T, RepoError> + Send + 'static,
) -> Result<T, CheckoutError> {
    let opened = git_dir.to_owned();
    Ok(repo::in_lane(git_dir, effort, move || work(&Repository::open(&opened)?)).await??)
}

pub(super) async fn free_branch_name(git_dir: &Path, wanted: String) -> Result<String, CheckoutError> {
    with_repository(git_dir, move |repository| repository.free_branch_name(&wanted)).await
}

/// The folder of the checkouts of a project.
pub fn folder_of(worktrees: &Path, project: &ProjectId) -> PathBuf {
    worktrees.join(project.as_str())
}

/// Returns the commit at which a task begins, if a person chose another one than the tip of the project branch.
async fn start_of(git_dir: &Path, task: &Task) -> Result<Option<Sha>, CheckoutError> {
    let Some(from) = &task.from_branch else { return Ok(None) };
    if let Some(own) = &task.branch
        && branch_tip(git_dir, own).await?.is_some()
    {
        // The work has begun, so the other branch may be gone.
        return Ok(None);
    }
    let tip = branch_tip(git_dir, from).await?;
    tip.map(Some).ok_or_else(|| CheckoutError::StartGone { branch: from.clone() })
}

/// Plans where a run of `phase` works. It creates and records branches, but no checkout yet.
///
/// # Errors
/// When the repository is unusable, or the branch to review does not exist.
pub(crate) async fn plan_checkout(
    db: &Db,
    worktrees: &Path,
    project: &Project,
    task: &Task,
    phase: AgentKind,
) -> Result<CheckoutPlan, CheckoutError> {
    let (project_branch, tip) = project_branch(db, project).await?;
    let git_dir = PathBuf::from(&project.git_dir);
    let folder = folder_of(worktrees, &project.id);
    let id = &task.card.id;
    if phase == AgentKind::Coder {
        let branch = task_branch(db, project, task).await?;
        let path = match &task.worktree_path {
            Some(path) => PathBuf::from(path),
            None => free_path(&git_dir, folder, id.to_string()).await?,
        };
        db.record_checkout(id, &branch, &path.to_string_lossy()).await?;
        review_round::keep_last_round(db, project, task).await?;
        let checkpoint = db.rewind_target(id).await?;
        let sha = match checkpoint.clone() {
            Some(checkpoint) => with_repository(&git_dir, move |repository| repository.checkpoint_head(&checkpoint)).await?,
            None => start_of(&git_dir, task).await?.unwrap_or_else(|| tip.clone()),
        };
        return Ok(CheckoutPlan {
            git_dir,
            path,
            shown_branch: branch.clone(),
            branch: Some(branch),
            sha,
            checkpoint,
            base: tip,
            base_branch: project_branch,
            rules: None,
        });
    }
    let path = free_path(&git_dir, folder, format!("{id}-{phase}")).await?;
    let base_tip = branch_tip(&git_dir, &project.base_branch).await?;
    // Only the person changes the base branch. The work under review may change its own copy of the rules.
    let judges = matches!(phase, AgentKind::Reviewer | AgentKind::Orchestrator);
    let rules = judges.then(|| base_tip.clone().unwrap_or_else(|| tip.clone()));
    let (shown_branch, sha, base, base_branch) = match (phase, &task.branch) {
        (AgentKind::Reviewer, Some(branch)) => {
            let found = branch_tip(&git_dir, branch).await?;
            (branch.clone(), found.ok_or_else(|| CheckoutError::BranchGone { branch: branch.clone() })?, tip, project_branch)
        }
        (AgentKind::Reviewer, None) => return Err(CheckoutError::BranchGone { branch: format!("of {id}") }),
        // An orchestrator compares the whole with what the project started from.
        (AgentKind::Orchestrator, _) => (project_branch, tip.clone(), base_tip.unwrap_or(tip), project.base_branch.clone()),
        (AgentKind::Planner | AgentKind::Coder | AgentKind::Oracle, _) => (project_branch.clone(), tip.clone(), tip, project_branch),
    };
    Ok(CheckoutPlan { git_dir, path, branch: None, shown_branch, sha, checkpoint: None, base, base_branch, rules })
}

async fn branch_tip(git_dir: &Path, branch: &str) -> Result<Option<Sha>, CheckoutError> {
    let branch = branch.to_owned();
    with_repository(git_dir, move |repository| repository.ref_sha(&branch)).await
}

async fn task_branch(db: &Db, project: &Project, task: &Task) -> Result<String, CheckoutError> {
    if let Some(branch) = &task.branch {
        return Ok(branch.clone());
    }
    let wanted = format!("vr/{}/work", task.card.id);
    let is_ours = db.owns_reference(&project.git_dir, &wanted).await?;
    let name = if is_ours { wanted } else { free_branch_name(Path::new(&project.git_dir), wanted).await? };
    db.claim_reference(&project.git_dir, &name, Some(&task.card.id)).await?;
    Ok(name)
}

/// Picks a folder for a new checkout: `stem` in `folder`, or with the first number for which neither folder nor checkout exists. Existing
/// ones may belong to another database on the same repository.
async fn free_path(git_dir: &Path, folder: PathBuf, stem: String) -> Result<PathBuf, CheckoutError> {
    with_repository(git_dir, move |repository| {
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

/// The commit at HEAD of the checkout at `path`.
pub(crate) fn checkout_head(repository: &Repository, path: &Path) -> Result<Option<Sha>, RepoError> {
    repository.worktree_head(&checkout_name(path))
}

/// The folder of a plan's checkout in the repository.
pub(super) fn admin_folder(plan: &CheckoutPlan) -> PathBuf {
    plan.git_dir.join("worktrees").join(checkout_name(&plan.path))
}

/// Creates the checkout of a plan.
///
/// # Errors
/// When the folder holds something that is not ours, or cannot be written.
pub(crate) async fn create(plan: &CheckoutPlan) -> Result<(), CheckoutError> {
    let CheckoutPlan { path, branch, sha, checkpoint, .. } = plan.clone();
    with_files(&plan.git_dir, move |repository| {
        let name = checkout_name(&path);
        match &branch {
            Some(branch) => {
                // No process of an earlier run is left to remove its locks.
                repository.clear_locks(&name, branch)?;
                repository.add_worktree(&name, &path, branch, &sha)?;
                checkpoint.map_or(Ok(()), |checkpoint| repository.restore_checkpoint(&name, &path, &checkpoint))
            }
            None => repository.add_detached(&name, &path, &sha),
        }
    })
    .await
}

/// Removes the temporary checkout of a run that ended. A coder's checkout belongs to its task and stays.
///
/// # Errors
/// When it cannot be removed.
pub(crate) async fn remove_temporary(project: &Project, run: &Run) -> Result<(), CheckoutError> {
    let Some(path) = run.worktree_path.as_ref().filter(|_| run.phase != AgentKind::Coder).map(PathBuf::from) else { return Ok(()) };
    let checkout = path.clone();
    with_files(Path::new(&project.git_dir), move |repository| repository.remove_worktree(&checkout_name(&path), &path)).await?;
    // The next question to an oracle goes on in its session.
    if run.phase != AgentKind::Oracle {
        forget_sessions(checkout).await;
    }
    Ok(())
}

/// Removes the conversations that agents had in a removed checkout.
async fn forget_sessions(checkout: PathBuf) {
    let shown = checkout.display().to_string();
    if let Ok(Err(error)) = off_thread(move || backend::remove_sessions(&checkout)).await {
        tracing::warn!(checkout = shown, %error, "the agents' conversations in a removed checkout were not removed");
    }
}

#[cfg(test)]
mod tests;
