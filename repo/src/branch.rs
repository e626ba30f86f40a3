//! Reads, creates, moves and deletes branches. Each change requires an expected old value.
//!
//! Must not know tasks: the caller knows which branches it owns. Checkouts matter only for deletion, because a
//! checked-out branch is never deleted.

mod delete;
mod packed;

pub(crate) use delete::delete_reference;

use std::path::{Path, PathBuf};

use domain::board::task::unknown_branch;
use domain::refusal::Refusal;
use domain::runs::evidence::Sha;
use git2::{ErrorClass, ErrorCode, Oid};

use crate::durable::sync_reference;
use crate::error::{Attempt, RepoError};
use crate::handle::{Repository, find_commit, oid, sha};
use crate::lane::{Effort, in_lane};
use crate::lock::{self, LockDeadline};
use crate::merge::SQUASHED_PREFIX;
use crate::rescue::RESCUE_PREFIX;

/// Refuses a new task that begins at `branch` if the repository of `git_dir` has no such local branch.
///
/// # Errors
/// The repository cannot be read or does not respond.
pub async fn check_start_branch(git_dir: &Path, branch: &str) -> Result<Result<(), Refusal>, RepoError> {
    let (opened, name) = (git_dir.to_owned(), branch.to_owned());
    // git2 reports an invalid name as an error, and no branch has one.
    let read = move || Ok(git2::Branch::name_is_valid(&name).unwrap_or(false) && Repository::open(&opened)?.ref_sha(&name)?.is_some());
    let exists = in_lane(git_dir, Effort::Brief, read).await??;
    Ok(if exists { Ok(()) } else { Err(unknown_branch(branch)) })
}

impl Repository {
    /// Returns the commit at the tip of `branch`, or `None` if the branch does not exist.
    ///
    /// # Errors
    /// The repository cannot be read.
    pub fn ref_sha(&self, branch: &str) -> Result<Option<Sha>, RepoError> {
        Ok(tip(&self.handle()?, branch)?.map(sha))
    }

    /// Reads every reference, to find out whether the repository responds.
    pub(crate) fn read_references(&self) -> Result<(), RepoError> {
        self.check()?;
        for reference in self.handle()?.references().attempting(|| "read the references".to_owned())? {
            reference.attempting(|| "read a reference".to_owned())?;
        }
        Ok(())
    }

    /// Returns the first unused name of `wanted`, `wanted-2`, `wanted-3` and so on.
    ///
    /// # Errors
    /// A branch has the name of a parent folder of `wanted`, which no suffix can avoid.
    pub fn free_branch_name(&self, wanted: &str) -> Result<String, RepoError> {
        let handle = self.handle()?;
        reject_parent_branch(&handle, wanted)?;
        let mut name = wanted.to_owned();
        let mut number = 1_u32;
        while tip(&handle, &name)?.is_some() || first_branch_below(&handle, &name)?.is_some() {
            number += 1;
            name = format!("{wanted}-{number}");
        }
        Ok(name)
    }

    /// Returns the tip of the project branch `name`. Creates the branch at the tip of `base_branch` if it does not exist.
    /// The caller must know that it owns an existing branch; see [`Repository::free_branch_name`].
    ///
    /// # Errors
    /// The base branch is missing, or another branch conflicts with the name.
    pub fn ensure_project_branch(&self, name: &str, base_branch: &str) -> Result<Sha, RepoError> {
        let handle = self.handle()?;
        if let Some(tip) = tip(&handle, name)? {
            return Ok(sha(tip));
        }
        let base = self.base_tip(base_branch)?;
        set_reference(&handle, &branch_ref(name), None, oid(&base)?, &format!("vibe-relay: created from {base_branch}"))?;
        Ok(base)
    }

    /// Returns the tip of `branch` if it holds `known` and more, or if `known` no longer exists.
    ///
    /// # Errors
    /// The repository cannot be read.
    pub fn moved_on(&self, branch: &str, known: &Sha) -> Result<Option<Sha>, RepoError> {
        let (handle, known) = (self.handle()?, oid(known)?);
        let Some(tip) = tip(&handle, branch)?.filter(|tip| *tip != known) else { return Ok(None) };
        Ok((contains(&handle, tip, known) || handle.find_commit(known).is_err()).then(|| sha(tip)))
    }

    /// Whether the repository has `commit`.
    ///
    /// # Errors
    /// The repository cannot be read.
    pub fn has_commit(&self, commit: &Sha) -> Result<bool, RepoError> {
        Ok(self.handle()?.find_commit(oid(commit)?).is_ok())
    }

    /// Whether `tip` is `commit` or a descendant of it.
    ///
    /// # Errors
    /// The repository cannot be read.
    pub fn is_ancestor(&self, commit: &Sha, tip: &Sha) -> Result<bool, RepoError> {
        Ok(contains(&self.handle()?, oid(tip)?, oid(commit)?))
    }

    /// Moves `branch` to `new` if it is still at `expected_old` (`None`: if it does not exist). Waits up to five seconds
    /// for a locked reference. Does not update a checkout of the branch; [`Repository::advance`] does.
    ///
    /// # Errors
    /// [`RepoError::Moved`] if the branch is at another commit, [`RepoError::Locked`], [`RepoError::CommitMissing`].
    pub fn move_ref(&self, branch: &str, expected_old: Option<&Sha>, new: &Sha, message: &str) -> Result<(), RepoError> {
        let handle = self.handle()?;
        let expected = expected_old.map(|sha| oid(sha)).transpose()?;
        let new = find_commit(&handle, oid(new)?)?.id();
        set_reference(&handle, &branch_ref(branch), expected, new, message)
    }

