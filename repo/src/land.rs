//! Moves a branch that a person may have checked out, and so brings the project branch to the base branch.
//!
//! A person's files are only written when nothing of theirs is in the way; then the files come first and the branch
//! second, so that a kill in between can be told from a person's changes and is finished by a repeat.

mod files;
mod index;

use std::path::{Path, PathBuf};

use domain::runs::evidence::Sha;

use crate::branch::{contains, existing_tip, full_name, set_reference, tip};
use crate::durable::sync_reference;
use crate::error::RepoError;
use crate::handle::{Repository, find_commit, oid, sha};
use crate::identity::Identity;
use crate::merge::MergeOutcome;

/// How a landing ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LandOutcome {
    /// The base branch is at `sha` now; `fast_forward` when that is the project branch's own commit.
    Landed { sha: Sha, fast_forward: bool },
    /// The base branch contained everything before.
    AlreadyLanded { sha: Sha },
    /// The person's checkout of the base has changes in these paths; nothing was touched.
    Dirty { paths: Vec<String> },
    /// Base and project both changed these paths; nothing was touched.
    Conflict { paths: Vec<String> },
    /// The base is checked out in another checkout than the project's; nothing was touched.
    CheckedOutElsewhere { path: PathBuf },
}

impl Repository {
    /// Moves `base_branch` to contain `project_branch`: a fast-forward when possible, else a merge commit with `message`.
    /// `workdir` is the checkout that the project was created from ([`domain::runs::evidence::Probe::repo_path`]).
    ///
    /// # Errors
    /// A branch is missing or moved meanwhile; the checkout is in the middle of an operation, is sparse, or has an index
    /// that cannot be read or stays locked.
    pub fn land(
        &self,
        project_branch: &str,
        base_branch: &str,
        workdir: &Path,
        message: &str,
        identity: &Identity,
    ) -> Result<LandOutcome, RepoError> {
        let handle = self.handle()?;
        let project = existing_tip(&handle, project_branch)?;
        let base = existing_tip(&handle, base_branch)?;
        if contains(&handle, base, project) {
            self.sync_branch(base_branch)?;
            return Ok(LandOutcome::AlreadyLanded { sha: sha(base) });
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
            let in_the_way = self.bring_files(&checkout.admin, workdir, base, target)?;
            if !in_the_way.is_empty() {
                return Ok(LandOutcome::Dirty { paths: in_the_way });
            }
        }
        self.sync_objects()?;
        let log = format!("vibe-relay: landed {project_branch}");
        set_reference(&handle, &full_name(base_branch), Some(base), target, &log)?;
        Ok(LandOutcome::Landed { sha: sha(target), fast_forward })
    }

    /// Moves `branch` from `expected_old` to `new`, together with the files of a person's checkout that stands on it:
    /// moved alone, the branch would make that checkout look as if everything new had been taken back.
    ///
    /// # Errors
    /// [`RepoError::Moved`] when the branch is elsewhere; [`RepoError::CheckedOut`] when a checkout that stands on it has
    /// changes, so that nothing was touched; [`RepoError::Locked`] when its index stays locked.
    pub fn advance(&self, branch: &str, expected_old: &Sha, new: &Sha, message: &str) -> Result<(), RepoError> {
        let handle = self.handle()?;
        let (old, new) = (oid(expected_old)?, find_commit(&handle, oid(new)?)?.id());
        let found = tip(&handle, branch)?;
        if found != Some(old) {
            return Err(RepoError::Moved { name: full_name(branch), expected: Some(expected_old.clone()), found: found.map(sha) });
        }
        for checkout in self.occupied_by_people(branch)? {
            let workdir = checkout.workdir.as_path();
            if !checkout.is_at(workdir) || !self.bring_files(&checkout.admin, workdir, old, new)?.is_empty() {
                return Err(RepoError::CheckedOut { branch: branch.to_owned(), path: checkout.workdir });
            }
        }
        self.sync_objects()?;
        set_reference(&handle, &full_name(branch), Some(old), new, message)
    }

    /// Brings a branch that was found where it should be, and all that it contains, to the disk.
    pub(crate) fn sync_branch(&self, branch: &str) -> Result<(), RepoError> {
        self.sync_objects()?;
        sync_reference(self.git_dir(), &full_name(branch))
    }
}

#[cfg(test)]
mod tests;
