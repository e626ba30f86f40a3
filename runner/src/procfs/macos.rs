//! The process table of macOS.
//!
//! The system does not show the environment of programs that it protects, such as `/bin/sleep`, even to their own user.

use std::io;
use std::path::PathBuf;

use sysctl::Sysctl as _;
use sysinfo::{Pid, ProcessRefreshKind, ProcessStatus, ProcessesToUpdate, System, UpdateKind};

use super::{MILLISECONDS_PER_TICK, Process};

/// Identifies one start of the machine.
const BOOT: &str = "kern.bootsessionuuid";

/// Lists every process except those that have ended and wait to be reaped.
///
/// # Errors
/// When the table cannot be read.
pub(crate) fn processes() -> io::Result<Vec<Process>> {
    let system = refreshed(ProcessesToUpdate::All, ProcessRefreshKind::nothing().with_cpu());
    let found: Vec<Process> = system.processes().values().filter_map(convert).collect();
    // This process is always listed.
    if found.is_empty() { Err(io::Error::other("the system lists no process")) } else { Ok(found) }
}

/// Reads one process; `None` when it does not exist or has ended.
///
/// # Errors
/// Never; on Linux, when its entry cannot be read.
pub(crate) fn process(pid: i32) -> io::Result<Option<Process>> {
    Ok(with(pid, ProcessRefreshKind::nothing().with_cpu(), convert).flatten())
}

/// Whether the environment of a process had the entry when it started.
///
/// # Errors
/// Never; on Linux, when it cannot be read.
pub(super) fn has_variable(pid: i32, entry: &str) -> io::Result<bool> {
    let kind = ProcessRefreshKind::nothing().with_environ(UpdateKind::Always);
    Ok(with(pid, kind, |process| process.environ().iter().any(|found| found == entry)).unwrap_or_default())
}

/// Returns the folder that a process works in; `None` when it ended or belongs to another user.
pub(super) fn working_folder(pid: i32) -> Option<PathBuf> {
    let kind = ProcessRefreshKind::nothing().with_cwd(UpdateKind::Always);
    with(pid, kind, |process| process.cwd().map(PathBuf::from)).flatten()
}

/// Returns the command line of a process, or nothing when it ended.
pub(super) fn command_line(pid: i32) -> String {
    let kind = ProcessRefreshKind::nothing().with_cmd(UpdateKind::Always);
    let words = with(pid, kind, |process| process.cmd().iter().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>());
    words.unwrap_or_default().join(" ")
}

/// Identifies the current start of the machine.
///
/// # Errors
/// When the system does not tell.
pub(crate) fn boot_id() -> io::Result<String> {
    sysctl::Ctl::new(BOOT).and_then(|control| control.value_string()).map_err(io::Error::other)
}

fn with<T>(pid: i32, kind: ProcessRefreshKind, read: impl FnOnce(&sysinfo::Process) -> T) -> Option<T> {
    let pid = Pid::from_u32(u32::try_from(pid).ok()?);
    refreshed(ProcessesToUpdate::Some(&[pid]), kind).process(pid).map(read)
}

fn refreshed(which: ProcessesToUpdate<'_>, kind: ProcessRefreshKind) -> System {
    let mut system = System::new();
    system.refresh_processes_specifics(which, true, kind);
    system
}

fn convert(process: &sysinfo::Process) -> Option<Process> {
    let id = |pid: Pid| i32::try_from(pid.as_u32()).ok();
    let parent = process.parent().and_then(id).unwrap_or_default();
    let cpu = process.accumulated_cpu_time() / MILLISECONDS_PER_TICK;
    let ended = matches!(process.status(), ProcessStatus::Zombie | ProcessStatus::Dead);
    Some(Process { pid: id(process.pid())?, parent, started: process.start_time(), cpu }).filter(|_| !ended)
}
