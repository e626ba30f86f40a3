//! Syncs objects and references to disk, because later steps rely on them even after a power cut.
//!
//! libgit2 never syncs, and `git` does not sync the objects of a commit by default. The required order is: objects, the
//! reference that keeps them, then any deletion or record that depends on it. Must not know what is being stored.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::Path;

use crate::error::{Attempt, RepoError};
use crate::handle::Repository;

impl Repository {
    /// Syncs all objects to disk, including those of agents. One call flushes the whole file system, which is cheaper than
    /// a call per object and needs no list of them.
    ///
    /// # Errors
    /// The disk failed, now or in an earlier unreported write.
    pub(crate) fn sync_objects(&self) -> Result<(), RepoError> {
        let syncing = || format!("sync the objects of {} to disk", self.git_dir().display());
        let folder = File::open(self.git_dir().join("objects")).attempting(syncing)?;
        #[cfg(test)]
        tests::record_sync("objects");
        sync_file_system(&folder).attempting(syncing)
    }
}

/// Syncs the file system that holds a folder.
#[cfg(target_os = "linux")]
fn sync_file_system(folder: &File) -> io::Result<()> {
    nix::unistd::syncfs(folder).map_err(io::Error::from)
}

/// Syncs all file systems, and the folder. Unlike Linux, macOS may still be writing other files when this returns.
#[cfg(not(target_os = "linux"))]
fn sync_file_system(folder: &File) -> io::Result<()> {
    nix::unistd::sync();
    folder.sync_all()
}

/// Syncs the loose reference `name` and its folder to disk. git itself syncs packed references.
pub(crate) fn sync_reference(git_dir: &Path, name: &str) -> Result<(), RepoError> {
    #[cfg(test)]
    tests::record_sync(name);
    let path = git_dir.join(name);
    let synced = File::open(&path).and_then(|file| file.sync_all()).and_then(|()| match path.parent() {
        Some(folder) => File::open(folder)?.sync_all(),
        None => Ok(()),
    });
    match synced {
        Err(reason) if reason.kind() == ErrorKind::NotFound => Ok(()),
        synced => synced.attempting(|| format!("sync {name} to disk")),
    }
}

#[cfg(test)]
mod tests;
