//! Removes a finished task's checkout and branch, after keeping what exists nowhere else.
//!
//! Kept work lies below the rescue prefix, under names with the task and the commit.

use std::path::{Path, PathBuf};

use db::Db;
use domain::board::project::Project;
use domain::board::task::Task;
use domain::runs::checkout::{KeptNested, KeptWork};
use domain::runs::evidence::Sha;
use repo::{NestedRepository, NestedWork, RESCUE_PREFIX, RepoError, Repository, SQUASHED_PREFIX};

use super::{CheckoutError, checkout_name, forget_sessions, review_round, with_files};
use crate::jail::prepare::release_branch;
use crate::runs::branch::branch_state;

/// Work that a removal would lose.
#[derive(Debug)]
struct Leftovers {
    /// The commit that uncommitted work is based on.
    start: Sha,
    /// Commits that only the task's branch or its checkout hold.
    unmerged: Vec<Sha>,
    /// The merged commit, if the project branch has its changes as one commit.
    squashed: Option<Sha>,
    nested: Vec<NestedRepository>,
}

/// Removes a finished task's checkout and branch. Unmerged work goes to rescue references, which are returned.
///
/// # Errors
/// When unmerged work cannot be kept; nothing is removed then.
pub(crate) async fn clean(db: &Db, project: &Project, task: &Task) -> Result<KeptWork, CheckoutError> {
    let (Some(branch), Some(path)) = (task.branch.clone(), task.worktree_path.as_ref().map(PathBuf::from)) else { return Ok(KeptWork::default()) };
    // Unapproved commits do not count as a home for the work: the human may remove them, and the work with them.
    let state = branch_state(db, &project.id).await?;
    let (kept_by, base) = (state.name, state.ours);
    let git_dir = Path::new(&project.git_dir);
    let id = &task.card.id;
    let leftovers = {
        let (branch, path, merged) = (branch.clone(), path.clone(), task.merged_sha.clone());
        with_files(git_dir, move |repository| find_leftovers(repository, &branch, &path, &base, merged)).await?
    };
    let squashed = leftovers.squashed.map(|sha| (format!("{SQUASHED_PREFIX}{}", project.id), sha));
    if let Some((name, _)) = &squashed {
        db.claim_reference(&project.git_dir, name, None).await?;
    }
    let uncommitted = format!("{RESCUE_PREFIX}{id}/uncommitted");
    // Named by the commit, because a reopened task may leave other work later.
    let commits: Vec<(String, Sha)> =
        leftovers.unmerged.into_iter().map(|sha| (format!("{RESCUE_PREFIX}{id}/{}", sha.get(..12).unwrap_or(&sha)), sha)).collect();
    let nested: Vec<(String, NestedRepository)> =
        leftovers.nested.into_iter().map(|nested| (format!("{RESCUE_PREFIX}{id}/nested/{}", nested.reference_name()), nested)).collect();
    for name in commits.iter().map(|(name, _)| name).chain(nested.iter().map(|(name, _)| name)).chain([&uncommitted]) {
        db.claim_reference(&project.git_dir, name, Some(id)).await?;
    }
    let checkout = path.clone();
    // The human may still compare the rounds of open work.
    let rounds = (!task.card.status.is_open()).then(|| review_round::folder(id));
    let kept = with_files(git_dir, move |repository| {
        let mut kept = KeptWork::default();
        let mut not_kept = Vec::new();
        for (name, nested) in nested {
            match repository.rescue_nested(&name, &nested)? {
                NestedWork::Nothing => {}
                NestedWork::Kept => kept.nested.push(KeptNested { path: nested.path, reference: name }),
                NestedWork::NotKept { why } => not_kept.push(format!("the nested repository {} ({why})", nested.path)),
            }
        }
        if !not_kept.is_empty() {
            return Ok(Err(CheckoutError::NotKept { path, names: not_kept }));
        }
        if path.is_dir()
            && let Some(rescue) = repository.rescue(&uncommitted, &path, &leftovers.start)?
        {
            if !rescue.skipped.is_empty() {
                return Ok(Err(CheckoutError::NotKept { path, names: rescue.skipped }));
            }
            kept.own = Some(uncommitted);
        }
        if let Some((name, sha)) = squashed {
            repository.keep_squashed(&name, &sha)?;
        }
        for (name, sha) in commits {
            repository.rescue_tip(&name, &sha)?;
            kept.own.get_or_insert(name);
        }
        if let Some(rounds) = rounds {
            repository.forget_rounds(&rounds)?;
        }
        let name = checkout_name(&path);
        repository.clear_locks(&name, &branch)?;
        repository.remove_worktree(&name, &path)?;
        release_branch(repository.git_dir(), &branch);
        match repository.delete_branch(&branch, &kept_by) {
            // The human has it in a checkout, so it stays.
            Err(RepoError::CheckedOut { .. }) => Ok(Ok(kept)),
            deleted => deleted.map(|_| Ok(kept)),
        }
    })
    .await??;
    if !task.card.status.is_open() {
        let (folder, checkpoints) = (id.to_string(), db.checkpoints(id).await?);
        with_files(git_dir, move |repository| repository.drop_checkpoints(&folder, &checkpoints)).await?;
    }
    forget_sessions(checkout).await;
    Ok(kept)
}

fn find_leftovers(repository: &Repository, branch: &str, path: &Path, base: &Sha, merged: Option<Sha>) -> Result<Leftovers, RepoError> {
    let tip = repository.ref_sha(branch)?;
    // The agent may have left its branch, and may have written anything into HEAD.
    let head = repository.worktree_head(&checkout_name(path))?.filter(|head| repository.tree_of(head).is_ok());
    // The record alone does not show that the work is in the project branch.
    let merged = merged.filter(|merged| repository.tree_of(merged).is_ok());
    let squashed = match merged {
        Some(merged) if !repository.log(base, &merged, 1)?.is_empty() => {
            let has_changes = repository.is_squashed_into(base, &merged)? || repository.has_landed(base, &merged)?;
            has_changes.then_some(merged)
        }
        _ => None,
    };
    let mut unmerged = Vec::new();
    for sha in [&tip, &head].into_iter().flatten() {
        let is_squashed = match &squashed {
            Some(squashed) => repository.log(squashed, sha, 1)?.is_empty(),
            None => false,
        };
        if !unmerged.contains(sha) && !is_squashed && !repository.log(base, sha, 1)?.is_empty() {
            unmerged.push(sha.clone());
        }
    }
    let start = head.or(tip).unwrap_or_else(|| base.clone());
    let nested = if path.is_dir() { repository.nested_repositories(&checkout_name(path), path, &start)? } else { Vec::new() };
    Ok(Leftovers { start, unmerged, squashed, nested })
}
