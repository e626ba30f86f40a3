//! Converts single files with `git`: from a checkout to a blob, and back.
//!
//! Must not follow a link on the way to a file that it reads, because an agent may have put it there.

use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use git2::{Delta, Diff, Index, IndexEntry, Oid};
use nix::fcntl::{OFlag, openat};
use nix::sys::stat::{Mode, lstat};

use super::{Filters, path_of};
use crate::error::{Attempt, RepoError};
use crate::file_stat::{FileStat, plain_entry};
use crate::folders::Folders;
use crate::git_call::succeed;
use crate::handle::{Repository, oid};
use crate::workdir::Change;

impl Filters<'_> {
    /// Returns the id of the blob that git makes of the file at `path` in the checkout, and stores that blob if `stores`. `None` if there is no
    /// file that can be read.
    ///
    /// # Errors
    /// The filter fails.
    pub(crate) fn clean(&self, workdir: &Path, path: &Path, stores: bool) -> Result<Option<Oid>, RepoError> {
        let cleaning = || format!("convert {} for git", path.display());
        let Ok(file) = open_beneath(workdir, path) else { return Ok(None) };
        let mut call = self.carrier()?.call(["hash-object", "--stdin"]);
        if stores {
            call.arguments.push("-w".into());
        }
        call.arguments.extend(["--path".into(), path.into()]);
        call.worktree = Some(workdir.to_path_buf());
        call.input = Some(file);
        oid(succeed(call, cleaning)?.trim()).map(Some)
    }

    /// Writes files of the repository to `workdir` as git does, over what is there, and returns them with what they are like.
    ///
    /// # Errors
    /// A filter fails, such as Git LFS without the file and without a network.
    pub(crate) fn smudge(&self, workdir: &Path, files: &[IndexEntry]) -> Result<Vec<IndexEntry>, RepoError> {
        let writing = || format!("write the converted files to {}", workdir.display());
        if files.is_empty() {
            return Ok(Vec::new());
        }
        let carrier = self.carrier()?;
        let list = carrier.path("converted");
        let mut index = Index::open(&list).attempting(writing)?;
        index.clear().attempting(writing)?;
        for file in files {
            index.add(&plain_entry(&file.path, file.id, file.mode)).attempting(writing)?;
        }
        index.write().attempting(writing)?;
        let mut call = carrier.call(["checkout-index", "--all", "--force", "--quiet"]);
        call.worktree = Some(workdir.to_path_buf());
        call.index = Some(list);
        succeed(call, writing)?;
        let written = files.iter().map(|file| {
            let found = lstat(&workdir.join(path_of(file))).map_err(io::Error::from).attempting(writing)?;
            let mut written = plain_entry(&file.path, file.id, file.mode);
            FileStat::new(&found).inspect(|stat| stat.fill(&mut written));
            Ok(written)
        });
        written.collect()
    }
}

impl Repository {
    /// Lists the paths in which `diff`, between `index` and `workdir`, finds a difference that is one for git too: the conversion of a file may
    /// be all. `handle` is on the checkout.
    pub(crate) fn differences(&self, handle: &git2::Repository, workdir: &Path, index: &Index, diff: &Diff<'_>) -> Result<Vec<Change>, RepoError> {
        let filters = Filters::new(self, handle);
        let mut changes = Vec::new();
        for delta in diff.deltas().filter(|delta| delta.status() != Delta::Unmodified) {
            let Some(path) = delta.new_file().path().or_else(|| delta.old_file().path()) else { continue };
            let may_be_converted = delta.status() == Delta::Modified && delta.old_file().mode() == delta.new_file().mode();
            if may_be_converted && filters.conversion(path)?.is_some() {
                let known = index.get_path(path, 0).map(|entry| entry.id);
                if known.is_some() && known == filters.clean(workdir, path, false)? {
                    continue;
                }
            }
            changes.push(Change { path: path.to_path_buf(), status: delta.status() });
        }
        Ok(changes)
    }
}

fn open_beneath(workdir: &Path, path: &Path) -> io::Result<File> {
    let mut folders = Folders::open(workdir)?;
    let (folder, name) = folders.of(path.as_os_str().as_bytes())?;
    // Does not wait for a pipe.
    let flags = OFlag::O_RDONLY | OFlag::O_NONBLOCK | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    let file = File::from(openat(folder, name, flags, Mode::empty())?);
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::ErrorKind::InvalidInput.into()) }
}
