//! Where agents work: names of branches and folders, made and removed so that doing it twice is as good as once.
//!
//! The store's rows are the truth for every name. A name that exists and is not ours is left alone and gets a number.

use std::path::{Path, PathBuf};

use db::Db;
use domain::evidence::Sha;
use domain::project::Project;
use domain::task::{Phase, Task};
use repo::{RepoError, Repository};

/// What keeps a checkout from being made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CheckoutError {
    #[error("{error} {}", error.hint())]
    Repository { error: RepoError },
    #[error("the branch {branch} is gone; move the card to backlog to begin anew")]
    BranchGone { branch: String },
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
    /// The checkout's name in the repository.
    pub(crate) name: String,
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

/// Makes sure that the project branch exists, and answers its name and tip.
///
/// # Errors
/// When the repository cannot be served or the base branch is gone.
pub(crate) async fn project_branch(db: &Db, project: &Project) -> Result<(String, Sha), CheckoutError> {
    let git_dir = PathBuf::from(&project.git_dir);
    let wanted = project.integration_branch.clone();
    let owned = db.owns_reference(&project.git_dir, &wanted).await?;
    let (known, base_branch) = (project.integration_head.clone(), project.base_branch.clone());
    let name = {
        let git_dir = git_dir.clone();
        blocking(move || {
            let repository = Repository::open(&git_dir)?;
            repository.check()?;
            if owned { Ok(wanted) } else { repository.free_branch_name(&wanted) }
        })
        .await?
    };
    db.own_reference(&project.git_dir, &name, None).await?;
    let branch = name.clone();
    let tip = blocking(move || {
        let repository = Repository::open(&git_dir)?;
        match (repository.ref_sha(&branch)?, known) {
            (Some(tip), _) => Ok(tip),
            // Somebody deleted it: what was merged is not lost.
            (None, Some(head)) => repository.move_ref(&branch, None, &head, "vibe-relay: restored").map(|()| head),
            (None, None) => repository.ensure_project_branch(&branch, &base_branch),
        }
    })
    .await?;
    db.project_branch_moved(&project.id, &name, &tip).await?;
    Ok((name, tip))
}

/// Decides where a run of `phase` works. References are made and written down, no checkout yet.
///
/// # Errors
/// When the repository cannot be served, or there is no branch to judge.
pub(crate) async fn site(db: &Db, worktrees: &Path, project: &Project, task: &Task, phase: Phase) -> Result<Site, CheckoutError> {
    let (project_branch, base) = project_branch(db, project).await?;
    let git_dir = PathBuf::from(&project.git_dir);
    let id = &task.card.id;
    let folder = worktrees.join(project.id.as_str());
    if phase == Phase::Coder {
        let branch = own_branch(db, project, task).await?;
        let path = task.worktree_path.as_ref().map_or_else(|| folder.join(id.as_str()), PathBuf::from);
        db.checkout_planned(id, &branch, &path.to_string_lossy()).await?;
        return Ok(Site {
            git_dir,
            name: checkout_name(id.as_str()),
            path,
            shown_branch: branch.clone(),
            branch: Some(branch),
            sha: base.clone(),
            base,
        });
    }
    let (shown_branch, sha) = match (&task.branch, phase) {
        (Some(branch), Phase::Reviewer) => {
            let (git_dir, name) = (git_dir.clone(), branch.clone());
            let tip = blocking(move || Repository::open(&git_dir)?.ref_sha(&name)).await?;
            (branch.clone(), tip.ok_or_else(|| CheckoutError::BranchGone { branch: branch.clone() })?)
        }
        (None, Phase::Reviewer) => return Err(CheckoutError::BranchGone { branch: format!("of {id}") }),
        _ => (project_branch, base.clone()),
    };
    // Who looks at the whole compares it with what the project started from.
    let base = if phase == Phase::Orchestrator { base_tip(&git_dir, &project.base_branch).await?.unwrap_or(base) } else { base };
    let name = format!("{id}-{phase}");
    Ok(Site { git_dir, path: folder.join(&name), name: checkout_name(&name), branch: None, shown_branch, sha, base })
}

