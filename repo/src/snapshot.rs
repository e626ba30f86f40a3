//! Writes the files of a checkout into the repository, without a commit.
//!
//! Must not change the checkout's files, index or branch, and must not read outside of it: its agent may be at work, and may replace a folder
//! by a link at any moment. Files with a filter are stored as git stores them. Ignored files are left out, because builds generate them.

use std::fs::{self, File, Permissions};
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};

use git2::{Delta, Index, Oid};
use nix::errno::Errno;
use nix::fcntl::{OFlag, open, openat, readlinkat};
use nix::sys::stat::Mode;

use crate::error::{Attempt, RepoError};
use crate::file_stat::plain_entry;
use crate::filter::Filters;
use crate::handle::{Repository, find_commit};
use crate::stat_cache::StatCache;
use crate::workdir::{Change, Untracked};

/// Maximum size of a file. Larger files are only listed, because core dumps must not fill the repository.
pub(crate) const MAX_FILE_BYTES: u64 = 50 * 1024 * 1024;

const LINK: u32 = 0o120_000;

/// How the contents of files are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Contents {
    /// Byte for byte, also where git would convert line ends.
    Raw,
    /// As `git add` stores them, for a checkout that nobody else changes meanwhile.
    Normalized,
}

/// The files of a checkout.
#[derive(Debug)]
pub(crate) struct Snapshot {
    pub(crate) tree: Oid,
    /// Paths that were left out: too large, unreadable, or neither file nor link.
    pub(crate) skipped: Vec<String>,
}

impl Repository {
    /// Stores the files in `worktree` that are not ignored, as a change of `head`. `None` if they equal `head`. Does not read the files that
    /// `known` knows as unchanged.
    ///
    /// # Errors
    /// The checkout cannot be read, or [`RepoError::RescueTooLarge`] if what changed is larger than `max_bytes`: then nothing is stored.
    pub(crate) fn snapshot(
        &self,
        handle: &git2::Repository,
        worktree: &Path,
        head: Oid,
        known: &StatCache,
        max_bytes: u64,
    ) -> Result<Option<Snapshot>, RepoError> {
        let changes = self.changes(worktree, head, Untracked::Files, known)?;
        if changes.is_empty() { Ok(None) } else { self.snapshot_of(handle, worktree, head, changes, Contents::Raw, max_bytes).map(Some) }
    }

    /// Stores `changes`, which are those of `worktree`, as a change of `head`. `handle` is on the checkout.
    ///
    /// # Errors
    /// As [`Repository::snapshot`].
    pub(crate) fn snapshot_of(
        &self,
        handle: &git2::Repository,
        worktree: &Path,
        head: Oid,
        changes: Vec<Change>,
        contents: Contents,
        max_bytes: u64,
    ) -> Result<Snapshot, RepoError> {
        let old_tree = find_commit(handle, head)?.tree().attempting(|| format!("read the files of {head}"))?;
        let mut builder = Builder {
            handle,
            worktree,
            contents,
            filters: Filters::new(self, handle),
            index: Index::new().attempting(indexing)?,
            skipped: Vec::new(),
        };
        builder.index.read_tree(&old_tree).attempting(indexing)?;
        // Apply deletions first, because a folder may have replaced a file.
        let (deleted, written): (Vec<_>, Vec<_>) = changes.into_iter().partition(|change| change.status == Delta::Deleted);
        for change in deleted {
            builder.index.remove(&change.path, 0).attempting(indexing)?;
        }
        let mut files = Vec::new();
        for change in written {
            builder.collect(&change.path, &mut files)?;
        }
        let bytes: u64 = files.iter().map(|(_, bytes)| bytes).sum();
        if bytes > max_bytes {
            return Err(RepoError::RescueTooLarge { path: worktree.to_path_buf(), bytes, limit: max_bytes });
        }
        for (path, _) in files {
            builder.add(&path)?;
        }
        let tree = builder.index.write_tree_to(handle).attempting(indexing)?;
        Ok(Snapshot { tree, skipped: builder.skipped })
    }
}

fn indexing() -> String {
    "list the files to keep".into()
}

/// Adds files of a checkout to an index in memory.
struct Builder<'a> {
    handle: &'a git2::Repository,
    worktree: &'a Path,
    contents: Contents,
    filters: Filters<'a>,
    index: Index,
    skipped: Vec<String>,
}

