//! Reads, creates, moves and deletes branches, always from an expected old value.
//!
//! Knows no task: the caller says which names are its own. Where a branch is checked out does not matter here, except
//! that such a branch is never deleted.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use domain::evidence::Sha;
use git2::{ErrorCode, Oid};

use crate::error::{Attempt, RepoError};
use crate::handle::{Repository, find_commit, oid, sha};
use crate::rescue::RESCUE_PREFIX;

/// How long a locked reference is waited for: other programs hold the lock for milliseconds.
const PATIENCE: Duration = Duration::from_secs(5);
const LONGEST_PAUSE: Duration = Duration::from_millis(200);

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

    /// Deletes `branch` when `kept_by` or a rescue ref contains its tip. Answers whether there was such a branch.
    ///
    /// # Errors
    /// [`RepoError::NotKept`] when commits would be lost, [`RepoError::CheckedOut`] when a checkout stands on it.
    pub fn delete_branch(&self, branch: &str, kept_by: &str) -> Result<bool, RepoError> {
        let handle = self.handle()?;
        let Some(old) = tip(&handle, branch)? else { return Ok(false) };
        if let Some(checkout) = self.checkouts()?.into_iter().find(|checkout| checkout.occupies(branch)) {
            return Err(RepoError::CheckedOut { branch: branch.to_owned(), path: checkout.workdir });
        }
        let kept = kept_by != branch && tip(&handle, kept_by)?.is_some_and(|keeper| contains(&handle, keeper, old));
        if !kept && !is_rescued(&handle, old)? {
            return Err(RepoError::NotKept { branch: branch.to_owned(), kept_by: kept_by.to_owned() });
        }
        let name = full_name(branch);
        patiently(&handle, &name, Some(old), || {
            // Opened afresh: after a refused attempt libgit2 takes a packed reference for deleted that is still there.
            let handle = self.handle()?;
            Ok(match handle.find_reference(&name) {
                // `Reference::delete` compares with the value that was read, so that value has to be the judged one.
                Ok(reference) if reference.target() != Some(old) => Err(modified()),
                Ok(mut reference) => reference.delete().map(|()| true),
                Err(reason) if reason.code() == ErrorCode::NotFound => Ok(false),
                Err(reason) => Err(reason),
            })
        })
    }

    /// Removes the lock files that a killed agent left on `branch` and in the checkout `name`.
    /// Only to be called when the agent's processes are proven dead.
    ///
    /// # Errors
    /// A lock file exists and cannot be removed.
    pub fn clear_locks(&self, name: &str, branch: &str) -> Result<(), RepoError> {
        let admin = self.admin_dir(name)?;
        for lock in [self.lock_of(&full_name(branch)), admin.join("index.lock"), admin.join("HEAD.lock")] {
            remove_lock(&lock)?;
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
        remove_lock(&self.lock_of(&name))
    }

    fn lock_of(&self, name: &str) -> PathBuf {
        self.git_dir().join(format!("{name}.lock"))
    }
}

/// Whether there was such a file.
fn remove_lock(lock: &Path) -> Result<bool, RepoError> {
    match fs::remove_file(lock) {
        Ok(()) => Ok(true),
        Err(reason) if reason.kind() == ErrorKind::NotFound => Ok(false),
        Err(reason) => Err(RepoError::Io { attempted: format!("remove the left-over lock {}", lock.display()), reason }),
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

/// Creates (`expected` none) or moves a reference, only from its expected old value.
pub(crate) fn set_reference(handle: &git2::Repository, name: &str, expected: Option<Oid>, new: Oid, message: &str) -> Result<(), RepoError> {
    if expected.is_none()
        && let Some(branch) = name.strip_prefix("refs/heads/")
    {
        refuse_blocking_parent(handle, branch)?;
        if let Some(existing) = first_below(handle, branch)? {
            return Err(RepoError::NameBlocked { existing, wanted: branch.to_owned() });
        }
    }
    patiently(handle, name, expected, || {
        Ok(match expected {
            Some(old) => handle.reference_matching(name, new, true, old, message).map(drop),
            None => handle.reference(name, new, false, message).map(drop),
        })
    })
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
            return Err(RepoError::NameBlocked { existing: branch[..end].to_owned(), wanted: branch.to_owned() });
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
fn patiently<T>(
    handle: &git2::Repository,
    name: &str,
    expected: Option<Oid>,
    mut attempt: impl FnMut() -> Result<Result<T, git2::Error>, RepoError>,
) -> Result<T, RepoError> {
    let deadline = Instant::now() + PATIENCE;
    let mut pause = Duration::from_millis(2);
    loop {
        let reason = match attempt()? {
            Ok(done) => return Ok(done),
            Err(reason) => reason,
        };
        match reason.code() {
            ErrorCode::Locked if Instant::now() < deadline => {
                thread::sleep(pause);
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
            ErrorCode::Locked => {
                // Deleting a packed reference rewrites the one file of all of them.
                let of_all = handle.path().join("packed-refs.lock");
                let lock = if of_all.exists() { of_all } else { handle.path().join(format!("{name}.lock")) };
                return Err(RepoError::Locked { name: name.to_owned(), lock, seconds: PATIENCE.as_secs() });
            }
            ErrorCode::Modified | ErrorCode::Exists | ErrorCode::NotFound => {
                let found = reference_target(handle, name)?.map(sha);
                return Err(RepoError::Moved { name: name.to_owned(), expected: expected.map(sha), found });
            }
            _ => return Err(RepoError::Git { attempted: format!("move {name}"), reason }),
        }
    }
}

fn modified() -> git2::Error {
    git2::Error::new(ErrorCode::Modified, git2::ErrorClass::Reference, "the branch moved")
}

#[cfg(test)]
mod tests;
