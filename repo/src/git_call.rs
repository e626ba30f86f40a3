//! Calls of the `git` program, for the few things that libgit2 does not do: filters, encodings and signatures.
//!
//! Each call runs in a carrier, a repository without hooks and configuration, so that only what the person configured for all repositories
//! applies. Must not start a program: the process that may gives its function once, with [`use_git`].

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use git2::ConfigLevel;
use tempfile::TempDir;

use crate::error::{Attempt, RepoError};
use crate::handle::Repository;

/// One call of `git`.
#[derive(Debug)]
pub struct GitCall {
    /// The repository of the call.
    pub carrier: PathBuf,
    /// Where it finds objects, and writes new ones.
    pub objects: PathBuf,
    /// The files, and the folder in which it runs: `git` looks for attributes there. Without one, it runs in the carrier.
    pub worktree: Option<PathBuf>,
    pub index: Option<PathBuf>,
    /// Settings as `name=value`.
    pub settings: Vec<String>,
    pub arguments: Vec<OsString>,
    pub variables: Vec<(&'static str, String)>,
    pub input: Option<File>,
    /// How long it may take.
    pub limit: Duration,
}

/// The end of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitOutput {
    /// `None` when a signal ended it.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

/// Runs `git` to its end. The error is of the kind `NotFound` if `git` is not installed.
pub type RunGit = fn(GitCall) -> io::Result<GitOutput>;

static RUN: OnceLock<RunGit> = OnceLock::new();

/// Names the function that runs `git` for this crate. The first one counts.
pub fn use_git(run: RunGit) {
    _ = RUN.set(run);
}

/// Settings of a repository that decide how its files are written. None of them names a program.
pub(crate) const FILE_SETTINGS: [&str; 5] = ["core.autocrlf", "core.eol", "core.fileMode", "core.symlinks", "core.ignoreCase"];

/// Programs that the person's own configuration may name, and that have no part in these calls.
const ALWAYS: [&str; 5] = ["core.bare=false", "core.hooksPath=/dev/null", "core.fsmonitor=false", "submodule.recurse=false", "gc.auto=0"];

/// Attributes that all checkouts of a repository share.
const ATTRIBUTES: &str = "info/attributes";

/// How long `git` may convert files. It may download them.
const LIMIT: Duration = Duration::from_secs(600);

/// A repository of our own, in a folder that is removed with it.
#[derive(Debug)]
pub(crate) struct Carrier {
    folder: TempDir,
    objects: PathBuf,
    settings: Vec<String>,
}

impl Repository {
    /// Makes a carrier that borrows the objects of this repository, and takes over how its files are written.
    pub(crate) fn carrier(&self) -> Result<Carrier, RepoError> {
        let making = || "make a folder for git".to_owned();
        let folder = tempfile::Builder::new().prefix("vibe-relay-git-").tempdir().attempting(making)?;
        self.make_carrier(folder.path())?;
        if let Ok(attributes) = fs::read(self.git_dir().join(ATTRIBUTES)) {
            fs::create_dir_all(folder.path().join("info")).attempting(making)?;
            fs::write(folder.path().join(ATTRIBUTES), attributes).attempting(making)?;
        }
        let config = self.handle()?.config().and_then(|mut config| config.snapshot()).attempting(|| "read the configuration".into())?;
        let kept = FILE_SETTINGS.iter().filter_map(|name| Some(format!("{name}={}", config.get_str(name).ok()?)));
        let settings = kept.chain(ALWAYS.map(str::to_owned)).collect();
        self.configure_storage(folder.path())?;
        Ok(Carrier { objects: self.git_dir().join("objects"), settings, folder })
    }

    /// Lets Git LFS in the carrier `folder` find the files that this repository has already, and those of its remote. The settings are in the
    /// carrier, because those of a command line would reach a remote that is a folder, too.
    pub(crate) fn configure_storage(&self, folder: &Path) -> Result<(), RepoError> {
        let configuring = || format!("write {}", folder.display());
        let config = self.handle()?.config().and_then(|mut config| config.snapshot()).attempting(configuring)?;
        let mut carrier =
            Self::at(folder.to_path_buf()).handle()?.config().and_then(|config| config.open_level(ConfigLevel::Local)).attempting(configuring)?;
        let storage = self.git_dir().join("lfs");
        carrier.set_str("lfs.storage", &storage.to_string_lossy()).attempting(configuring)?;
        for name in ["lfs.url", "remote.origin.url", "remote.origin.lfsurl"] {
            if let Ok(address) = config.get_str(name) {
                carrier.set_str(name, address).attempting(configuring)?;
            }
        }
        Ok(())
    }
}

impl Carrier {
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Begins a call with these arguments.
    pub(crate) fn call<'a>(&self, arguments: impl IntoIterator<Item = &'a (impl AsRef<OsStr> + ?Sized + 'a)>) -> GitCall {
        GitCall {
            carrier: self.folder.path().to_path_buf(),
            objects: self.objects.clone(),
            worktree: None,
            index: None,
            settings: self.settings.clone(),
            arguments: arguments.into_iter().map(|argument| argument.as_ref().to_owned()).collect(),
            variables: Vec::new(),
            input: None,
            limit: LIMIT,
        }
    }
}

/// Runs `git`, whatever its exit code.
pub(crate) fn run(call: GitCall, attempted: impl FnOnce() -> String) -> Result<GitOutput, RepoError> {
    let ended = RUN.get().map_or_else(|| Err(ErrorKind::NotFound.into()), |run| run(call));
    ended.map_err(|reason| match reason.kind() {
        ErrorKind::NotFound => RepoError::GitMissing { attempted: attempted() },
        _ => RepoError::GitFailed { attempted: attempted(), output: reason.to_string() },
    })
}

/// Runs `git` and returns what it printed. Any exit code but 0 is an error.
pub(crate) fn succeed(call: GitCall, attempted: impl Fn() -> String) -> Result<String, RepoError> {
    match run(call, &attempted)? {
        GitOutput { code: Some(0), stdout, .. } => Ok(stdout),
        GitOutput { stderr, .. } => Err(RepoError::GitFailed { attempted: attempted(), output: last_lines(&stderr) }),
    }
}

/// The end of what a program wrote, in one line.
fn last_lines(text: &str) -> String {
    const MAX_LINES: usize = 4;
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines[lines.len().saturating_sub(MAX_LINES)..].join("; ")
}