    /// Removes the lock files that a killed agent left on `branch` and in the checkout `name`.
    /// Call this only when all processes of the agent have exited.
    ///
    /// # Errors
    /// A lock file exists and cannot be removed.
    pub fn clear_locks(&self, name: &str, branch: &str) -> Result<(), RepoError> {
        let admin = self.admin_dir(name)?;
        for lock in [self.lock_path(&branch_ref(branch)), admin.join("index.lock"), admin.join("HEAD.lock")] {
            lock::remove(&lock)?;
        }
        Ok(())
    }

    /// Removes the lock file that a killed program left on `name`, a branch or a full reference name. Returns whether
    /// it existed. Call this only for references without other writers, after every earlier writer has exited.
    ///
    /// # Errors
    /// The lock file exists and cannot be removed.
    pub fn clear_lock(&self, name: &str) -> Result<bool, RepoError> {
        let name = if name.starts_with("refs/") { name.to_owned() } else { branch_ref(name) };
        lock::remove(&self.lock_path(&name))
    }

    fn lock_path(&self, name: &str) -> PathBuf {
        lock::lock_path(&self.git_dir().join(name))
    }
}

pub(crate) fn branch_ref(branch: &str) -> String {
    format!("refs/heads/{branch}")
}

pub(crate) fn tip(handle: &git2::Repository, branch: &str) -> Result<Option<Oid>, RepoError> {
    reference_target(handle, &branch_ref(branch))
}

/// Returns the tip of `branch`, or an error if the branch does not exist.
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

/// Creates (`expected` is `None`) or moves a reference from its expected old value, and syncs it to disk. Sync new
/// objects first ([`Repository::sync_objects`]).
pub(crate) fn set_reference(handle: &git2::Repository, name: &str, expected: Option<Oid>, new: Oid, message: &str) -> Result<(), RepoError> {
    if expected.is_none()
        && let Some(branch) = name.strip_prefix("refs/heads/")
    {
        reject_parent_branch(handle, branch)?;
        if let Some(existing) = first_branch_below(handle, branch)? {
            return Err(RepoError::BranchNameConflict { existing, wanted: branch.to_owned() });
        }
    }
    let moved = retry_while_locked(handle, name, expected, || match expected {
        Some(old) => handle.reference_matching(name, new, true, old, message).map(drop),
        None => handle.reference(name, new, false, message).map(drop),
    });
    moved.and_then(|()| sync_reference(handle.commondir(), name))
}

/// Returns whether `tip` is `commit` or a descendant of it.
pub(crate) fn contains(handle: &git2::Repository, tip: Oid, commit: Oid) -> bool {
    tip == commit || handle.graph_descendant_of(tip, commit).unwrap_or(false)
}

/// Whether a reference for rescued or squashed work keeps `commit`.
fn is_kept(handle: &git2::Repository, commit: Oid) -> Result<bool, RepoError> {
    let reading = || "read the references of kept work".to_owned();
    for prefix in [SQUASHED_PREFIX, RESCUE_PREFIX] {
        for reference in handle.references_glob(&format!("{prefix}*")).attempting(reading)? {
            if reference.attempting(reading)?.target().is_some_and(|kept| contains(handle, kept, commit)) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Fails if a parent folder of `branch` is itself a branch. git stores branches as files, so the branch `vr` rules out
/// `vr/TASK-001/work`, and libgit2's own message for this is misleading.
fn reject_parent_branch(handle: &git2::Repository, branch: &str) -> Result<(), RepoError> {
    for (end, _) in branch.match_indices('/') {
        if tip(handle, &branch[..end])?.is_some() {
            return Err(RepoError::BranchNameConflict { existing: branch[..end].to_owned(), wanted: branch.to_owned() });
        }
    }
    Ok(())
}

fn first_branch_below(handle: &git2::Repository, branch: &str) -> Result<Option<String>, RepoError> {
    let listing = || format!("list the branches below {branch}");
    let mut below = handle.references_glob(&format!("{}/*", branch_ref(branch))).attempting(listing)?;
    let Some(reference) = below.next() else { return Ok(None) };
    let reference = reference.attempting(listing)?;
    Ok(Some(String::from_utf8_lossy(reference.shorthand_bytes()).into_owned()))
}

/// Repeats `attempt` while the reference is locked, and converts any other failure into a typed error.
fn retry_while_locked(
    handle: &git2::Repository,
    name: &str,
    expected: Option<Oid>,
    attempt: impl Fn() -> Result<(), git2::Error>,
) -> Result<(), RepoError> {
    let target = handle.commondir().join(name);
    let mut deadline = LockDeadline::new();
    let mut repeats = 3;
    loop {
        let Err(reason) = attempt() else { return Ok(()) };
        match reason.code() {
            ErrorCode::Locked if lock::remove_stale(&target)? || deadline.wait() => {}
            ErrorCode::Locked => return Err(lock::timeout_error(name, lock::lock_path(&target))),
            // Another process may have removed the new, still empty folder when it deleted a neighbouring branch.
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
