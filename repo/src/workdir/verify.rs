//! Finds the files of a checkout that are those of a commit, byte for byte: by their stat, or by reading them, on all processors.
//!
//! Must not decide what a difference means: a file that is not verified may still be the same after a conversion of its line ends. Follows no
//! link.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

use git2::{ObjectType, Oid};
use nix::fcntl::{AtFlags, OFlag, openat, readlinkat};
use nix::sys::stat::{Mode, fstatat};
use tokio_util::sync::CancellationToken;

use crate::error::{Attempt, RepoError};
use crate::file_stat::FileStat;
use crate::folders::Folders;
use crate::parallel;
use crate::stat_cache::StatCache;
use crate::tracked::TrackedFile;

/// A larger file is left to the comparison, which reads it in parts.
const MAX_READ_BYTES: i64 = 16 << 20;

/// Files between two looks whether the result is still wanted.
const FILES_PER_LOOK: usize = 50;

const LINK: u32 = 0o120_000;

/// Returns for each of `files` whether `workdir` has it with the content and the mode of its entry.
///
/// # Errors
/// The checkout cannot be opened, or [`RepoError::Interrupted`] once `cancelled`.
pub(super) fn verify(cancelled: &CancellationToken, workdir: &Path, files: &[TrackedFile], known: &StatCache) -> Result<Vec<bool>, RepoError> {
    let opening = || format!("read the files in {}", workdir.display());
    parallel::each(
        files,
        || Ok((Folders::open(workdir).map_err(io::Error::from).attempting(opening)?, 0_usize)),
        |(folders, count), file| {
            // Each look is under the lock of the token.
            if count.is_multiple_of(FILES_PER_LOOK) && cancelled.is_cancelled() {
                return Err(RepoError::Interrupted);
            }
            *count += 1;
            // A file that cannot be read is not verified.
            Ok(is_verified(folders, file, known).unwrap_or(false))
        },
    )
}

fn is_verified(folders: &mut Folders, file: &TrackedFile, known: &StatCache) -> io::Result<bool> {
    let (folder, name) = folders.of(&file.path)?;
    let found = fstatat(folder, name, AtFlags::AT_SYMLINK_NOFOLLOW)?;
    let Some(stat) = FileStat::new(&found).filter(|stat| stat.mode == file.mode) else { return Ok(false) };
    if known.is_unchanged(file, &stat) {
        return Ok(true);
    }
    if found.st_size > MAX_READ_BYTES {
        return Ok(false);
    }
    let content = read(folder, name, &stat, found.st_size)?;
    Ok(Oid::hash_object(ObjectType::Blob, &content).map_err(io::Error::other)? == file.id)
}

fn read(folder: BorrowedFd<'_>, name: &OsStr, stat: &FileStat, size: i64) -> io::Result<Vec<u8>> {
    if stat.mode == LINK {
        return Ok(readlinkat(folder, name)?.into_vec());
    }
    // Does not wait for a pipe that has replaced the file.
    let file = openat(folder, name, OFlag::O_RDONLY | OFlag::O_NONBLOCK | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC, Mode::empty())?;
    let mut content = Vec::with_capacity(usize::try_from(size).unwrap_or_default() + 1);
    File::from(file).take(MAX_READ_BYTES.unsigned_abs() + 1).read_to_end(&mut content)?;
    Ok(content)
}
