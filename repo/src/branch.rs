//! Reads, creates, moves and deletes branches, always from an expected old value.
//!
//! Knows no task: the caller says which names are its own. Where a branch is checked out does not matter here, except
//! that such a branch is never deleted.

mod delete;
mod packed;

use std::path::PathBuf;

use domain::runs::evidence::Sha;
use git2::{ErrorClass, ErrorCode, Oid};

use crate::durable::sync_reference;
use crate::error::{Attempt, RepoError};
use crate::handle::{Repository, find_commit, oid, sha};
use crate::lock::{self, Patience};
use crate::rescue::RESCUE_PREFIX;

impl Repository {
    /// The commit at the tip of `branch`, or none when there is no such branch.
    ///
    /// # Errors
    /// The repository cannot be read.
    pub fn ref_sha(&self, branch: &str) -> Result<Option<Sha>, RepoError> {
        Ok(tip(&self.handle()?, branch)?.map(sha))
    }

    /// `wanted`, or `wanted-2`, `wanted-3`, … whichever is the first that does not exist.
    ///
    /// # Errors
    /// A branch named like one of its folders stands in the way; no suffix helps against that.
    pub fn free_branch_name(&self, wanted: &str) -> Result<String, RepoError> {
        let handle = self.handle()?;
        refuse_blocking_parent(&handle, wanted)?;
        let mut name = wanted.to_owned();
        let mut number = 1_u32;
        while tip(&handle, &name)?.is_some() || first_below(&handle, &name)?.is_some() {
            number += 1;
            name = format!("{wanted}-{number}");
        }
        Ok(name)
    }

    /// The tip of the project branch `name`, which is created at the tip of `base_branch` when it does not exist.
    /// Whether an existing one is ours is the caller's knowledge; see [`Repository::free_branch_name`].
    ///
    /// # Errors
    /// The base branch is missing, or another branch stands in the way of the name.
    pub fn ensure_project_branch(&self, name: &str, base_branch: &str) -> Result<Sha, RepoError> {
        let handle = self.handle()?;
        if let Some(tip) = tip(&handle, name)? {
            return Ok(sha(tip));
        }
        let base = existing_tip(&handle, base_branch)?;
        set_reference(&handle, &full_name(name), None, base, &format!("vibe-relay: created from {base_branch}"))?;
        Ok(sha(base))
    }

    /// Moves `branch` to `new` if it still is at `expected_old` (none: if it does not exist). A locked reference is
    /// waited for, five seconds at most. A checkout of the branch is not touched: see [`Repository::advance`].
    ///
    /// # Errors
    /// [`RepoError::Moved`] when the branch is elsewhere, [`RepoError::Locked`], [`RepoError::CommitMissing`].
    pub fn move_ref(&self, branch: &str, expected_old: Option<&Sha>, new: &Sha, message: &str) -> Result<(), RepoError> {
        let handle = self.handle()?;
        let expected = expected_old.map(|sha| oid(sha)).transpose()?;
        let new = find_commit(&handle, oid(new)?)?.id();
        set_reference(&handle, &full_name(branch), expected, new, message)
    }

    /// Removes the lock files that a killed agent left on `branch` and in the checkout `name`.
    /// Only to be called when the agent's processes are proven dead.
    ///
    /// # Errors
    /// A lock file exists and cannot be removed.
    pub fn clear_locks(&self, name: &str, branch: &str) -> Result<(), RepoError> {
        let admin = self.admin_dir(name)?;
        for lock in [self.lock_of(&full_name(branch)), admin.join("index.lock"), admin.join("HEAD.lock")] {
            lock::remove(&lock)?;
        }
        Ok(())
    }

    /// Removes the lock file that a killed program left on `name`, a branch or a whole reference name. Answers whether
    /// there was one. Only to be called for references that nobody else writes, when every earlier writer is proven dead.
    ///
    /// # Errors
    /// The lock file exists and cannot be removed.
    pub fn clear_lock(&self, name: &str) -> Result<bool, RepoError> {
        let name = if name.starts_with("refs/") { name.to_owned() } else { full_name(name) };
        lock::remove(&self.lock_of(&name))
    }

    fn lock_of(&self, name: &str) -> PathBuf {
        lock::lock_of(&self.git_dir().join(name))
    }
}

pub(crate) fn full_name(branch: &str) -> String {
    format!("refs/heads/{branch}")
}

pub(crate) fn tip(handle: &git2::Repository, branch: &str) -> Result<Option<Oid>, RepoError> {
    reference_target(handle, &full_name(branch))
}

