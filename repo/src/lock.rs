//! Creates lock files like git: the creator of `X.lock` may change `X`, and every other process waits.
//!
//! Must not know references or indexes. If a killed process of this product left a lock, the next one removes it. Locks
//! of other programs are removed only by `Repository::clear_lock`.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::checkout::read_small;
use crate::error::RepoError;

/// Maximum wait for a lock. Other programs hold it for milliseconds.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);
const MAX_PAUSE: Duration = Duration::from_millis(200);

/// The content of our lock files. git never reads lock files.
const LOCK_CONTENT: &str = "vibe-relay\n";

/// A deadline for a lock, with growing pauses between attempts.
pub(crate) struct LockDeadline {
    deadline: Instant,
    pause: Duration,
}

impl LockDeadline {
    pub(crate) fn new() -> Self {
        Self { deadline: Instant::now() + LOCK_TIMEOUT, pause: Duration::from_millis(2) }
    }

    /// Waits before the next attempt. Returns false at once after the deadline.
    pub(crate) fn wait(&mut self) -> bool {
        if Instant::now() >= self.deadline {
            return false;
        }
        thread::sleep(self.pause);
        self.pause = (self.pause * 2).min(MAX_PAUSE);
        true
    }
}

/// Returns the error for a lock that was not acquired in time. `name` is the locked item.
pub(crate) fn timeout_error(name: &str, lock: PathBuf) -> RepoError {
    RepoError::Locked { name: name.to_owned(), lock, seconds: LOCK_TIMEOUT.as_secs() }
}

/// A lock file that is held until this is dropped.
#[derive(Debug)]
pub(crate) struct LockFile {
    path: PathBuf,
    file: File,
}

impl LockFile {
    /// Locks `target` and creates its folder if it is missing. `name` describes `target` in errors.
    ///
    /// # Errors
    /// [`RepoError::Locked`] if another program holds it for five seconds.
    pub(crate) fn acquire(target: &Path, name: &str) -> Result<Self, RepoError> {
        let path = lock_path(target);
        let mut deadline = LockDeadline::new();
        loop {
            match create(&path) {
                Ok(Some(file)) => return Ok(Self { path, file }),
                Ok(None) if remove_stale(target)? => continue,
                Ok(None) => {}
                // Another process removed the folder, which was empty, after deleting a neighbouring file.
                Err(reason) if reason.kind() == ErrorKind::NotFound => {}
                Err(reason) => return Err(RepoError::Io { attempted: format!("create the lock {}", path.display()), reason }),
            }
            if !deadline.wait() {
                return Err(timeout_error(name, path));
            }
        }
    }
}

impl Drop for LockFile {
    fn drop(&mut self) {
        if is_same_file(&self.file, &self.path) {
            // If this fails, the next process removes it as a stale lock.
            _ = fs::remove_file(&self.path);
        }
    }
}

/// Creates the lock file. Returns `None` if it exists.
fn create(lock: &Path) -> io::Result<Option<File>> {
    if let Some(folder) = lock.parent() {
        create_folder(folder)?;
    }
    // It gets its name when it is complete, so that no kill leaves one without the content that says whose it is. The operating system's lock
    // ends with the process.
    let draft = draft_path(lock);
    let mut file = File::options().read(true).write(true).create(true).truncate(true).open(&draft)?;
    let named = (|| {
        file.try_lock()?;
        file.write_all(LOCK_CONTENT.as_bytes())?;
        fs::hard_link(&draft, lock)
    })();
    // If this fails, a file stays that no program reads.
    _ = fs::remove_file(&draft);
    match named {
        Ok(()) => Ok(Some(file)),
        Err(reason) if reason.kind() == ErrorKind::AlreadyExists => Ok(None),
        Err(reason) => Err(reason),
    }
}

/// A name that no other lock is made under at the same time.
fn draft_path(lock: &Path) -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    // Git takes neither a name with a point at its begin nor one with `.lock` at its end for a reference.
    lock.with_file_name(format!(".vibe-relay-{}-{}.lock", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed)))
}

/// Creates a folder with its parents. An error of the kind `NotFound` says that another process removed one of them meanwhile.
fn create_folder(folder: &Path) -> io::Result<()> {
    match fs::create_dir_all(folder) {
        // It existed when it was to be created, and was removed before the check that it is a folder. A file there would stay.
        Err(reason) if reason.kind() == ErrorKind::AlreadyExists && folder.symlink_metadata().is_ok_and(|found| !found.is_dir()) => Err(reason),
        Err(reason) if reason.kind() == ErrorKind::AlreadyExists => Err(ErrorKind::NotFound.into()),
        result => result,
    }
}

/// Removes the lock on `target` if it is ours and its process has exited. Returns whether it removed the lock.
pub(crate) fn remove_stale(target: &Path) -> Result<bool, RepoError> {
    let lock = lock_path(target);
    if read_small(&lock).as_deref() != Some(LOCK_CONTENT) {
        return Ok(false);
    }
    let Ok(file) = File::options().read(true).write(true).open(&lock) else { return Ok(false) };
    if file.try_lock().is_err() || !is_same_file(&file, &lock) {
        return Ok(false);
    }
    remove(&lock)
}

/// Removes any lock file. Returns whether it existed.
pub(crate) fn remove(lock: &Path) -> Result<bool, RepoError> {
    match fs::remove_file(lock) {
        Ok(()) => Ok(true),
        Err(reason) if reason.kind() == ErrorKind::NotFound => Ok(false),
        Err(reason) => Err(RepoError::Io { attempted: format!("remove the stale lock {}", lock.display()), reason }),
    }
}

pub(crate) fn lock_path(target: &Path) -> PathBuf {
    let mut lock = target.as_os_str().to_owned();
    lock.push(".lock");
    lock.into()
}

/// Returns whether `path` still names the open `file` and not a replacement.
fn is_same_file(file: &File, path: &Path) -> bool {
    match (file.metadata(), path.symlink_metadata()) {
        (Ok(open), Ok(named)) => (open.dev(), open.ino()) == (named.dev(), named.ino()),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
