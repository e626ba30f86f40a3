//! Locks the index of a human's checkout as git does, to keep other programs from changing it while files are written.
//!
//! libgit2 would take that lock only after writing all files. It therefore writes a copy, which then replaces the index.
//! Must not know what is being landed.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use git2::Index;

use crate::error::{Attempt, RepoError};
use crate::handle::Repository;
use crate::lock::{self, LockFile};

/// An index that no other program can change until this is dropped.
#[derive(Debug)]
pub(super) struct LockedIndex {
    workdir: PathBuf,
    path: PathBuf,
    draft: PathBuf,
    _lock: LockFile,
}

impl LockedIndex {
    /// Locks the index in `admin` of the checkout `workdir`.
    ///
    /// # Errors
    /// [`RepoError::Locked`] if another program holds it for five seconds.
    pub(super) fn lock(admin: &Path, workdir: &Path) -> Result<Self, RepoError> {
        let path = admin.join("index");
        let lock = LockFile::acquire(&path, &format!("the index of {}", workdir.display()))?;
        Ok(Self { workdir: workdir.to_path_buf(), draft: admin.join("index.vibe-relay"), path, _lock: lock })
    }

    /// Opens a copy of the index for writing.
    ///
    /// # Errors
    /// [`RepoError::IndexUnreadable`], or [`RepoError::OperationInProgress`] if it has conflicts: git leaves them after a stash too, and a
    /// checkout would remove them.
    pub(super) fn draft(&self) -> Result<Index, RepoError> {
        let copying = || format!("copy the index {}", self.path.display());
        // A kill may have left this lock. The lock of the index makes its removal safe.
        lock::remove(&lock::lock_path(&self.draft))?;
        match fs::copy(&self.path, &self.draft) {
            // An index does not exist before the first file is added.
            Err(reason) if reason.kind() == ErrorKind::NotFound => _ = lock::remove(&self.draft)?,
            copied => _ = copied.attempting(copying)?,
        }
        let draft = open(&self.draft, &self.workdir)?;
        if draft.has_conflicts() {
            return Err(RepoError::OperationInProgress { operation: "merge of conflicting files", path: self.workdir.clone() });
        }
        Ok(draft)
    }

    /// Replaces the index with the copy.
    pub(super) fn replace(&self) -> Result<(), RepoError> {
        fs::rename(&self.draft, &self.path).attempting(|| format!("write the index {}", self.path.display()))
    }
}

impl Repository {
    /// Removes the locks that a killed landing left on the indexes of people's checkouts, because their own git cannot write there before. A lock
    /// that is held, or that another program made, stays. Returns the removed ones.
    ///
    /// # Errors
    /// The checkouts cannot be listed, or a lock cannot be removed.
    pub fn clear_landing_locks(&self) -> Result<Vec<PathBuf>, RepoError> {
        let mut removed = Vec::new();
        for checkout in self.checkouts()?.into_iter().filter(|checkout| !checkout.ours) {
            let index = checkout.admin.join("index");
            if lock::remove_stale(&index)? {
                removed.push(lock::lock_path(&index));
            }
        }
        Ok(removed)
    }
}

/// Reads the index at `path` of the checkout `workdir`.
pub(super) fn open(path: &Path, workdir: &Path) -> Result<Index, RepoError> {
    Index::open(path).map_err(|reason| RepoError::IndexUnreadable { path: workdir.to_path_buf(), reason: reason.message().to_owned() })
}

impl Drop for LockedIndex {
    fn drop(&mut self) {
        // Remove an unused copy. If this fails, the next copy overwrites it.
        _ = fs::remove_file(&self.draft);
    }
}
