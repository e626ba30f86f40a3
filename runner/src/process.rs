//! Starts programs, and is the only place that does: in a given folder, in their own process group or session, with a filtered
//! environment.
//!
//! It must not know tasks or agents' protocols, and never decides what to start.

pub(crate) mod git;
mod jail;
mod version;

pub use git::run_git;
pub(crate) use jail::{inherited_listener, replace_self, start_forwarder, start_inbound, start_jail};
pub use version::{Version, VersionFailure, version};

use domain::runs::output::{COMMAND_OUTPUT_FILE, RAW_OUTPUT_FILE};
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use db::ShimProcess;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use crate::run_dir::{RunDir, RunDirError, RunSpec};
use crate::{env, procfs};

/// A program that could not start or did not end in time.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    #[error("could not start {}; check that it exists and is executable", program.display())]
    Start { program: PathBuf, source: io::Error },
    #[error("{} did not end within {} s and was killed; run it in a terminal to see why", program.display(), limit.as_secs())]
    Timeout { program: PathBuf, limit: Duration },
    #[error("{} already has a running shim; wait until it ends", run_dir.display())]
    AlreadyRunning { run_dir: PathBuf },
    #[error("found no program that opens a browser; open {url} yourself")]
    NoBrowser { url: String },
    #[error(transparent)]
    RunDir(#[from] RunDirError),
}

type Result<T> = std::result::Result<T, ProcessError>;

/// The output of a short-lived program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProbeOutput {
    /// `None` when a signal ended it.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

/// The files from which this program is started again.
#[derive(Debug, Clone)]
pub struct Programs {
    /// Starts shims: the program that runs now, even if an upgrade has replaced or deleted its file.
    pub running: PathBuf,
    /// The path of the file, for programs that agents start later, such as their bridge.
    pub installed: PathBuf,
}

/// The kernel's name for the file that a process runs. It opens that file whatever has become of its path.
const RUNNING_FILE: &str = "/proc/self/exe";
/// The kernel appends this to the path of a file that was replaced or deleted.
const DELETED_MARK: &str = " (deleted)";

impl Programs {
    /// The files of this process.
    ///
    /// # Errors
    /// When the system does not tell the path.
    pub fn of_this_process() -> io::Result<Self> {
        let installed = installed_path(std::env::current_exe()?);
        let running = Path::new(RUNNING_FILE);
        Ok(Self { running: if running.exists() { running.to_owned() } else { installed.clone() }, installed })
    }

    /// The same file for everything.
    pub fn at(path: PathBuf) -> Self {
        Self { running: path.clone(), installed: path }
    }
}

fn installed_path(path: PathBuf) -> PathBuf {
    let unmarked = path.to_str().and_then(|text| text.strip_suffix(DELETED_MARK)).map(PathBuf::from);
    match unmarked {
        // A file may really have such a name.
        Some(unmarked) if !path.exists() => unmarked,
        _ => path,
    }
}

/// Starts `program shim RUN_DIR`, which then outlives this process. This process takes the run's lock and passes it as the shim's stdin,
/// so a started run never looks dead and never starts twice.
///
/// `inherited` names variables that the run gets besides the usual ones.
///
/// Returns the process, or `None` where the system does not identify it. Blocks. Call it inside a tokio runtime: a task reaps the shim.
///
/// # Errors
/// When the run has a shim already, or the program cannot be started.
pub fn start_shim(program: &Path, run_dir: &RunDir, inherited: &[String]) -> Result<Option<ShimProcess>> {
    let RunSpec { marker, check, .. } = run_dir.spec()?;
    let lock = run_dir.lock()?.ok_or_else(|| ProcessError::AlreadyRunning { run_dir: run_dir.path().to_owned() })?;
    let inherited_by_all = if check.is_some() { env::filter_env_for_check(std::env::vars_os()) } else { env::filter_env(std::env::vars_os()) };
    let mut command = command(program, run_dir.path(), inherited_by_all);
    // No process group here: the shim starts a session first, which a group leader cannot do.
    command.envs(env::named(inherited, std::env::vars_os())).env(env::MARKER, marker);
    command.arg0("vibe-relay").arg("shim").arg(run_dir.path()).stdin(lock).stdout(Stdio::null()).stderr(run_dir.append("stderr")?);
    let child = tokio::process::Command::from(command).spawn().map_err(|source| not_started(program, source))?;
    // The child is not reaped yet, so its id is its own.
    let pid = child.id().and_then(|id| i32::try_from(id).ok());
    let process = pid.and_then(|pid| procfs::process(pid).ok().flatten());
    reap(child);
    Ok(process.map(|process| ShimProcess { pid: process.pid, started: process.started }))
}

