//! `vibe-relay shim RUN_DIR`: a small process between the server and one agent, so that either can die without the other.
//!
//! It leads a session of its own, holds the run's lock, and starts the agent from `spec.json` with its output directly in the run's
//! files. It forwards lines and signals from a socket. At the end it kills what the agent left behind and records how the agent ended. It
//! must not know tasks, the database or an agent's protocol.
//!
//! It checks the size of the output twice a second. `RLIMIT_FSIZE` would also limit the files that the agent builds. Between two checks an
//! agent may exceed the limit.

mod agent;
pub mod control;
mod out_of_memory;
mod priority;
mod setup;
mod socket;
mod supervise;
mod sweep;

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::ExitCode;
use std::thread::sleep;
use std::time::{Duration, SystemTime};

use domain::time::Timestamp;
use nix::errno::Errno;
use nix::unistd;

use crate::jail::prepare as jail_files;
use crate::run_dir::{ExitError, ExitErrorKind, ExitRecord, RunDir, RunDirError};

pub(crate) use sweep::kill_marked;

/// The pause between two attempts to kill leftovers that do not end.
const SWEEP_PAUSE: Duration = Duration::from_secs(10);

#[derive(Debug, thiserror::Error)]
enum ShimError {
    #[error(transparent)]
    RunDir(#[from] RunDirError),
    #[error("another shim holds the lock; wait until it ends")]
    Locked,
    #[error("this run has already ended; start a new one")]
    Ended,
    #[error("could not {attempt}")]
    Prepare { attempt: &'static str, source: io::Error },
}

/// Runs the shim of one run to its end. It fails only when it cannot take the run over or record its end; how the agent ended is in the
/// exit record.
pub fn main(run_dir: &Path) -> ExitCode {
    match run(run_dir) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let source = std::error::Error::source(&error).map(|source| format!(": {source}")).unwrap_or_default();
            // The run's stderr file, or a terminal. `eprintln!` would panic when neither exists.
            let _ = writeln!(io::stderr(), "vibe-relay shim: {error}{source}");
            ExitCode::FAILURE
        }
    }
}

/// Whether the agent of a dead shim was never started: no end is on record, and the socket, which is bound before the agent starts, does not
/// exist.
pub(crate) fn was_never_started(run_dir: &RunDir) -> bool {
    matches!(run_dir.exit(), Ok(None)) && matches!(run_dir.file(socket::NAME).try_exists(), Ok(false))
}

fn run(path: &Path) -> Result<(), ShimError> {
    match unistd::setsid() {
        // Started by hand from a shell, it already leads a process group and stays in the shell's session.
        Ok(_) | Err(Errno::EPERM) => {}
        Err(errno) => return Err(prepare("start a session")(errno.into())),
    }
    let run_dir = RunDir::open(path)?;
    // Held until this process ends.
    let _lock = take_lock(&run_dir)?;
    if run_dir.exit()?.is_some() {
        return Err(ShimError::Ended);
    }
    let spec = match run_dir.spec() {
        Ok(spec) => spec,
        Err(error) => {
            run_dir.record_exit(&start_failure(&error))?;
            return Err(error.into());
        }
    };
    // Bind the socket by a relative name, because an address holds only 107 bytes of path.
    std::env::set_current_dir(run_dir.path()).map_err(prepare("enter the run's folder"))?;
    #[cfg(target_os = "linux")]
    adopt_orphans()?;

    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(prepare("start its event loop"))?;
    let agent_exit = runtime.block_on(supervise::supervise(&run_dir, &spec));
    drop(runtime);

    let killed_leftovers = kill_leftovers(&spec.marker);
    let exit = ExitRecord {
        code: agent_exit.code,
        signal: agent_exit.signal,
        ended_at: now(),
        killed_leftovers,
        duration_ms: agent_exit.duration_ms,
        error: agent_exit.error,
    };
    run_dir.record_exit(&exit)?;
    if spec.jail.is_some() {
        // A folder that stays behind is removed with the run's folder.
        let _ = fs::remove_dir_all(jail_files::TMP);
    }
    // A socket that stays behind is harmless: the lock is free.
    let _ = fs::remove_file(socket::NAME);
    Ok(())
}

/// Names this process, and makes it the parent of what its agent orphans. Elsewhere, orphans are found by their mark only.
#[cfg(target_os = "linux")]
fn adopt_orphans() -> Result<(), ShimError> {
    use nix::sys::prctl;
    // The kernel names a process after its file, which may be /proc/self/exe.
    prctl::set_name(c"vibe-relay").map_err(|errno| prepare("name its process")(errno.into()))?;
    prctl::set_child_subreaper(true).map_err(|errno| prepare("adopt orphaned processes")(errno.into()))
}

/// The end of a run whose agent was never started.
fn start_failure(error: &RunDirError) -> ExitRecord {
    let error = ExitError { kind: ExitErrorKind::StartFailed, detail: error.to_string() };
    ExitRecord { code: None, signal: None, ended_at: now(), killed_leftovers: 0, duration_ms: None, error: Some(error) }
}

/// Kills what the agent left behind and returns the number of processes. Does not return before all of them are gone: until then this process
/// holds the lock, so that no second agent starts in the same checkout.
fn kill_leftovers(marker: &str) -> u32 {
    let mut killed = 0;
    loop {
        let report = match sweep::kill_descendants(marker) {
            Ok(swept) if swept.survivors.is_empty() => return killed.max(swept.found),
            Ok(swept) => {
                killed = killed.max(swept.found);
                format!("the processes {:?} do not end", swept.survivors)
            }
            Err(error) => format!("the process table cannot be read: {error}"),
        };
        let _ = writeln!(io::stderr(), "vibe-relay shim: {report}; trying again");
        sleep(SWEEP_PAUSE);
    }
}

/// Returns the lock that the starter passed as stdin, or takes it when a person started the shim by hand.
fn take_lock(run_dir: &RunDir) -> Result<File, ShimError> {
    let attempt = "read its own stdin";
    let stdin = File::from(io::stdin().as_fd().try_clone_to_owned().map_err(prepare(attempt))?);
    let given = stdin.metadata().map_err(prepare(attempt))?;
    let wanted = fs::metadata(run_dir.file("lock")).map_err(prepare("find the run's lock"))?;
    if (given.dev(), given.ino()) != (wanted.dev(), wanted.ino()) {
        return run_dir.lock()?.ok_or(ShimError::Locked);
    }
    // The same open file: locking it again succeeds when the starter locked it, and fails when another process did.
    stdin.try_lock().map_err(|_| ShimError::Locked)?;
    Ok(stdin)
}

fn prepare(attempt: &'static str) -> impl FnOnce(io::Error) -> ShimError {
    move |source| ShimError::Prepare { attempt, source }
}

fn now() -> Timestamp {
    let elapsed = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_milliseconds(i64::try_from(elapsed.as_millis()).unwrap_or(i64::MAX))
}
