//! Lists, restores and drops what rescue refs keep.
//!
//! Must not overwrite anything: work is restored to a new branch only, and a rescue ref is dropped only at the commit that the caller saw.

use domain::runs::evidence::Sha;
use git2::{ObjectType, Reference};

use super::{RESCUE_PREFIX, require_rescue_prefix};
use crate::branch::{branch_ref, delete_reference, reference_target, set_reference, tip};
use crate::error::{Attempt, RepoError};
use crate::handle::{Repository, find_commit, oid, sha};
use crate::history::{Commit, describe};

/// A rescue ref and the commit that it keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptCommit {
    pub reference: String,
    pub commit: Commit,
}

impl Repository {
    /// Lists all rescue refs by name.
    ///
    /// # Errors
    /// The repository cannot be read.
    pub fn rescues(&self) -> Result<Vec<KeptCommit>, RepoError> {
        let handle = self.handle()?;
        let listing = || "list the rescue refs".to_owned();
        let mut found = Vec::new();
        for reference in handle.references_glob(&format!("{RESCUE_PREFIX}*")).attempting(listing)? {
            let reference = reference.attempting(listing)?;
            // A symbolic reference keeps nothing.
            let (Ok(name), Some(target)) = (std::str::from_utf8(reference.name_bytes()), reference.target()) else { continue };
            found.push(KeptCommit { reference: name.to_owned(), commit: describe(&find_commit(&handle, target)?) });
        }
        found.sort_by(|one, other| one.reference.cmp(&other.reference));
        Ok(found)
    }

    /// Returns the size in bytes of the files of `kept` that `base` does not have like that. Reads no content.
    ///
    /// # Errors
    /// A commit does not exist, or the repository cannot be read.
    pub fn size_beyond(&self, base: &Sha, kept: &Sha) -> Result<u64, RepoError> {
        let measuring = || format!("measure {kept}");
        let handle = self.handle()?;
        let [base, kept] = [find_commit(&handle, oid(base)?)?, find_commit(&handle, oid(kept)?)?].map(|commit| commit.tree());
        let (base, kept) = (base.attempting(measuring)?, kept.attempting(measuring)?);
        let changes = handle.diff_tree_to_tree(Some(&base), Some(&kept), None).attempting(measuring)?;
        let objects = handle.odb().attempting(measuring)?;
        // A commit of another repository has no size here.
        let sizes = changes.deltas().filter_map(|change| objects.read_header(change.new_file().id()).ok());
        Ok(sizes.filter(|(_, kind)| *kind == ObjectType::Blob).map(|(size, _)| size as u64).sum())
    }

    /// Returns the commit that `reference` keeps.
    ///
    /// # Errors
    /// [`RepoError::RescueMissing`] if it does not exist, or it is not a rescue ref.
    pub fn rescued(&self, reference: &str) -> Result<Sha, RepoError> {
        require_rescue_prefix(reference)?;
        let missing = || RepoError::RescueMissing { reference: reference.to_owned() };
        if !Reference::is_valid_name(reference) {
            return Err(missing());
        }
        reference_target(&self.handle()?, reference)?.map(sha).ok_or_else(missing)
    }

    /// Creates `branch` at the commit that `reference` keeps.
    ///
    /// # Errors
    /// [`RepoError::RescueMissing`], [`RepoError::BranchExists`], or the name is invalid or conflicts with another branch.
    pub fn restore_rescue(&self, reference: &str, branch: &str) -> Result<Sha, RepoError> {
        let kept = self.rescued(reference)?;
        if !Reference::is_valid_name(&branch_ref(branch)) || branch.starts_with('-') {
            return Err(RepoError::BranchName { branch: branch.to_owned() });
        }
        let handle = self.handle()?;
        if tip(&handle, branch)?.is_some() {
            return Err(RepoError::BranchExists { branch: branch.to_owned() });
        }
        set_reference(&handle, &branch_ref(branch), None, oid(&kept)?, &format!("vibe-relay: restored from {reference}"))?;
        Ok(kept)
    }

    /// Deletes `reference` if it still keeps `expected`.
    ///
    /// # Errors
    /// [`RepoError::RescueMissing`], or [`RepoError::Moved`] if it keeps another commit.
    pub fn drop_rescue(&self, reference: &str, expected: &Sha) -> Result<(), RepoError> {
        let expected = oid(expected)?;
        let found = self.rescued(reference)?;
        if oid(&found)? != expected {
            return Err(RepoError::Moved { name: reference.to_owned(), expected: Some(sha(expected)), found: Some(found) });
        }
        delete_reference(self.git_dir(), reference, expected).map(drop)
    }
}

#[cfg(test)]
mod tests;