/// Starts a program of a run, its agent, a setup command or a check, as the leader of its own process group.
///
/// # Errors
/// When the program or its folder does not exist, or the program is not executable.
pub(crate) fn start_agent(spec: &RunSpec, argv: &[String], streams: Streams<'_>) -> Result<std::process::Child> {
    let (program, arguments) = argv.split_first().map_or(("", &[][..]), |(program, rest)| (program.as_str(), rest));
    // The shim's own environment is already filtered.
    let mut command = command(Path::new(program), &spec.cwd, std::env::vars_os());
    command.args(arguments);
    start_in_group(command, Path::new(program), spec, streams)
}

/// Where the output of a program of a run goes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Streams<'a> {
    /// To the files of the run. Stdin is a pipe.
    Agent(&'a RunDir),
    /// All of it into one pipe. There is no stdin.
    Setup(&'a io::PipeWriter),
    /// All of it into one file of the run. There is no stdin.
    Check(&'a RunDir),
}

fn start_in_group(mut command: Command, program: &Path, spec: &RunSpec, streams: Streams<'_>) -> Result<std::process::Child> {
    command.envs(&spec.env).process_group(0);
    match streams {
        Streams::Agent(run_dir) => command.stdin(Stdio::piped()).stdout(run_dir.append(RAW_OUTPUT_FILE)?).stderr(run_dir.append("stderr")?),
        Streams::Setup(output) => {
            let end = || output.try_clone().map_err(|source| not_started(program, source));
            command.stdin(Stdio::null()).stdout(end()?).stderr(end()?)
        }
        Streams::Check(run_dir) => {
            command.stdin(Stdio::null()).stdout(run_dir.append(COMMAND_OUTPUT_FILE)?).stderr(run_dir.append(COMMAND_OUTPUT_FILE)?)
        }
    };
    command.spawn().map_err(|source| not_started(program, source))
}

/// Runs a program to its end and returns its output, as for `claude --version`.
///
/// # Errors
/// When it cannot start, or does not end within `limit`; then its process group is killed.
pub async fn probe(program: &Path, arguments: &[&str], limit: Duration) -> Result<ProbeOutput> {
    let mut command = command(program, Path::new("/"), env::filter_env(std::env::vars_os()));
    command.args(arguments);
    collect(program, command, limit).await
}

/// Runs `program code-map GIT_DIR COMMIT FOLDER` to its end: it reads a repository that nobody trusts, so it may die or never end.
///
/// # Errors
/// As [`probe`].
pub(crate) async fn map_code(program: &Path, git_dir: &Path, commit: &str, folder: &Path, limit: Duration) -> Result<ProbeOutput> {
    let mut command = command(program, Path::new("/"), env::filter_env(std::env::vars_os()));
    command.arg0("vibe-relay").arg("code-map").args([git_dir.as_os_str(), OsStr::new(commit), folder.as_os_str()]);
    collect(program, command, limit).await
}

/// As [`probe`], for a program that needs the user's desktop session, as `systemctl --user` does.
///
/// # Errors
/// As [`probe`].
pub async fn probe_desktop(program: &Path, arguments: &[&str], limit: Duration) -> Result<ProbeOutput> {
    let mut command = command(program, Path::new("/"), env::filter_env_for_desktop(std::env::vars_os()));
    command.args(arguments);
    collect(program, command, limit).await
}

/// Runs `git` or `gh` to its end with the person's credentials, and without a question at a terminal.
///
/// # Errors
/// As [`probe`].
pub(crate) async fn publish(program: &Path, arguments: &[&str], cwd: &Path, limit: Duration) -> Result<ProbeOutput> {
    let mut command = command(program, cwd, env::filter_env_for_publishing(std::env::vars_os()));
    command.args(arguments).envs(env::WITHOUT_QUESTIONS.iter().copied());
    collect(program, command, limit).await
}

/// Runs a line of shell for the scripted agent. It inherits the environment unfiltered, because the scripted agent is itself an agent: its
/// environment was filtered, and it carries the run's marker.
///
/// # Errors
/// As [`probe`].
pub async fn shell(line: &str, cwd: &Path, limit: Duration) -> Result<ProbeOutput> {
    let mut command = command(Path::new("/bin/sh"), cwd, std::env::vars_os());
    command.args(["-c", line]);
    collect(Path::new("/bin/sh"), command, limit).await
}

/// Starts the scripted agent's MCP server, with pipes for stdin and stdout. It inherits the environment as [`shell`] does, with `variables`
/// added. Dropping the handle kills the child.
///
/// # Errors
/// When it cannot start.
pub fn pipe_child(program: &Path, arguments: &[String], cwd: &Path, variables: &[(String, String)]) -> Result<tokio::process::Child> {
    let mut command = command(program, cwd, std::env::vars_os());
    command.args(arguments).envs(variables.iter().map(|(name, value)| (name, value))).process_group(0);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    let spawned = tokio::process::Command::from(command).kill_on_drop(true).spawn();
    spawned.map_err(|source| not_started(program, source))
}

/// Opens `url` in the human's browser and does not wait for it. Call it inside a tokio runtime.
///
/// # Errors
/// When no opener is installed, or it cannot start.
pub fn open_browser(url: &str) -> Result<()> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let opener = ["xdg-open", "open", "wslview"].iter().find_map(|name| find_program(name, &path));
    let opener = opener.ok_or_else(|| ProcessError::NoBrowser { url: url.to_owned() })?;
    let mut command = command(&opener, Path::new("/"), env::filter_env_for_desktop(std::env::vars_os()));
    command.arg(url).process_group(0).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    reap(tokio::process::Command::from(command).spawn().map_err(|source| not_started(&opener, source))?);
    Ok(())
}

/// Starts this program as the demonstration's server. Its stdout is a pipe, it inherits the environment unfiltered, and dropping the
/// handle does not kill it.
///
/// # Errors
/// When it cannot start.
pub fn start_server(program: &Path, arguments: &[&str], cwd: &Path) -> Result<tokio::process::Child> {
    let mut command = command(program, cwd, std::env::vars_os());
    // Its own group, because the demonstration forwards the terminal's signals and they must not arrive twice.
    command.args(arguments).process_group(0).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    tokio::process::Command::from(command).spawn().map_err(|source| not_started(program, source))
}

/// Starts this program as a server that outlives this process. Its output is piped, and it inherits the environment unfiltered.
///
/// # Errors
/// When it cannot start.
pub fn start_detached(program: &Path, arguments: &[String], cwd: &Path) -> Result<tokio::process::Child> {
    let mut command = command(program, cwd, std::env::vars_os());
    // No process group here: the server starts a session first, which a group leader cannot do.
    command.arg0("vibe-relay").args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    tokio::process::Command::from(command).spawn().map_err(|source| not_started(program, source))
}

/// Moves this process out of the session of its terminal, whose signals then do not reach it.
pub fn leave_terminal() {
    // Started by hand, it leads a process group and stays; it survives the terminal all the same.
    let _ = nix::unistd::setsid();
}

/// Sends TERM to a child of this process.
pub fn terminate(id: u32) {
    if let Ok(id) = i32::try_from(id) {
        // A child that has ended needs no signal.
        let _ = nix::sys::signal::kill(Pid::from_raw(id), Signal::SIGTERM);
    }
}

/// Ends this process as a power cut would, without any cleanup.
pub fn crash_self() {
    // A process may always signal itself.
    let _ = nix::sys::signal::kill(Pid::this(), Signal::SIGKILL);
}

/// Finds the executable file for `name` in `path` as a shell does, and returns its absolute path. It skips relative entries, because an
/// agent may have put a program into the current folder.
pub fn find_program(name: &str, path: &OsStr) -> Option<PathBuf> {
    let executable =
        |candidate: &PathBuf| candidate.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0);
    if name.contains('/') {
        return Some(PathBuf::from(name)).filter(|path| path.is_absolute()).filter(executable);
    }
    std::env::split_paths(path).filter(|folder| folder.is_absolute()).map(|folder| folder.join(name)).find(executable)
}

