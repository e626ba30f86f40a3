//! Takes a finished task's checkout and branch away, after keeping what is in no other place.
//!
//! What is kept is below the rescue prefix, under names that say which task and which commit.

use std::path::{Path, PathBuf};

use db::Db;
use domain::board::project::Project;
use domain::board::task::Task;
use domain::runs::evidence::Sha;
use repo::{RESCUE_PREFIX, RepoError, Repository};

use super::branch::standing;
use super::{CheckoutError, blocking, checkout_name};

/// What is about to be removed.
#[derive(Debug)]
struct Found {
    /// What uncommitted work is based on.
    start: Sha,
    /// Commits that only the task's branch or its checkout hold.
    unmerged: Vec<Sha>,
}

/// Removes a finished task's checkout and branch. What was not merged is kept under a rescue reference, whose name is answered.
///
/// # Errors
/// When something that was not merged could not be kept; nothing is removed then.
pub(crate) async fn clean(db: &Db, project: &Project, task: &Task) -> Result<Option<String>, CheckoutError> {
    let (Some(branch), Some(path)) = (task.branch.clone(), task.worktree_path.as_ref().map(PathBuf::from)) else { return Ok(None) };
    // Beside what is foreign there too: a person may take that back, and what only it holds would be gone.
    let standing = standing(db, &project.id).await?;
    let (kept_by, base) = (standing.name, standing.ours);
    let git_dir = PathBuf::from(&project.git_dir);
    let found = {
        let (git_dir, branch, path) = (git_dir.clone(), branch.clone(), path.clone());
        blocking(move || look(&Repository::open(&git_dir)?, &branch, &path, &base)).await?
    };
    let id = &task.card.id;
    let uncommitted = format!("{RESCUE_PREFIX}{id}/uncommitted");
    // Named by the commit: a task that is taken up again may have others to keep.
    let commits: Vec<(String, Sha)> =
        found.unmerged.into_iter().map(|sha| (format!("{RESCUE_PREFIX}{id}/{}", sha.get(..12).unwrap_or(&sha)), sha)).collect();
    for name in commits.iter().map(|(name, _)| name).chain([&uncommitted]) {
        db.claim_reference(&project.git_dir, name, Some(id)).await?;
    }
    blocking(move || {
        let repository = Repository::open(&git_dir)?;
        let mut rescued = None;
        if path.is_dir()
            && let Some(rescue) = repository.rescue(&uncommitted, &path, &found.start)?
        {
            if !rescue.skipped.is_empty() {
                return Ok(Err(CheckoutError::NotKept { path, names: rescue.skipped }));
            }
            rescued = Some(uncommitted);
        }
        for (name, sha) in commits {
            repository.rescue_tip(&name, &sha)?;
            rescued.get_or_insert(name);
        }
        let name = checkout_name(&path);
        repository.clear_locks(&name, &branch)?;
        repository.remove_worktree(&name, &path)?;
        match repository.delete_branch(&branch, &kept_by) {
            // Somebody looks at it in a checkout of their own: it stays for them.
            Err(RepoError::CheckedOut { .. }) => Ok(Ok(rescued)),
            deleted => deleted.map(|_| Ok(rescued)),
        }
    })
    .await?
}

fn look(repository: &Repository, branch: &str, path: &Path, base: &Sha) -> Result<Found, RepoError> {
    let tip = repository.ref_sha(branch)?;
    // The agent may have left its branch, and may have written anything into its HEAD.
    let head = repository.worktree_head(&checkout_name(path))?.filter(|head| repository.tree_of(head).is_ok());
    let mut unmerged = Vec::new();
    for sha in [&tip, &head].into_iter().flatten() {
        if !unmerged.contains(sha) && !repository.log(base, sha, 1)?.is_empty() {
            unmerged.push(sha.clone());
        }
    }
    Ok(Found { start: head.or(tip).unwrap_or_else(|| base.clone()), unmerged })
}
