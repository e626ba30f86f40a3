//! Lock files as git keeps them: whoever created `X.lock` may change `X`, everybody else waits.
//!
//! Knows neither references nor an index. A lock of ours that a killed process left is taken away by the next of us who
//! wants it; that of another program is not, unless somebody knows more (`Repository::clear_lock`).

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use crate::checkout::read_small;
use crate::error::RepoError;

/// How long a lock is waited for: other programs hold it for milliseconds.
const LONGEST_WAIT: Duration = Duration::from_secs(5);
const LONGEST_PAUSE: Duration = Duration::from_millis(200);

/// The content of our lock files; git never reads one.
const MARK: &str = "vibe-relay\n";

/// Waiting with growing pauses, until it has been long enough.
pub(crate) struct Patience {
    deadline: Instant,
    pause: Duration,
}

impl Patience {
    pub(crate) fn new() -> Self {
        Self { deadline: Instant::now() + LONGEST_WAIT, pause: Duration::from_millis(2) }
    }

    /// Waits a little. False, at once, when all patience is used up.
    pub(crate) fn wait(&mut self) -> bool {
        if Instant::now() >= self.deadline {
            return false;
        }
        thread::sleep(self.pause);
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
        true
    }
}

/// The refusal of somebody whose patience is used up. `name` is what could not be had.
pub(crate) fn locked(name: &str, lock: PathBuf) -> RepoError {
    RepoError::Locked { name: name.to_owned(), lock, seconds: LONGEST_WAIT.as_secs() }
}

/// A lock that is held until it is dropped.
#[derive(Debug)]
pub(crate) struct LockFile {
    path: PathBuf,
    file: File,
}

impl LockFile {
    /// Locks `target`, whose folder is made when it is missing. `name` tells a person what it is.
    ///
    /// # Errors
    /// [`RepoError::Locked`] when another program held it for five seconds.
    pub(crate) fn hold(target: &Path, name: &str) -> Result<Self, RepoError> {
        let path = lock_of(target);
        let mut patience = Patience::new();
        loop {
            match create(&path) {
                Ok(Some(file)) => return Ok(Self { path, file }),
                Ok(None) if remove_left_over(target)? => continue,
                Ok(None) => {}
                // Whoever deleted a neighbour removed the folder, which was empty at that moment.
                Err(reason) if reason.kind() == ErrorKind::NotFound => {}
                Err(reason) => return Err(RepoError::Io { attempted: format!("create the lock {}", path.display()), reason }),
            }
            if !patience.wait() {
                return Err(locked(name, path));
            }
        }
    }
}

impl Drop for LockFile {
    fn drop(&mut self) {
        if is_at(&self.file, &self.path) {
            // Left behind it would be a lock of a dead process, which the next of us removes.
            _ = fs::remove_file(&self.path);
        }
    }
}

/// None when somebody has it.
fn create(lock: &Path) -> io::Result<Option<File>> {
    if let Some(folder) = lock.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut file = match File::options().read(true).write(true).create_new(true).open(lock) {
        Err(reason) if reason.kind() == ErrorKind::AlreadyExists => return Ok(None),
        opened => opened?,
    };
    // First the system's lock, which ends with the process, then the mark that tells others to look at it. Without the
    // two it still is a lock, only none that heals by itself.
    if file.try_lock().is_ok() {
        _ = file.write_all(MARK.as_bytes());
    }
    Ok(Some(file))
}

/// Removes the lock on `target` if it is one of ours whose process is dead. Answers whether it was.
pub(crate) fn remove_left_over(target: &Path) -> Result<bool, RepoError> {
    let lock = lock_of(target);
    if read_small(&lock).as_deref() != Some(MARK) {
        return Ok(false);
    }
    let Ok(file) = File::options().read(true).write(true).open(&lock) else { return Ok(false) };
    if file.try_lock().is_err() || !is_at(&file, &lock) {
        return Ok(false);
    }
    remove(&lock)
}

/// Removes a lock file, whoever left it. Answers whether there was one.
pub(crate) fn remove(lock: &Path) -> Result<bool, RepoError> {
    match fs::remove_file(lock) {
        Ok(()) => Ok(true),
        Err(reason) if reason.kind() == ErrorKind::NotFound => Ok(false),
        Err(reason) => Err(RepoError::Io { attempted: format!("remove the left-over lock {}", lock.display()), reason }),
    }
}

pub(crate) fn lock_of(target: &Path) -> PathBuf {
    let mut lock = target.as_os_str().to_owned();
    lock.push(".lock");
    lock.into()
}

/// Whether `path` still names the open `file`, and not one that somebody made in its place.
fn is_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), path.symlink_metadata()) {
        (Ok(open), Ok(named)) => (open.dev(), open.ino()) == (named.dev(), named.ino()),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