impl Builder<'_> {
    /// Collects the files and links at `path` with their sizes: the file itself, or the files of a nested repository, whose commits
    /// [`Repository::rescue_nested`] keeps. git reports a folder as a change only in that case.
    fn collect(&mut self, path: &Path, files: &mut Vec<(PathBuf, u64)>) -> Result<(), RepoError> {
        match self.worktree.join(path).symlink_metadata() {
            Ok(found) if found.is_dir() => return self.collect_nested(path, files),
            // Of a large file, the repository gets a line with its name.
            Ok(found) if found.is_file() && self.filters.conversion(path)?.is_some_and(|by| by.is_lfs()) => files.push((path.to_path_buf(), 0)),
            Ok(found) if found.is_symlink() || (found.is_file() && found.len() <= MAX_FILE_BYTES) => files.push((path.to_path_buf(), found.len())),
            _ => self.skip(path),
        }
        Ok(())
    }

    fn collect_nested(&mut self, folder: &Path, files: &mut Vec<(PathBuf, u64)>) -> Result<(), RepoError> {
        let Ok(entries) = fs::read_dir(self.worktree.join(folder)) else {
            self.skip(folder);
            return Ok(());
        };
        let mut names: Vec<PathBuf> = entries.flatten().map(|entry| folder.join(entry.file_name())).collect();
        names.sort();
        for path in names {
            let is_git = path.file_name().is_some_and(|name| name == ".git");
            if !is_git && !self.handle.is_path_ignored(&path).unwrap_or(false) {
                self.collect(&path, files)?;
            }
        }
        Ok(())
    }

    fn add(&mut self, path: &Path) -> Result<(), RepoError> {
        let found = self.worktree.join(path).symlink_metadata().ok().filter(fs::Metadata::is_file);
        let stored = match found {
            Some(found) if self.filters.conversion(path)?.is_some() => {
                self.filters.clean(self.worktree, path, true)?.map(|id| (id, mode_of(&found.permissions())))
            }
            _ => self.store(path)?,
        };
        let Some((id, mode)) = stored else {
            self.skip(path);
            return Ok(());
        };
        self.index.add(&plain_entry(path.as_os_str().as_encoded_bytes(), id, mode)).attempting(|| format!("store {}", path.display()))
    }

    /// Stores a file or a link that no filter converts. `None` if it cannot be read.
    fn store(&self, path: &Path) -> Result<Option<(Oid, u32)>, RepoError> {
        let Ok((content, mode)) = read_beneath(self.worktree, path, MAX_FILE_BYTES) else { return Ok(None) };
        let stored = match self.contents {
            // A link has no line ends, and would be followed.
            Contents::Normalized if mode != LINK => self.handle.blob_path(&self.worktree.join(path)),
            Contents::Raw | Contents::Normalized => self.handle.blob(&content),
        };
        Ok(Some((stored.attempting(|| format!("store {}", path.display()))?, mode)))
    }

    fn skip(&mut self, path: &Path) {
        self.skipped.push(path.to_string_lossy().into_owned());
    }
}

/// Reads the file of at most `most` bytes or the link at `path` below `root`, with git's mode of it. Follows no link below `root`, and does not
/// wait for a pipe.
pub(crate) fn read_beneath(root: &Path, path: &Path, most: u64) -> io::Result<(Vec<u8>, u32)> {
    let folder_flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    let mut folder: OwnedFd = open(root, folder_flags, Mode::empty())?;
    let mut names: Vec<Component<'_>> = path.components().collect();
    let Some(Component::Normal(name)) = names.pop() else { return Err(io::ErrorKind::InvalidInput.into()) };
    for component in names {
        let Component::Normal(component) = component else { return Err(io::ErrorKind::InvalidInput.into()) };
        folder = openat(&folder, component, folder_flags, Mode::empty())?;
    }
    let file_flags = OFlag::O_RDONLY | OFlag::O_NONBLOCK | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    match openat(&folder, name, file_flags, Mode::empty()) {
        // macOS and Linux name a link in this way.
        Err(Errno::ELOOP | Errno::EMLINK) => Ok((readlinkat(&folder, name)?.into_encoded_bytes(), LINK)),
        Err(error) => Err(error.into()),
        Ok(file) => read_file(File::from(file), most),
    }
}

fn read_file(file: File, most: u64) -> io::Result<(Vec<u8>, u32)> {
    let found = file.metadata()?;
    if !found.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut content = Vec::new();
    file.take(most + 1).read_to_end(&mut content)?;
    if content.len() as u64 > most {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok((content, mode_of(&found.permissions())))
}

/// git's mode of a file.
fn mode_of(permissions: &Permissions) -> u32 {
    if permissions.mode() & 0o100 != 0 { 0o100_755 } else { 0o100_644 }
}

#[cfg(test)]
mod tests;
