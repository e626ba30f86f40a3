//! Decides whether a run is gone: from its folder, its recorded process and the start of the machine.
//!
//! A run is gone only when that is proven. Whatever cannot be read leaves it alive, because a second agent in the same checkout is worse than
//! a task that waits. It must not know tasks or the store.

use std::io;
use std::path::Path;

use db::{RunProcess, ShimProcess};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::procfs;
use crate::run_dir::{ExitError, ExitErrorKind, ExitRecord, RunDir, RunDirError};
use crate::shim;

/// The state of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Liveness {
    /// Its shim holds the lock.
    Alive,
    /// It may be alive, but its folder or its process cannot be read.
    Unreachable { reason: String },
    /// All its processes are gone.
    Gone(ExitRecord),
}

/// The evidence about a run. Errors are texts for the human.
#[derive(Debug, Clone)]
struct Evidence {
    rebooted: bool,
    lock: Lock,
    exit: Result<Option<ExitRecord>, String>,
    shim: Result<Shim, String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Lock {
    Held,
    Free,
    /// The file or its folder does not exist.
    Missing,
    Unreadable(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shim {
    Running,
    Gone,
    /// The server ended before it could record the shim.
    NotRecorded {
        /// Whether a process with the marker of the run exists.
        marked: bool,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Verdict {
    Alive,
    Unreachable(String),
    Ended(ExitRecord),
    /// The shim is gone and recorded no end, so processes of the agent may be left.
    Dead(ExitErrorKind),
}

/// Inspects the run whose folder is `path`, and kills what a dead shim left behind. Blocks for up to 5 s.
pub fn inspect(path: &Path, process: &RunProcess) -> Liveness {
    let run_dir = RunDir::open(path);
    match judge(&evidence(&run_dir, process)) {
        Verdict::Alive => Liveness::Alive,
        Verdict::Unreachable(reason) => Liveness::Unreachable { reason },
        Verdict::Ended(exit) => Liveness::Gone(exit),
        Verdict::Dead(kind) => reap(run_dir.as_ref().ok(), process, kind),
    }
}

/// Whether the shim that was recorded for a run is alive.
///
/// # Errors
/// When the process table cannot be read.
fn is_running(shim: ShimProcess) -> io::Result<bool> {
    Ok(procfs::process(shim.pid)?.is_some_and(|process| process.started == shim.started))
}

/// Signals a shim, unless its process id belongs to another process by now.
///
/// # Errors
/// When the process table cannot be read, or the signal is not permitted.
pub(crate) fn signal(shim: ShimProcess, signal: Signal) -> io::Result<()> {
    if is_running(shim)? { Ok(kill(Pid::from_raw(shim.pid), signal)?) } else { Ok(()) }
}

fn evidence(run_dir: &Result<RunDir, RunDirError>, process: &RunProcess) -> Evidence {
    let lock = match run_dir.as_ref().map(RunDir::is_alive) {
        Ok(Ok(true)) => Lock::Held,
        Ok(Ok(false)) => Lock::Free,
        Ok(Err(error)) if error.is_missing() => Lock::Missing,
        Err(error) if error.is_missing() => Lock::Missing,
        Ok(Err(error)) => Lock::Unreadable(describe(&error)),
        Err(error) => Lock::Unreadable(describe(error)),
    };
    let exit = run_dir.as_ref().map_or(Ok(None), |run_dir| run_dir.exit().map_err(|error| describe(&error)));
    // Unknown on systems that do not tell; the other evidence decides then.
    let rebooted = process.boot_id.as_ref().zip(procfs::boot_id().ok()).is_some_and(|(recorded, current)| *recorded != current);
    Evidence { rebooted, lock, exit, shim: shim_state(process).map_err(|error| format!("its process cannot be looked up: {error}")) }
}

fn shim_state(process: &RunProcess) -> io::Result<Shim> {
    match process.shim {
        Some(shim) => Ok(if is_running(shim)? { Shim::Running } else { Shim::Gone }),
        None => {
            let marked = procfs::marked(&process.marker, &procfs::processes()?)?;
            Ok(Shim::NotRecorded { marked: !marked.is_empty() })
        }
    }
}

fn judge(evidence: &Evidence) -> Verdict {
    let exit = match &evidence.exit {
        Ok(exit) => exit.clone(),
        Err(_) if evidence.rebooted => None,
        Err(error) => return Verdict::Unreachable(error.clone()),
    };
    if evidence.rebooted {
        return exit.map_or(Verdict::Dead(ExitErrorKind::Rebooted), Verdict::Ended);
    }
    match (&evidence.lock, exit, &evidence.shim) {
        (Lock::Held, _, _) => Verdict::Alive,
        // The shim records the end as its last step before it releases the lock.
        (Lock::Free, Some(exit), _) => Verdict::Ended(exit),
        (_, _, Err(error)) => Verdict::Unreachable(error.clone()),
        (_, Some(exit), Ok(Shim::Gone)) => Verdict::Ended(exit),
        // A shim that was not recorded holds the lock, which its starter passed to it.
        (Lock::Free, None, Ok(Shim::Gone | Shim::NotRecorded { .. })) => Verdict::Dead(ExitErrorKind::Lost),
        (_, None, Ok(Shim::Gone)) => Verdict::Dead(ExitErrorKind::Lost),
        (Lock::Missing, _, Ok(Shim::NotRecorded { marked: false })) => Verdict::Dead(ExitErrorKind::Lost),
        (Lock::Unreadable(error), _, _) => Verdict::Unreachable(error.clone()),
        (Lock::Free, None, Ok(Shim::Running)) => Verdict::Unreachable("its process is alive, but its lock file was replaced".to_owned()),
        (Lock::Missing, _, Ok(_)) => Verdict::Unreachable("its process is alive, but its folder was removed".to_owned()),
    }
}

/// Kills what is left of a run whose shim is gone, and records the end in its folder, if that exists.
fn reap(run_dir: Option<&RunDir>, process: &RunProcess, kind: ExitErrorKind) -> Liveness {
    let unreachable = |reason: String| Liveness::Unreachable { reason };
    // Held until the end is recorded, so that no shim starts meanwhile.
    let _lock = match run_dir.map(RunDir::lock) {
        Some(Ok(None)) => return Liveness::Alive,
        Some(Ok(lock)) => lock,
        Some(Err(_)) | None => None,
    };
    let killed_leftovers = match (kind, shim::kill_marked(&process.marker)) {
        (ExitErrorKind::Rebooted, _) => 0,
        (_, Ok(swept)) if swept.survivors.is_empty() => swept.found,
        (_, Ok(swept)) => return unreachable(format!("its processes {:?} cannot be killed", swept.survivors)),
        (_, Err(error)) => return unreachable(format!("its processes cannot be listed: {error}")),
    };
    // The folder is created before the shim is started, which is recorded right afterwards.
    let was_never_started = run_dir.map_or(process.shim.is_none() && killed_leftovers == 0, shim::was_never_started);
    let kind = if kind == ExitErrorKind::Lost && was_never_started { ExitErrorKind::NeverStarted } else { kind };
    let detail = match kind {
        ExitErrorKind::Rebooted => "the machine restarted while the agent worked",
        ExitErrorKind::NeverStarted => "the server ended before the agent was started",
        _ => "the process that supervises the agent was killed",
    };
    let error = Some(ExitError { kind, detail: detail.to_owned() });
    let exit = ExitRecord { code: None, signal: None, ended_at: db::now(), killed_leftovers, duration_ms: None, error };
    if let Some(Err(error)) = run_dir.map(|run_dir| run_dir.record_exit(&exit)) {
        // The record only spares the next look this work.
        tracing::warn!(%error, "the end of a run was not written to its folder");
    }
    Liveness::Gone(exit)
}

fn describe(error: &RunDirError) -> String {
    let cause = std::error::Error::source(error).map(|cause| format!(" ({cause})")).unwrap_or_default();
    format!("{error}{cause}")
}

#[cfg(test)]
mod tests;
