//! Deletes a branch whose commits another reference keeps.
//!
//! Must not use libgit2, which reads `packed-refs` before it locks the file and can lose branches that another program
//! packs meanwhile. This file takes git's locks in git's order (the reference, then `packed-refs`) and removes the
//! reflog, the packed value and the loose file. After a kill at any step, a repeated call finishes the deletion.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use git2::Oid;

use super::packed::{PackedReferences, path_in};
use super::{branch_ref, contains, is_kept, tip};
use crate::error::{Attempt, RepoError};
use crate::handle::{Repository, sha};
use crate::lock::{LockFile, remove_stale};

impl Repository {
    /// Deletes `branch` if `kept_by` or a reference for kept work contains its tip. Returns whether the branch existed.
    ///
    /// # Errors
    /// [`RepoError::CommitsNotKept`] if commits would be lost, [`RepoError::CheckedOut`] if a checkout uses the branch,
    /// [`RepoError::Symbolic`] if it only points to another branch, [`RepoError::Moved`], [`RepoError::Locked`].
    pub fn delete_branch(&self, branch: &str, kept_by: &str) -> Result<bool, RepoError> {
        let handle = self.handle()?;
        let name = branch_ref(branch);
        let Some(old) = tip(&handle, branch)? else {
            // A deletion that was killed after its last step leaves locks and empty folders.
            remove_stale(&path_in(self.git_dir()))?;
            remove_stale(&self.git_dir().join(&name))?;
            remove_empty_folders(self.git_dir(), &name);
            return Ok(false);
        };
        if let Some(checkout) = self.checkouts()?.into_iter().find(|checkout| checkout.occupies(branch)) {
            return Err(RepoError::CheckedOut { branch: branch.to_owned(), path: checkout.workdir });
        }
        let kept = kept_by != branch && tip(&handle, kept_by)?.is_some_and(|other| contains(&handle, other, old));
        if !kept && !is_kept(&handle, old)? {
            return Err(RepoError::CommitsNotKept { branch: branch.to_owned(), kept_by: kept_by.to_owned() });
        }
        delete_reference(self.git_dir(), &name, old)
    }
}

/// Deletes the reference `name` if it still has the value `old`. Returns false if it does not exist.
pub(crate) fn delete_reference(git_dir: &Path, name: &str, old: Oid) -> Result<bool, RepoError> {
    let deleted = delete(git_dir, name, old);
    // The lock was in the same folder, so the folder could not be removed earlier.
    remove_empty_folders(git_dir, name);
    deleted
}

fn delete(git_dir: &Path, name: &str, old: Oid) -> Result<bool, RepoError> {
    let loose = git_dir.join(name);
    let _lock = LockFile::acquire(&loose, name)?;
    // Lock it even if the reference is not packed, because another program must not pack it now.
    let packed = PackedReferences::lock(git_dir, name)?;
    let found = loose_value(&loose, name)?.or_else(|| packed.value(name));
    if found.is_none() {
        return Ok(false);
    }
    if found != Some(old) {
        return Err(RepoError::Moved { name: name.to_owned(), expected: Some(sha(old)), found: found.map(sha) });
    }
    // Remove the reflog first: a reference without a reflog is valid, but a reflog without a reference is not.
    let logs = git_dir.join("logs");
    remove_file(&logs.join(name))?;
    remove_empty_folders(&logs, name);
    // Remove the loose file last, because it hides an outdated packed value.
    packed.remove(name)?;
    remove_file(&loose)?;
    Ok(true)
}

fn loose_value(path: &Path, name: &str) -> Result<Option<Oid>, RepoError> {
    let reading = || format!("read {name}");
    let symbolic = |target: String| Err(RepoError::Symbolic { name: name.to_owned(), target });
    let found = match path.symlink_metadata() {
        Ok(found) if found.is_dir() => return Ok(None),
        Err(reason) if reason.kind() == ErrorKind::NotFound => return Ok(None),
        found => found.attempting(reading)?,
    };
    if found.is_symlink() {
        return symbolic(fs::read_link(path).attempting(reading)?.display().to_string());
    }
    let text = fs::read_to_string(path).attempting(reading)?;
    match text.trim_end().strip_prefix("ref:") {
        Some(target) => symbolic(target.trim().to_owned()),
        None => Oid::from_str(text.trim_end()).map(Some).attempting(reading),
    }
}

/// Removes a file. Leaves a folder of that name in place, because it holds other references.
fn remove_file(path: &Path) -> Result<(), RepoError> {
    match fs::remove_file(path) {
        Err(reason) if matches!(reason.kind(), ErrorKind::NotFound | ErrorKind::IsADirectory) => Ok(()),
        removed => removed.attempting(|| format!("remove {}", path.display())),
    }
}

/// Removes the empty parent folders of `name`, except `refs/heads`. Stops at the first folder that it cannot remove,
/// because another process may have created a neighbouring branch.
fn remove_empty_folders(top: &Path, name: &str) {
    let folders = Path::new(name).ancestors().skip(1).take_while(|folder| folder.components().count() > 2);
    for folder in folders {
        match fs::remove_dir(top.join(folder)) {
            Err(reason) if reason.kind() != ErrorKind::NotFound => return,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
