//! Takes a landing back: the base branch, and the files of a human's checkout of it, return to what they were before.
//!
//! Must not remove a commit from a place that others can see, and must not overwrite uncommitted changes.

use std::path::{Path, PathBuf};

use domain::runs::evidence::Sha;
use domain::runs::land::blocking::BlockingFiles;

use crate::branch::{branch_ref, contains, set_reference, tip};
use crate::error::{Attempt, RepoError};
use crate::handle::{Repository, find_commit, oid, sha};

const REMOTE_PREFIX: &str = "refs/remotes/";

/// A landing to take back.
#[derive(Debug, Clone, Copy)]
pub struct UndoRequest<'a> {
    pub base_branch: &'a str,
    /// The project branch. It may be on a remote, because it keeps the commits.
    pub project_branch: &'a str,
    /// Its tip, at which it is created again if someone removed it after the landing. Otherwise no branch would have the commits.
    pub tip: &'a Sha,
    /// The tip of the base branch after the landing.
    pub landed: &'a Sha,
    /// The tip of the base branch before it.
    pub before: &'a Sha,
    /// The checkout that the project was created from.
    pub workdir: &'a Path,
}

/// Outcome of taking a landing back. Unless it is [`UndoOutcome::Undone`], nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UndoOutcome {
    /// The base branch is where it was before the landing, now or since an interrupted call.
    Undone,
    /// The base branch is at another commit, or does not exist.
    MovedOn { found: Option<Sha> },
    /// A branch of a remote has the landed commit.
    Pushed { branch: String },
    /// The human's checkout of the base has changes in files that the landing changed.
    Dirty { files: BlockingFiles },
    /// The base is checked out elsewhere than in the project's checkout.
    CheckedOutElsewhere { path: PathBuf },
}

impl Repository {
    /// Sets the base branch back to its tip before a landing, and the files of a checkout that uses it.
    ///
    /// # Errors
    /// As [`Repository::land`].
    pub fn undo_landing(&self, request: UndoRequest<'_>) -> Result<UndoOutcome, RepoError> {
        let UndoRequest { base_branch, project_branch, landed, before, workdir, tip: project_tip } = request;
        let handle = self.handle()?;
        let (landed, before) = (oid(landed)?, find_commit(&handle, oid(before)?)?.id());
        let found = tip(&handle, base_branch)?;
        if found == Some(before) {
            self.sync_branch(base_branch)?;
            return Ok(UndoOutcome::Undone);
        }
        if found != Some(landed) {
            return Ok(UndoOutcome::MovedOn { found: found.map(sha) });
        }
        if let Some(branch) = self.pushed_to(landed, project_branch)? {
            return Ok(UndoOutcome::Pushed { branch });
        }
        let (own, others): (Vec<_>, Vec<_>) = self.occupied_by_people(base_branch)?.into_iter().partition(|checkout| checkout.is_at(workdir));
        if let Some(other) = others.into_iter().next() {
            return Ok(UndoOutcome::CheckedOutElsewhere { path: other.workdir });
        }
        if self.ref_sha(project_branch)?.is_none() {
            self.move_ref(project_branch, None, project_tip, "vibe-relay: restored for the undo of a landing")?;
        }
        for checkout in own {
            let files = self.write_landed_files(&checkout.admin, workdir, landed, before)?;
            if !files.is_empty() {
                return Ok(UndoOutcome::Dirty { files });
            }
        }
        set_reference(&handle, &branch_ref(base_branch), Some(landed), before, "vibe-relay: undid a landing")?;
        Ok(UndoOutcome::Undone)
    }

    /// Returns a remote-tracking branch, other than that of the project branch, that holds `landed`.
    fn pushed_to(&self, landed: git2::Oid, project_branch: &str) -> Result<Option<String>, RepoError> {
        let handle = self.handle()?;
        let listing = || "list the branches of remotes".to_owned();
        for reference in handle.references_glob(&format!("{REMOTE_PREFIX}*")).attempting(listing)? {
            let reference = reference.attempting(listing)?;
            let name = String::from_utf8_lossy(reference.name_bytes()).into_owned();
            let Some(target) = reference.target() else { continue };
            let name = name.strip_prefix(REMOTE_PREFIX).unwrap_or(&name);
            if !name.ends_with(&format!("/{project_branch}")) && contains(&handle, target, landed) {
                return Ok(Some(name.to_owned()));
            }
        }
        Ok(None)
    }
}
