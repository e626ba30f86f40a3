//! A run's folder: the files through which a server and a run's shim communicate, even when either of them is killed.
//!
//! It must not start anything or know an agent. A free lock alone does not prove that a run is gone: see [`crate::liveness`].

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use domain::id::RunId;
use domain::time::Timestamp;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};

use crate::jail::JailSpec;
use crate::setup::SetupSpec;

/// The folder of one run, mode 0700:
///
/// | file | written by | content |
/// |---|---|---|
/// | `spec.json` | server, once | [`RunSpec`] |
/// | `lock` | – | locked (`flock`) by the shim for its lifetime |
/// | `stdout`, `stderr` | agent | append-only, raw |
/// | `output` | check, app | append-only, raw |
/// | `sock` | shim | its Unix socket, see [`crate::shim::control`] |
/// | `exit.json` | shim, once | [`ExitRecord`] |
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunDir {
    path: PathBuf,
}

/// The command that the shim starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunSpec {
    /// None for a command other than an agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    /// See [`crate::env::marker`].
    pub marker: String,
    /// The program's absolute path and its arguments.
    pub argv: Vec<String>,
    pub cwd: PathBuf,
    /// Added to the variables that the shim inherited.
    pub env: BTreeMap<String, String>,
    /// The prompt, one line, which the shim writes to the agent's stdin first. It is here because a server may be killed right after it
    /// starts the shim.
    pub first_line: Option<String>,
    /// How many bytes the agent may write to stdout and stderr together before the shim ends it.
    pub output_limit: u64,
    /// The jail around the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jail: Option<JailSpec>,
    /// The setup of the checkout before the agent starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setup: Option<SetupSpec>,
    /// Present if the command is not an agent, such as a check or an app.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<CheckSpec>,
}

/// A command that has no stdin, prints to [`domain::runs::output::COMMAND_OUTPUT_FILE`] and has to end in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckSpec {
    pub limit_seconds: u64,
}

/// The format of a run's folder and of the commands to its shim. A change that an older shim or server would misread needs the next number.
pub const FORMAT: u32 = 1;

/// `spec.json`: a [`RunSpec`] with its format.
#[derive(Serialize, Deserialize)]
struct Versioned<T> {
    #[serde(default)]
    format: u32,
    #[serde(flatten)]
    content: T,
}

impl RunSpec {
    /// 256 MiB: weeks of normal output.
    pub const OUTPUT_LIMIT: u64 = 256 << 20;
}

/// How a run's processes ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExitRecord {
    /// The agent's exit code, unless a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    pub ended_at: Timestamp,
    /// How many processes the agent left behind; the shim killed them.
    #[serde(rename = "swept")]
    pub killed_leftovers: u32,
    /// How long the command of a check ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// A failure of the shim's own.
    pub error: Option<ExitError>,
}

/// A failure besides the agent's own exit code.
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
    /// The program exists, but could not be started.
    StartFailed,
    /// A setup command failed, so the agent was not started.
    SetupFailed,
    /// A check did not end within its time.
    TimedOut,
    /// The agent wrote more than [`RunSpec::output_limit`], so the shim ended it.
    OutputLimit,
    /// The kernel killed it because memory ran out.
    OutOfMemory,
    /// The shim itself received TERM or INT, as when the machine or the session shuts down, so it ended the agent. No server asked for it.
    Interrupted,
    /// The shim was killed. The server that finds out writes this.
    Lost,
    /// The server ended before the shim started the agent.
    NeverStarted,
    /// The machine restarted while the agent worked.
    Rebooted,
}

/// A run's state, as its folder shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunState {
    /// The shim holds the lock.
    Alive,
    Ended(ExitRecord),
    /// The lock is free and no end is recorded.
    Lost,
}

/// A failed access to a run's folder.
#[derive(Debug, thiserror::Error)]
pub enum RunDirError {
    #[error("could not {attempt} {}; check that the disk has space and that this user owns the folder", path.display())]
    Io { attempt: &'static str, path: PathBuf, source: io::Error },
    #[error(
        "{} has format {found} and this vibe-relay reads format {FORMAT}, so another version wrote it; start that version until the run has \
         ended, or retry the task", path.display()
    )]
    OtherFormat { path: PathBuf, found: u32 },
    #[error("{} is not in the format that vibe-relay writes; remove the run's folder and retry the task", path.display())]
    Format { path: PathBuf, source: serde_json::Error },
}

type Result<T> = std::result::Result<T, RunDirError>;

impl RunDirError {
    /// Whether the folder or the file does not exist.
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }
}