/// As [`tip`], for a branch that has to exist.
pub(crate) fn existing_tip(handle: &git2::Repository, branch: &str) -> Result<Oid, RepoError> {
    tip(handle, branch)?.ok_or_else(|| RepoError::BranchMissing { branch: branch.to_owned(), near: Vec::new() })
}

pub(crate) fn reference_target(handle: &git2::Repository, name: &str) -> Result<Option<Oid>, RepoError> {
    match handle.refname_to_id(name) {
        Ok(id) => Ok(Some(id)),
        Err(reason) if reason.code() == ErrorCode::NotFound => Ok(None),
        Err(reason) => Err(RepoError::Git { attempted: format!("read {name}"), reason }),
    }
}

/// Creates (`expected` none) or moves a reference, only from its expected old value, and waits until it is on the disk. New
/// objects have to be there before ([`Repository::sync_objects`]).
pub(crate) fn set_reference(handle: &git2::Repository, name: &str, expected: Option<Oid>, new: Oid, message: &str) -> Result<(), RepoError> {
    if expected.is_none()
        && let Some(branch) = name.strip_prefix("refs/heads/")
    {
        refuse_blocking_parent(handle, branch)?;
        if let Some(existing) = first_below(handle, branch)? {
            return Err(RepoError::BranchNameConflict { existing, wanted: branch.to_owned() });
        }
    }
    let moved = patiently(handle, name, expected, || match expected {
        Some(old) => handle.reference_matching(name, new, true, old, message).map(drop),
        None => handle.reference(name, new, false, message).map(drop),
    });
    moved.and_then(|()| sync_reference(handle.commondir(), name))
}

/// Whether `tip` is `commit` or has it in its history.
pub(crate) fn contains(handle: &git2::Repository, tip: Oid, commit: Oid) -> bool {
    tip == commit || handle.graph_descendant_of(tip, commit).unwrap_or(false)
}

fn is_rescued(handle: &git2::Repository, commit: Oid) -> Result<bool, RepoError> {
    let looking = || "look through the rescue refs".to_owned();
    for reference in handle.references_glob(&format!("{RESCUE_PREFIX}*")).attempting(looking)? {
        if reference.attempting(looking)?.target().is_some_and(|keeper| contains(handle, keeper, commit)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// git keeps branches as files: `vr` as a branch makes `vr/TASK-001/work` impossible, with a misleading message.
fn refuse_blocking_parent(handle: &git2::Repository, branch: &str) -> Result<(), RepoError> {
    for (end, _) in branch.match_indices('/') {
        if tip(handle, &branch[..end])?.is_some() {
            return Err(RepoError::BranchNameConflict { existing: branch[..end].to_owned(), wanted: branch.to_owned() });
        }
    }
    Ok(())
}

fn first_below(handle: &git2::Repository, branch: &str) -> Result<Option<String>, RepoError> {
    let looking = || format!("look for branches below {branch}");
    let mut below = handle.references_glob(&format!("{}/*", full_name(branch))).attempting(looking)?;
    let Some(reference) = below.next() else { return Ok(None) };
    let reference = reference.attempting(looking)?;
    Ok(Some(String::from_utf8_lossy(reference.shorthand_bytes()).into_owned()))
}

/// Repeats `attempt` while the reference is locked, and names what went wrong otherwise.
fn patiently(handle: &git2::Repository, name: &str, expected: Option<Oid>, attempt: impl Fn() -> Result<(), git2::Error>) -> Result<(), RepoError> {
    let target = handle.commondir().join(name);
    let mut patience = Patience::new();
    let mut repeats = 3;
    loop {
        let Err(reason) = attempt() else { return Ok(()) };
        match reason.code() {
            ErrorCode::Locked if lock::remove_left_over(&target)? || patience.wait() => {}
            ErrorCode::Locked => return Err(lock::locked(name, lock::lock_of(&target))),
            // A folder that was made for it may be gone: whoever deleted a neighbour removed it, because it was empty.
            _ if reason.class() == ErrorClass::Os && repeats > 0 => repeats -= 1,
            ErrorCode::Modified | ErrorCode::Exists | ErrorCode::NotFound => {
                let found = reference_target(handle, name)?;
                return Err(RepoError::Moved { name: name.to_owned(), expected: expected.map(sha), found: found.map(sha) });
            }
            _ => return Err(RepoError::Git { attempted: format!("move {name}"), reason }),
        }
    }
}

#[cfg(test)]
mod tests;
