//! The index of a person's checkout, locked as git locks it, so that no other program changes it while files are written.
//!
//! libgit2 would take that lock only when it has written all files. So it is given a copy to write, which then takes the
//! place of the index.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use git2::Index;

use crate::error::{Attempt, RepoError};
use crate::lock::{self, LockFile};

/// An index that nobody else can change. The lock is given back when it is dropped.
#[derive(Debug)]
pub(super) struct LockedIndex {
    path: PathBuf,
    draft: PathBuf,
    _lock: LockFile,
}

impl LockedIndex {
    /// Locks the index in `admin` of the checkout `workdir`.
    ///
    /// # Errors
    /// [`RepoError::Locked`] when another program held it for five seconds.
    pub(super) fn hold(admin: &Path, workdir: &Path) -> Result<Self, RepoError> {
        let path = admin.join("index");
        let lock = LockFile::hold(&path, &format!("the index of {}", workdir.display()))?;
        Ok(Self { draft: admin.join("index.vibe-relay"), path, _lock: lock })
    }

    /// A copy of the index, to be written in its stead.
    pub(super) fn draft(&self) -> Result<Index, RepoError> {
        let copying = || format!("copy the index {}", self.path.display());
        // Left by a kill; whoever holds the lock of the index is alone with them.
        lock::remove(&lock::lock_of(&self.draft))?;
        match fs::copy(&self.path, &self.draft) {
            // No file has been added yet.
            Err(reason) if reason.kind() == ErrorKind::NotFound => _ = lock::remove(&self.draft)?,
            copied => _ = copied.attempting(copying)?,
        }
        Index::open(&self.draft).attempting(copying)
    }

    /// Puts the copy, as it was written, into the place of the index.
    pub(super) fn replace(&self) -> Result<(), RepoError> {
        fs::rename(&self.draft, &self.path).attempting(|| format!("write the index {}", self.path.display()))
    }
}

impl Drop for LockedIndex {
    fn drop(&mut self) {
        // The copy that was not used. Left behind it is overwritten by the next one.
        _ = fs::remove_file(&self.draft);
    }
}
