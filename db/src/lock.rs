//! One process owns the database file. The second one is told who has it.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::Path;

use crate::error::{Error, Result};

/// Held as long as the process lives; the operating system releases it, however the process ends.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock file beside `database`.
    pub(crate) fn take(database: &Path) -> Result<Self> {
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
