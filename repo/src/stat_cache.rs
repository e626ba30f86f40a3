//! The stat cache: what the files of a checkout were like when they were those of known blobs, so that unchanged ones are not read again.
//!
//! Must not be within reach of an agent. git's own cache is the index of the checkout, which its agent can write, so the board keeps a copy
//! beside the checkout, made before the agent starts. It is never updated: what an agent has touched is read. No flag of an index counts.

mod index_file;

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use index_file::KnownFiles;

use crate::error::{Attempt, RepoError};
use crate::file_stat::FileStat;
use crate::tracked::TrackedFile;
use crate::worktree::remove_if_exists;

/// The known files of a checkout.
#[derive(Debug, Default)]
pub(crate) struct StatCache {
    known: KnownFiles,
    /// When they were written down.
    written: (i32, u32),
}

impl StatCache {
    /// Reads what is known of an agent's checkout.
    pub(crate) fn of_checkout(checkout: &Path) -> Self {
        Self::read(&cache_path(checkout))
    }

    /// Reads the index at `path`. An index that does not exist or cannot be read knows no file.
    pub(crate) fn read(path: &Path) -> Self {
        Self::parse(path).unwrap_or_default()
    }

    fn parse(path: &Path) -> Option<Self> {
        if !path.symlink_metadata().ok()?.is_file() {
            return None;
        }
        let mut file = File::open(path).ok()?;
        let found = file.metadata().ok()?;
        let written = (i32::try_from(found.mtime()).ok()?, u32::try_from(found.mtime_nsec()).ok()?);
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).ok()?;
        Some(Self { known: KnownFiles::parse(&bytes)?, written })
    }

    /// Whether a file that now has this `stat` still has the content and the mode of `file`.
    pub(crate) fn is_unchanged(&self, file: &TrackedFile, stat: &FileStat) -> bool {
        let Ok(place) = self.known.files.binary_search_by(|known| self.known.path(known).cmp(&file.path)) else { return false };
        let known = &self.known.files[place];
        known.id == file.id && known.stat.mode == file.mode && known.stat == *stat && stat.is_older_than(self.written)
    }
}

/// Where the stat cache of an agent's checkout is: beside it, where a sandbox shows the agent nothing.
fn cache_path(checkout: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(checkout.file_name().unwrap_or_default());
    name.push(".stat");
    checkout.with_file_name(name)
}

/// Keeps what the index in `admin` says of a checkout that was just made.
///
/// # Errors
/// The copy cannot be written.
pub(crate) fn write_copy(admin: &Path, checkout: &Path) -> Result<(), RepoError> {
    let target = cache_path(checkout);
    let keeping = || format!("write {}", target.display());
    let mut draft = target.clone();
    draft.as_mut_os_string().push(".new");
    remove_if_exists(&draft)?;
    fs::copy(admin.join("index"), &draft).attempting(keeping)?;
    fs::rename(&draft, &target).attempting(keeping)
}

/// Removes the stat cache of a checkout.
///
/// # Errors
/// It exists and cannot be removed.
pub(crate) fn forget(checkout: &Path) -> Result<(), RepoError> {
    remove_if_exists(&cache_path(checkout))
}

#[cfg(test)]
mod tests;
