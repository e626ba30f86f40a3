//! Waits until what was written is on the disk, so that a power cut cannot take back what is relied upon.
//!
//! libgit2 waits for nothing, and `git` by default not for the objects of a commit. The order is: objects, then the
//! reference that keeps them, then whatever is deleted or written down because of it.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::Path;

use crate::error::{Attempt, RepoError};
use crate::handle::Repository;

impl Repository {
    /// Waits until all objects are on the disk, those that agents wrote included. One call flushes the whole file
    /// system: cheaper than a call for every object, and it needs no list of them.
    ///
    /// # Errors
    /// The disk failed, now or in an earlier write that nobody has asked about.
    pub(crate) fn sync_objects(&self) -> Result<(), RepoError> {
        let syncing = || format!("bring the objects of {} to the disk", self.git_dir().display());
        let folder = File::open(self.git_dir().join("objects")).attempting(syncing)?;
        #[cfg(test)]
        tests::note("objects");
        nix::unistd::syncfs(&folder).map_err(io::Error::from).attempting(syncing)
    }
}

/// Waits until the loose reference `name` is on the disk with its content. A packed one is there: git waits for it.
pub(crate) fn sync_reference(git_dir: &Path, name: &str) -> Result<(), RepoError> {
    #[cfg(test)]
    tests::note(name);
    let path = git_dir.join(name);
    let synced = File::open(&path).and_then(|file| file.sync_all()).and_then(|()| match path.parent() {
        Some(folder) => File::open(folder)?.sync_all(),
        None => Ok(()),
    });
    match synced {
        Err(reason) if reason.kind() == ErrorKind::NotFound => Ok(()),
        synced => synced.attempting(|| format!("bring {name} to the disk")),
    }
}

#[cfg(test)]
mod tests;
