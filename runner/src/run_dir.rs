//! A run's folder: the one place where a server and the shim of a run meet, whichever of them is killed in between.
//!
//! It knows files and their formats; it starts nothing and knows no agent. Whether a run lives is told by its lock alone, because
//! a process id may have been given to somebody else.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use domain::id::RunId;
use domain::time::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The folder of one run, mode 0700:
///
/// | file | written by | content |
/// |---|---|---|
/// | `spec.json` | server, once | [`Spec`] |
/// | `lock` | – | locked (`flock`) by the shim as long as it lives |
/// | `stdout`, `stderr` | agent | append-only, raw |
/// | `sock` | shim | its Unix socket, see [`crate::shim::control`] |
/// | `exit.json` | shim, once | [`Exit`] |
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunDir {
    path: PathBuf,
}

/// What the shim is to start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spec {
    pub run_id: RunId,
    /// See [`crate::env::marker`].
    pub marker: String,
    /// The program's absolute path and its arguments.
    pub argv: Vec<String>,
    pub cwd: PathBuf,
    /// Added to what the shim itself inherited.
    pub env: BTreeMap<String, String>,
    /// Written to the agent's stdin before anything else, one line: the prompt. Here, so that no server can start an agent and be killed
    /// before it said a word to it.
    pub first_line: Option<String>,
    /// How much the agent may write to stdout and stderr together, in bytes, before it is ended.
    pub output_limit: u64,
}

impl Spec {
    /// 256 MiB: weeks of an agent's honest output.
    pub const OUTPUT_LIMIT: u64 = 256 << 20;
}

/// How a run's processes ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exit {
    /// The agent's exit code, unless a signal ended it.
    pub code: Option<i32>,
    /// The number of the signal that ended it.
    pub signal: Option<i32>,
    pub ended_at: Timestamp,
    /// How many processes the agent left behind; they were ended too.
    pub swept: u32,
    /// What went wrong on our side of the agent.
    pub error: Option<ExitError>,
}

/// What went wrong besides the agent's own exit code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExitError {
    pub kind: ExitErrorKind,
    pub detail: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExitErrorKind {
    /// The agent's program does not exist.
    MissingProgram,
    /// It exists and still could not be started.
    StartFailed,
    /// It wrote more than [`Spec::output_limit`] and was ended.
    OutputLimit,
    /// The shim was killed, or never came to start the agent; written by the server that found out.
    Lost,
}

/// What can be said about a run from outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunState {
    /// The shim holds the lock.
    Alive,
    Ended(Exit),
    /// Nobody holds the lock and no end was recorded: see [`crate::shim::bury`].
    Lost,
}

/// A failed access to a run's folder.
#[derive(Debug, thiserror::Error)]
pub enum RunDirError {
    #[error("could not {attempt} {}; check that the disk has room and the folder belongs to this user", path.display())]
    Io { attempt: &'static str, path: PathBuf, source: io::Error },
    #[error("{} is not what vibe-relay writes there; remove the run's folder and retry the task", path.display())]
    Format { path: PathBuf, source: serde_json::Error },
}

type Result<T> = std::result::Result<T, RunDirError>;

impl RunDir {
    /// Makes the folder with everything that a shim needs. Missing parents are made too.
    ///
    /// # Errors
    /// When the folder exists already, or cannot be written.
    pub fn create(path: &Path, spec: &Spec) -> Result<Self> {
        if let Some(parent) = path.parent() {
            let made = DirBuilder::new().recursive(true).mode(0o700).create(parent);
            made.map_err(|source| failed("make", parent, source))?;
        }
        DirBuilder::new().mode(0o700).create(path).map_err(|source| failed("make", path, source))?;
        let dir = Self::open(path)?;
        for name in ["stdout", "stderr", "lock"] {
            dir.append(name)?;
        }
        // Last: a folder with a spec is whole.
        dir.write_json("spec.json", spec)?;
        Ok(dir)
    }

