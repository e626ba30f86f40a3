//! Lands the project branch on the base branch, and moves branches that a human may have checked out.
//!
//! Must not overwrite uncommitted changes, and must not touch a file that both commits have alike. Files are written before the branch moves,
//! so a kill in between can be distinguished from a human's changes and a repeated call finishes the landing.

mod by_git;
mod files;
mod index;
mod overlap;
mod preview;
mod returning;
mod undo;

pub use by_git::GitUpdate;
pub(crate) use files::operation_name;
pub use preview::LandingQuestion;
pub use undo::{UndoOutcome, UndoRequest};

use std::path::{Path, PathBuf};

use domain::runs::evidence::Sha;
use domain::runs::land::ReturningCommits;
use domain::runs::land::blocking::BlockingFiles;

use self::by_git::is_for_git;
use crate::branch::{branch_ref, contains, existing_tip, set_reference, tip};
use crate::durable::sync_reference;
use crate::error::RepoError;
use crate::handle::{Repository, find_commit, oid, sha};
use crate::identity::Identity;
use crate::merge::MergeOutcome;

/// A project branch to land, and its destination.
#[derive(Debug, Clone, Copy)]
pub struct LandRequest<'a> {
    pub project_branch: &'a str,
    pub base_branch: &'a str,
    /// The newest tip of the base branch that held all earlier ones.
    pub base_head: &'a Sha,
    /// The confirmation of commits that may return to the base branch.
    pub bring_back: Option<&'a str>,
    /// The checkout that the project was created from ([`domain::runs::evidence::RepositoryInfo::repo_path`]).
    pub workdir: &'a Path,
    /// The message of a merge commit.
    pub message: &'a str,
    pub identity: &'a Identity,
}

/// Outcome of a landing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LandOutcome {
    /// The base branch is now at `sha`. `fast_forward` if that is the tip of the project branch.
    Landed { sha: Sha, fast_forward: bool },
    /// The project branch holds commits that were removed from the base branch, and nobody confirmed them. Nothing was changed.
    WouldReturn(ReturningCommits),
    /// Only `git` can update the human's checkout. Nothing was changed yet: once it has made the update, [`Repository::finish_landing`] moves the
    /// base branch.
    NeedsGit { update: GitUpdate, fast_forward: bool },
    /// The base branch already contained the project branch.
    AlreadyLanded { sha: Sha },
    /// The human's checkout of the base has changes in files that landing changes. Nothing was changed.
    Dirty { files: BlockingFiles },
    /// Base and project both changed these paths. Nothing was changed.
    Conflict { paths: Vec<String> },
    /// The base is checked out elsewhere than in the project's checkout. Nothing was changed.
    CheckedOutElsewhere { path: PathBuf },
}

