//! Deletes a branch whose commits something else keeps.
//!
//! Not through libgit2, which reads `packed-refs` before it locks it and so can lose branches that another program packs
//! at that moment. The locks and steps are git's own, in git's order: the reference's lock, the lock of all packed
//! references, then reflog, packed value, loose file. A kill after any of them is finished by a repeat.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use git2::Oid;

use super::packed::{PackedReferences, path_in};
use super::{contains, full_name, is_rescued, tip};
use crate::error::{Attempt, RepoError};
use crate::handle::{Repository, sha};
use crate::lock::{LockFile, remove_left_over};

impl Repository {
    /// Deletes `branch` when `kept_by` or a rescue ref contains its tip. Answers whether there was such a branch.
    ///
    /// # Errors
    /// [`RepoError::NotKept`] when commits would be lost, [`RepoError::CheckedOut`] when a checkout stands on it,
    /// [`RepoError::Symbolic`] when it only points to another one, [`RepoError::Moved`], [`RepoError::Locked`].
    pub fn delete_branch(&self, branch: &str, kept_by: &str) -> Result<bool, RepoError> {
        let handle = self.handle()?;
        let name = full_name(branch);
        let Some(old) = tip(&handle, branch)? else {
            // What a deletion leaves that is killed after its last step.
            remove_left_over(&path_in(self.git_dir()))?;
            remove_left_over(&self.git_dir().join(&name))?;
            remove_empty_folders(self.git_dir(), &name);
            return Ok(false);
        };
        if let Some(checkout) = self.checkouts()?.into_iter().find(|checkout| checkout.occupies(branch)) {
            return Err(RepoError::CheckedOut { branch: branch.to_owned(), path: checkout.workdir });
        }
        let kept = kept_by != branch && tip(&handle, kept_by)?.is_some_and(|keeper| contains(&handle, keeper, old));
        if !kept && !is_rescued(&handle, old)? {
            return Err(RepoError::CommitsNotKept { branch: branch.to_owned(), kept_by: kept_by.to_owned() });
        }
        let deleted = delete(self.git_dir(), &name, old);
        // Only now, because the lock was in the same folder.
        remove_empty_folders(self.git_dir(), &name);
        deleted
    }
}

/// Deletes the reference `name` if it still has the value that was judged, `old`. False when it is gone already.
fn delete(git_dir: &Path, name: &str, old: Oid) -> Result<bool, RepoError> {
    let loose = git_dir.join(name);
    let _lock = LockFile::hold(&loose, name)?;
    // Also when the reference is not packed: nobody may pack it now.
    let packed = PackedReferences::lock(git_dir, name)?;
    let found = loose_value(&loose, name)?.or_else(|| packed.value(name));
    if found.is_none() {
        return Ok(false);
    }
    if found != Some(old) {
        return Err(RepoError::Moved { name: name.to_owned(), expected: Some(sha(old)), found: found.map(sha) });
    }
    // A reference without a reflog is sound, a reflog without a reference is not.
    let logs = git_dir.join("logs");
    remove_file(&logs.join(name))?;
    remove_empty_folders(&logs, name);
    // A loose file hides the packed value: the other way round, an old one would come to light.
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

/// A folder in its place stays: it holds others.
fn remove_file(path: &Path) -> Result<(), RepoError> {
    match fs::remove_file(path) {
        Err(reason) if matches!(reason.kind(), ErrorKind::NotFound | ErrorKind::IsADirectory) => Ok(()),
        removed => removed.attempting(|| format!("remove {}", path.display())),
    }
}

/// Removes the folders of `name` that are empty, but not `refs/heads`. Ends where it cannot: somebody may just have
/// made a neighbour.
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