async fn base_tip(git_dir: &Path, branch: &str) -> Result<Option<Sha>, CheckoutError> {
    let (git_dir, branch) = (git_dir.to_owned(), branch.to_owned());
    blocking(move || Repository::open(&git_dir)?.ref_sha(&branch)).await
}

async fn own_branch(db: &Db, project: &Project, task: &Task) -> Result<String, CheckoutError> {
    if let Some(branch) = &task.branch {
        return Ok(branch.clone());
    }
    let wanted = format!("vr/{}/work", task.card.id);
    let name = if db.owns_reference(&project.git_dir, &wanted).await? {
        wanted
    } else {
        let git_dir = PathBuf::from(&project.git_dir);
        blocking(move || Repository::open(&git_dir)?.free_branch_name(&wanted)).await?
    };
    db.own_reference(&project.git_dir, &name, Some(&task.card.id)).await?;
    Ok(name)
}

fn checkout_name(name: &str) -> String {
    format!("vibe-relay-{name}")
}

/// Makes the checkout of a site.
///
/// # Errors
/// When the folder is taken by something that is not ours, or cannot be written.
pub(crate) async fn lay_out(site: &Site) -> Result<(), CheckoutError> {
    let site = site.clone();
    blocking(move || {
        let repository = Repository::open(&site.git_dir)?;
        match &site.branch {
            Some(branch) => {
                // No process of an earlier run is left, so what it locked stays locked for ever.
                repository.clear_locks(&site.name, branch)?;
                repository.add_worktree(&site.name, &site.path, branch, &site.sha)
            }
            None => {
                // What an earlier throw-away run left there is nobody's work.
                repository.remove_worktree(&site.name, &site.path)?;
                repository.add_detached(&site.name, &site.path, &site.sha)
            }
        }
    })
    .await
}

/// Removes the throw-away checkout of a run that is over.
///
/// # Errors
/// When it cannot be removed.
pub(crate) async fn throw_away(worktrees: &Path, project: &Project, task: &Task, phase: Phase) -> Result<(), CheckoutError> {
    let name = format!("{}-{phase}", task.card.id);
    let path = worktrees.join(project.id.as_str()).join(&name);
    let git_dir = PathBuf::from(&project.git_dir);
    blocking(move || Repository::open(&git_dir)?.remove_worktree(&checkout_name(&name), &path)).await
}

/// Removes a finished task's checkout and branch. What was not merged is kept under a rescue reference, whose name is answered.
///
/// # Errors
/// When something that was not merged could not be kept; nothing is removed then.
pub(crate) async fn clean(db: &Db, project: &Project, task: &Task) -> Result<Option<String>, CheckoutError> {
    let (Some(branch), Some(path)) = (task.branch.clone(), task.worktree_path.as_ref().map(PathBuf::from)) else { return Ok(None) };
    let id = task.card.id.clone();
    let stem = format!("{}{id}", repo::RESCUE_PREFIX);
    let (uncommitted, commits) = (format!("{stem}/uncommitted"), format!("{stem}/commits"));
    for name in [&uncommitted, &commits] {
        db.own_reference(&project.git_dir, name, Some(&id)).await?;
    }
    let (git_dir, kept_by) = (PathBuf::from(&project.git_dir), project.integration_branch.clone());
    let name = checkout_name(id.as_str());
    blocking(move || {
        let repository = Repository::open(&git_dir)?;
        let Some(tip) = repository.ref_sha(&branch)? else {
            repository.remove_worktree(&name, &path)?;
            return Ok(None);
        };
        let mut rescued = None;
        if path.is_dir() && repository.rescue(&uncommitted, &path, &tip)?.is_some() {
            rescued = Some(uncommitted);
        }
        if !repository.log(&repository.ref_sha(&kept_by)?.unwrap_or_default(), &tip, 1)?.is_empty() {
            repository.rescue_tip(&commits, &tip)?;
            rescued.get_or_insert(commits);
        }
        repository.clear_locks(&name, &branch)?;
        repository.remove_worktree(&name, &path)?;
        repository.delete_branch(&branch, &kept_by)?;
        Ok(rescued)
    })
    .await
}