impl RunDir {
    /// Creates the folder, and missing parents, with everything that a shim needs.
    ///
    /// # Errors
    /// When the folder already exists or cannot be written.
    pub fn create(path: &Path, spec: &RunSpec) -> Result<Self> {
        if let Some(parent) = path.parent() {
            let created = DirBuilder::new().recursive(true).mode(0o700).create(parent);
            created.map_err(|source| failed("create", parent, source))?;
        }
        DirBuilder::new().mode(0o700).create(path).map_err(|source| failed("create", path, source))?;
        let dir = Self::open(path)?;
        for name in ["stdout", "stderr", "lock"] {
            dir.append(name)?;
        }
        // Written last, so that a folder with a spec is complete.
        dir.write_json("spec.json", &Versioned { format: FORMAT, content: spec })?;
        Ok(dir)
    }

    /// Opens an existing folder and makes its path absolute.
    ///
    /// # Errors
    /// When the folder does not exist.
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
    /// When the spec does not exist or has another format.
    pub fn spec(&self) -> Result<RunSpec> {
        let path = self.file("spec.json");
        let missing = || failed("read", &path, io::ErrorKind::NotFound.into());
        // Read first on its own: the rest of another format may not be readable.
        let Versioned { format, .. } = self.read_json::<Versioned<IgnoredAny>>("spec.json")?.ok_or_else(missing)?;
        if format != FORMAT {
            return Err(RunDirError::OtherFormat { path, found: format });
        }
        Ok(self.read_json::<Versioned<RunSpec>>("spec.json")?.ok_or_else(missing)?.content)
    }

    /// The recorded end, if there is one yet.
    ///
    /// # Errors
    /// When the record cannot be read or has another format.
    pub fn exit(&self) -> Result<Option<ExitRecord>> {
        self.read_json("exit.json")
    }

    /// Records the end durably and atomically.
    ///
    /// # Errors
    /// When the disk is full or the folder is gone.
    pub fn record_exit(&self, exit: &ExitRecord) -> Result<()> {
        self.write_json("exit.json", exit)
    }

    /// Reads the last `limit` bytes of stderr, to which the agent and the shim write.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn stderr_tail(&self, limit: u64) -> Result<String> {
        let path = self.file("stderr");
        let read = || {
            let mut file = File::open(&path)?;
            let start = file.metadata()?.len().saturating_sub(limit);
            file.seek(SeekFrom::Start(start))?;
            let mut bytes = Vec::new();
            file.take(limit).read_to_end(&mut bytes)?;
            Ok(String::from_utf8_lossy(&bytes).into_owned())
        };
        read().map_err(|source| failed("read", &path, source))
    }

    /// # Errors
    /// When the lock or the exit record cannot be read.
    pub fn state(&self) -> Result<RunState> {
        // Check the lock first, because a shim records the end before it releases the lock.
        if self.is_alive()? {
            return Ok(RunState::Alive);
        }
        Ok(self.exit()?.map_or(RunState::Lost, RunState::Ended))
    }

    /// Whether a shim holds the lock.
    ///
    /// # Errors
    /// When the lock file does not exist or cannot be opened. The shim may be alive then.
    pub fn is_alive(&self) -> Result<bool> {
        // A shared lock, because two concurrent checks must not mistake each other for a shim.
        match self.open_lock()?.try_lock_shared() {
            Ok(()) => Ok(false),
            Err(TryLockError::WouldBlock) => Ok(true),
            Err(TryLockError::Error(source)) => Err(failed("lock", &self.file("lock"), source)),
        }
    }

    /// Takes the run's lock until the file and every copy of its descriptor are closed. `None` when another process holds it.
    ///
    /// # Errors
    /// When the lock file does not exist or cannot be opened.
    pub fn lock(&self) -> Result<Option<File>> {
        let file = self.open_lock()?;
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(source)) => Err(failed("lock", &self.file("lock"), source)),
        }
    }

    /// Opens one of the folder's files for appending, and creates it with mode 0600 when it does not exist.
    ///
    /// # Errors
    /// When the file cannot be opened or created.
    pub fn append(&self, name: &str) -> Result<File> {
        let path = self.file(name);
        let opened = OpenOptions::new().append(true).create(true).mode(0o600).open(&path);
        opened.map_err(|source| failed("open", &path, source))
    }

    /// Does not create the file: a new one would be free whatever happens to the run.
    fn open_lock(&self) -> Result<File> {
        let path = self.file("lock");
        OpenOptions::new().append(true).open(&path).map_err(|source| failed("open", &path, source))
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
