//! `vibe-relay shim RUN_DIR`: a small process that stands between the server and one agent, so that either can die without the other.
//!
//! It leads a session of its own, holds the run's lock, starts the agent from `spec.json` with its output straight into the run's files,
//! hands lines and signals on from a socket, and at the end sweeps up what the agent left behind and records how it ended. It knows no
//! task, no database and no agent's protocol.
//!
//! The size of the output is watched twice a second rather than limited with `RLIMIT_FSIZE`, which would also limit what the agent may
//! build; between two looks an agent may write past the limit.

pub mod control;
mod socket;
mod supervise;
mod sweep;

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::ExitCode;
use std::time::SystemTime;

use domain::time::Timestamp;
use nix::errno::Errno;
use nix::sys::prctl;
use nix::unistd;

use crate::run_dir::{Exit, ExitError, ExitErrorKind, RunDir, RunDirError, RunState};

#[derive(Debug, thiserror::Error)]
enum ShimError {
    #[error(transparent)]
    RunDir(#[from] RunDirError),
    #[error("another shim holds the lock; wait for it to end")]
    Locked,
    #[error("this run has ended already; start a new one")]
    Ended,
    #[error("could not {attempt}")]
    Prepare { attempt: &'static str, source: io::Error },
}

/// Runs the shim of one run to its end. Fails only when the run could not be taken over or its end not be recorded; what became of the
/// agent is in the exit record.
pub fn main(run_dir: &Path) -> ExitCode {
    match run(run_dir) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let source = std::error::Error::source(&error).map(|source| format!(": {source}")).unwrap_or_default();
            // The run's own stderr file, or the terminal of whoever started this by hand. `eprintln!` would panic where neither is left.
            let _ = writeln!(io::stderr(), "vibe-relay shim: {error}{source}");
            ExitCode::FAILURE
        }
    }
}

/// Ends a run whose shim is gone: takes its lock so that no shim can start in it any more, kills the processes that carry its
/// marker, and records it as lost. A run that recorded its end meanwhile keeps that record; `None` when its shim lives after all.
///
/// Blocks for up to 5 s.
///
/// # Errors
/// When the run's folder cannot be read or written.
pub fn bury(run_dir: &RunDir) -> Result<Option<Exit>, RunDirError> {
    let Some(_lock) = run_dir.lock()? else { return Ok(None) };
    if let Some(exit) = run_dir.exit()? {
        return Ok(Some(exit));
    }
    // A folder without a spec was never whole, so nothing was started in it.
    let swept = if run_dir.file("spec.json").exists() { sweep::sweep_marked(&run_dir.spec()?.marker) } else { 0 };
    let detail = "the process that supervised the agent was killed or never began".to_owned();
    let exit = Exit { code: None, signal: None, ended_at: now(), swept, error: Some(ExitError { kind: ExitErrorKind::Lost, detail }) };
    run_dir.record_exit(&exit)?;
    Ok(Some(exit))
}

/// Whether nothing was ever started in a run's folder: nobody holds its lock, which the starter takes before there is a shim, no end is
/// on record, and no shim came to bind its socket, which it does before it starts the agent.
pub fn never_began(run_dir: &RunDir) -> bool {
    matches!(run_dir.state(), Ok(RunState::Lost)) && !run_dir.file(socket::NAME).exists()
}

fn run(path: &Path) -> Result<(), ShimError> {
    match unistd::setsid() {
        // Started by hand from a shell it leads a process group already, and stays in the shell's session.
        Ok(_) | Err(Errno::EPERM) => {}
        Err(errno) => return Err(prepare("begin a session")(errno.into())),
    }
    let run_dir = RunDir::open(path)?;
    // Held to the end of this process, after everything else is done.
    let _lock = take_lock(&run_dir)?;
    if run_dir.exit()?.is_some() {
        return Err(ShimError::Ended);
    }
    let spec = run_dir.spec()?;
    // The socket is bound by a relative name: a path in an address is limited to 107 bytes.
    std::env::set_current_dir(run_dir.path()).map_err(prepare("enter the run's folder"))?;
    prctl::set_child_subreaper(true).map_err(|errno| prepare("adopt what the agent leaves behind")(errno.into()))?;

    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(prepare("start its event loop"))?;
    let ending = runtime.block_on(supervise::supervise(&run_dir, &spec));
    drop(runtime);

    let swept = sweep::sweep_tree(&spec.marker);
    let exit = Exit { code: ending.code, signal: ending.signal, ended_at: now(), swept, error: ending.error };
    run_dir.record_exit(&exit)?;
    // Nobody answers there any more; one that stays behind is harmless.
    let _ = fs::remove_file(socket::NAME);
    Ok(())
}

/// The lock that the starter handed over as stdin, else, when started by hand, one taken here.
fn take_lock(run_dir: &RunDir) -> Result<File, ShimError> {
    let attempt = "read its own stdin";
    let stdin = File::from(io::stdin().as_fd().try_clone_to_owned().map_err(prepare(attempt))?);
    let given = stdin.metadata().map_err(prepare(attempt))?;
    let wanted = fs::metadata(run_dir.file("lock")).map_err(prepare("find the run's lock"))?;
    if (given.dev(), given.ino()) != (wanted.dev(), wanted.ino()) {
        return run_dir.lock()?.ok_or(ShimError::Locked);
    }
    // The same open file: locking it again changes nothing when the starter did, and fails when somebody else did.
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