fn command(program: &Path, cwd: &Path, variables: impl IntoIterator<Item = (OsString, OsString)>) -> Command {
    #[expect(clippy::disallowed_methods, reason = "this is the one place")]
    let mut command = Command::new(program);
    command.current_dir(cwd).env_clear().envs(variables);
    command
}

async fn collect(program: &Path, command: Command, limit: Duration) -> Result<ProbeOutput> {
    collect_from(program, command, Stdio::null(), limit).await
}

async fn collect_from(program: &Path, mut command: Command, input: Stdio, limit: Duration) -> Result<ProbeOutput> {
    command.process_group(0).stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = tokio::process::Command::from(command).kill_on_drop(true).spawn();
    let child = child.map_err(|source| not_started(program, source))?;
    let group = child.id().and_then(|id| i32::try_from(id).ok()).map(Pid::from_raw);
    match tokio::time::timeout(limit, child.wait_with_output()).await {
        Ok(Ok(output)) => Ok(ProbeOutput {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }),
        Ok(Err(source)) => Err(not_started(program, source)),
        Err(_) => {
            if let Some(group) = group {
                // The group may be gone by now.
                let _ = killpg(group, Signal::SIGKILL);
            }
            Err(ProcessError::Timeout { program: program.to_owned(), limit })
        }
    }
}

fn reap(mut child: tokio::process::Child) {
    tokio::spawn(async move { child.wait().await });
}

fn not_started(program: &Path, source: io::Error) -> ProcessError {
    ProcessError::Start { program: program.to_owned(), source }
}

#[cfg(test)]
mod tests;
