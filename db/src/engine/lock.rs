//! Locks the database file for one process. A second process reports the owner.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::Path;
use std::time::Duration;

use crate::error::{Error, Result};

/// Number of attempts to take the lock. If a process is killed while it starts a program, its child keeps the lock until it executes that
/// program, which took up to 64 ms when measured.
const ATTEMPTS: u32 = 20;
const RETRY_INTERVAL: Duration = Duration::from_millis(50);

/// The lock of a database file. The operating system releases it however the process ends.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock file beside `database`.
    pub(crate) async fn take(database: &Path) -> Result<Self> {
        for _ in 1..ATTEMPTS {
            match Self::attempt(database) {
                Err(Error::Locked { .. }) => tokio::time::sleep(RETRY_INTERVAL).await,
                outcome => return outcome,
            }
        }
        Self::attempt(database)
    }

    /// Takes the lock file at once or not at all.
    pub(crate) fn attempt(database: &Path) -> Result<Self> {
        let path = database.with_extension("lock");
        let failed = |attempted: &str, source| Error::File { attempted: format!("{attempted} {}", path.display()), source };
        let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path).map_err(|error| failed("open", error))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut owner = String::new();
                file.read_to_string(&mut owner).map_err(|error| failed("read", error))?;
                let owner = owner.trim();
                return Err(Error::Locked { path: database.to_owned(), owner: if owner.is_empty() { "starting" } else { owner }.to_owned() });
            }
            Err(TryLockError::Error(error)) => return Err(failed("lock", error)),
        }
        file.set_len(0).and_then(|()| file.rewind()).map_err(|error| failed("empty", error))?;
        writeln!(file, "process {}", std::process::id()).map_err(|error| failed("write", error))?;
        Ok(Self { _file: file })
    }
}
