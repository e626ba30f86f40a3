//! Writes the files of a commit into an empty checkout, on all processors, and lists them with what they are like.
//!
//! Must not convert contents or write over a file. libgit2 does what this file does not: conversions, and checkouts that were begun before.
//! It writes one file after the other, and looks at each folder of a path again for each file.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use git2::{Index, IndexEntry, ObjectType};
use nix::fcntl::{AtFlags, OFlag, openat};
use nix::sys::stat::{Mode, fstat, fstatat, mkdirat};
use nix::unistd::symlinkat;

use crate::error::{Attempt, RepoError};
use crate::file_stat::{FileStat, plain_entry};
use crate::folders::Folders;
use crate::handle::Repository;
use crate::parallel;

const LINK: u32 = 0o120_000;
const SUBMODULE: u32 = 0o160_000;
const EXECUTABLE: u32 = 0o100_755;

impl Repository {
    /// Writes `files` to the checkout at `path`, which is empty, and adds them to its `index`. Returns false, and writes nothing, if libgit2 has
    /// to convert contents.
    ///
    /// # Errors
    /// A file exists, or cannot be read or written.
    pub(super) fn write_new_files(&self, index: &mut Index, path: &Path, files: &[IndexEntry]) -> Result<bool, RepoError> {
        let handle = self.handle()?;
        if self.converts(&handle, files)? {
            return Ok(false);
        }
        let begin = || {
            let folders = Folders::create(path).map_err(io::Error::from).attempting(|| format!("write files to {}", path.display()))?;
            Ok::<_, RepoError>((self.handle()?, folders))
        };
        let stats = parallel::each(files, begin, |(handle, folders), file| {
            let writing = || format!("write {}", path.join(String::from_utf8_lossy(&file.path).as_ref()).display());
            if file.mode == SUBMODULE {
                return make_folder(folders, file).map(|()| None).attempting(writing);
            }
            let objects = handle.odb().attempting(writing)?;
            let object = objects.read(file.id).attempting(writing)?;
            if object.kind() != ObjectType::Blob {
                return Err(io::Error::other("it is not a blob")).attempting(writing);
            }
            write(folders, file, object.data()).attempting(writing)
        })?;
        for (file, stat) in files.iter().zip(stats) {
            let mut file = plain_entry(&file.path, file.id, file.mode);
            stat.inspect(|stat| stat.fill(&mut file));
            index.add(&file).attempting(|| format!("list the files of {}", path.display()))?;
        }
        Ok(true)
    }
}

/// A submodule gets an empty folder.
fn make_folder(folders: &mut Folders, file: &IndexEntry) -> io::Result<()> {
    let (folder, name) = folders.of(&file.path)?;
    Ok(mkdirat(folder, name, Mode::from_bits_truncate(0o777))?)
}

fn write(folders: &mut Folders, file: &IndexEntry, content: &[u8]) -> io::Result<Option<FileStat>> {
    let (folder, name) = folders.of(&file.path)?;
    let found = if file.mode == LINK {
        symlinkat(OsStr::from_bytes(content), folder, name)?;
        fstatat(folder, name, AtFlags::AT_SYMLINK_NOFOLLOW)?
    } else {
        let mut written = create(folder, name, file.mode == EXECUTABLE)?;
        written.write_all(content)?;
        fstat(&written)?
    };
    Ok(FileStat::new(&found))
}

fn create(folder: BorrowedFd<'_>, name: &OsStr, is_executable: bool) -> io::Result<File> {
    let flags = OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    let mode = Mode::from_bits_truncate(if is_executable { 0o755 } else { 0o644 });
    Ok(File::from(openat(folder, name, flags, mode)?))
}