impl Repository {
    /// Moves the base branch to contain the project branch, by a fast-forward if possible, else by a merge commit.
    ///
    /// # Errors
    /// A branch is missing or moved meanwhile. Or the checkout has an operation in progress, or its index stays locked.
    pub fn land(&self, request: LandRequest<'_>) -> Result<LandOutcome, RepoError> {
        let LandRequest { project_branch, base_branch, workdir, message, identity, .. } = request;
        let handle = self.handle()?;
        let project = existing_tip(&handle, project_branch)?;
        let base = existing_tip(&handle, base_branch)?;
        if contains(&handle, base, project) {
            self.sync_branch(base_branch)?;
            return Ok(LandOutcome::AlreadyLanded { sha: sha(base) });
        }
        if let Some(returning) = self.returning_commits(base, request.base_head, project)?.filter(|found| !found.is_confirmed(request.bring_back)) {
            return Ok(LandOutcome::WouldReturn(returning));
        }
        let (own, others): (Vec<_>, Vec<_>) = self.occupied_by_people(base_branch)?.into_iter().partition(|checkout| checkout.is_at(workdir));
        if let Some(other) = others.into_iter().next() {
            return Ok(LandOutcome::CheckedOutElsewhere { path: other.workdir });
        }

        let fast_forward = contains(&handle, project, base);
        let target = if fast_forward {
            project
        } else {
            match self.merge_commit(&sha(base), &sha(project), message, identity)? {
                MergeOutcome::Merged { sha, .. } => oid(&sha)?,
                MergeOutcome::Conflict { paths } => return Ok(LandOutcome::Conflict { paths }),
            }
        };
        for checkout in own {
            match self.write_landed_files(&checkout.admin, workdir, base, target) {
                Ok(blocking) if blocking.is_empty() => {}
                Ok(files) => return Ok(LandOutcome::Dirty { files }),
                Err(reason) if is_for_git(&reason) => {
                    let files = self.files_in_the_way(workdir, base, target)?;
                    if !files.is_empty() {
                        return Ok(LandOutcome::Dirty { files });
                    }
                    return Ok(LandOutcome::NeedsGit { update: self.git_update(&checkout, workdir, base, target)?, fast_forward });
                }
                Err(reason) => return Err(reason),
            }
        }
        self.sync_objects()?;
        set_reference(&handle, &branch_ref(base_branch), Some(base), target, &log_line(project_branch))?;
        Ok(LandOutcome::Landed { sha: sha(target), fast_forward })
    }

    /// Returns where the base branch was before it landed `project_branch`, if that was its last move and git kept a log of it. A server that is
    /// killed between the move and its record needs that to take the landing back.
    ///
    /// # Errors
    /// The branch cannot be read.
    pub fn tip_before_landing(&self, base_branch: &str, project_branch: &str) -> Result<Option<Sha>, RepoError> {
        let handle = self.handle()?;
        let base = existing_tip(&handle, base_branch)?;
        let Ok(log) = handle.reflog(&branch_ref(base_branch)) else { return Ok(None) };
        let last = log.get(0).filter(|last| last.id_new() == base && last.message_bytes() == Some(log_line(project_branch).as_bytes()));
        Ok(last.map(|last| sha(last.id_old())))
    }

    /// Moves `branch` from `expected_old` to `new`, and updates the files of a human checkout that uses it. Otherwise that
    /// checkout would show every new change as reverted.
    ///
    /// # Errors
    /// [`RepoError::Moved`] if the branch is at another commit; [`RepoError::CheckedOut`] if a checkout that uses it has
    /// changes in the same files, in which case nothing was changed; [`RepoError::Locked`] if its index stays locked.
    pub fn advance(&self, branch: &str, expected_old: &Sha, new: &Sha, message: &str) -> Result<(), RepoError> {
        let handle = self.handle()?;
        let (old, new) = (oid(expected_old)?, find_commit(&handle, oid(new)?)?.id());
        let found = tip(&handle, branch)?;
        if found != Some(old) {
            return Err(RepoError::Moved { name: branch_ref(branch), expected: Some(expected_old.clone()), found: found.map(sha) });
        }
        for checkout in self.occupied_by_people(branch)? {
            let workdir = checkout.workdir.as_path();
            if !checkout.is_at(workdir) || !self.write_landed_files(&checkout.admin, workdir, old, new)?.is_empty() {
                return Err(RepoError::CheckedOut { branch: branch.to_owned(), path: checkout.workdir });
            }
        }
        self.sync_objects()?;
        set_reference(&handle, &branch_ref(branch), Some(old), new, message)
    }

    /// Syncs a branch that is already at its target, and all its objects, to disk.
    pub(crate) fn sync_branch(&self, branch: &str) -> Result<(), RepoError> {
        self.sync_objects()?;
        sync_reference(self.git_dir(), &branch_ref(branch))
    }
}

/// The line in the log of the base branch.
fn log_line(project_branch: &str) -> String {
    format!("vibe-relay: landed {project_branch}")
}

#[cfg(test)]
mod tests;