    /// Names an existing folder. Its path becomes absolute.
    ///
    /// # Errors
    /// When there is no such folder.
    pub fn open(path: &Path) -> Result<Self> {
        let path = fs::canonicalize(path).map_err(|source| failed("open", path, source))?;
        Ok(Self { path })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path of one of the folder's files.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// # Errors
    /// When the spec is missing or in a foreign format.
    pub fn spec(&self) -> Result<Spec> {
        self.read_json("spec.json")?.ok_or_else(|| failed("read", &self.file("spec.json"), io::ErrorKind::NotFound.into()))
    }

    /// The recorded end, if there is one yet.
    ///
    /// # Errors
    /// When the record is unreadable or in a foreign format.
    pub fn exit(&self) -> Result<Option<Exit>> {
        self.read_json("exit.json")
    }

    /// Records the end. After a return it survives a power cut, and no reader ever sees half of it.
    ///
    /// # Errors
    /// When the disk is full or the folder is gone.
    pub fn record_exit(&self, exit: &Exit) -> Result<()> {
        self.write_json("exit.json", exit)
    }

    /// The last `most` bytes of the agent's stderr, and of the shim's own complaints, which go there too.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn stderr_tail(&self, most: u64) -> Result<String> {
        let path = self.file("stderr");
        let read = || {
            let mut file = File::open(&path)?;
            let start = file.metadata()?.len().saturating_sub(most);
            file.seek(SeekFrom::Start(start))?;
            let mut bytes = Vec::new();
            file.take(most).read_to_end(&mut bytes)?;
            Ok(String::from_utf8_lossy(&bytes).into_owned())
        };
        read().map_err(|source| failed("read", &path, source))
    }

    /// # Errors
    /// When the lock or the exit record cannot be read.
    pub fn state(&self) -> Result<RunState> {
        // The lock first: a shim records the end before it lets go of the lock.
        if self.is_alive()? {
            return Ok(RunState::Alive);
        }
        Ok(self.exit()?.map_or(RunState::Lost, RunState::Ended))
    }

    /// Whether a shim holds the lock.
    ///
    /// # Errors
    /// When the lock file cannot be opened.
    pub fn is_alive(&self) -> Result<bool> {
        // A shared lock, so that two who ask at once do not take each other for a shim.
        let file = self.append("lock")?;
        match file.try_lock_shared() {
            Ok(()) => Ok(false),
            Err(TryLockError::WouldBlock) => Ok(true),
            Err(TryLockError::Error(source)) => Err(failed("lock", &self.file("lock"), source)),
        }
    }

    /// Takes the run's lock, which is held as long as the file or a copy of its descriptor is open somewhere; `None` when somebody
    /// else has it.
    ///
    /// # Errors
    /// When the lock file cannot be opened.
    pub fn lock(&self) -> Result<Option<File>> {
        let file = self.append("lock")?;
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(source)) => Err(failed("lock", &self.file("lock"), source)),
        }
    }

    /// Opens one of the folder's files for appending; it is made, readable by its owner alone, when it is missing.
    ///
    /// # Errors
    /// When the file cannot be opened or made.
    pub fn append(&self, name: &str) -> Result<File> {
        let path = self.file(name);
        let opened = OpenOptions::new().append(true).create(true).mode(0o600).open(&path);
        opened.map_err(|source| failed("open", &path, source))
    }

    fn read_json<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>> {
        let path = self.file(name);
        match fs::read(&path) {
            Ok(bytes) => match serde_json::from_slice(&bytes) {
                Ok(value) => Ok(Some(value)),
                Err(source) => Err(RunDirError::Format { path, source }),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(failed("read", &path, source)),
        }
    }

    fn write_json<T: Serialize>(&self, name: &str, value: &T) -> Result<()> {
        let path = self.file(name);
        let temporary = self.file(&format!("{name}.tmp"));
        let bytes = serde_json::to_vec_pretty(value).map_err(|source| RunDirError::Format { path: path.clone(), source })?;
        let write = || {
            let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&temporary)?;
            file.write_all(&bytes)?;
            file.sync_all()?;
            fs::rename(&temporary, &path)?;
            File::open(&self.path)?.sync_all()
        };
        write().map_err(|source| failed("write", &path, source))
    }
}

fn failed(attempt: &'static str, path: &Path, source: io::Error) -> RunDirError {
    RunDirError::Io { attempt, path: path.to_owned(), source }
}

#[cfg(test)]
mod tests;
