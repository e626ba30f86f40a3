//! Kills what an agent left behind: background servers, daemons, commands that outlived their shell.
//!
//! It searches in two ways, because each misses some. Descendants include orphans that started a session and cleared their environment,
//! because the shim is a subreaper. Marked processes are found even when the shim itself was killed.

use std::collections::HashSet;
use std::io;
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, getpid};

use crate::procfs::{self, Process};

/// The time between TERM and KILL.
const KILL_DELAY: Duration = Duration::from_secs(1);
/// The longest time that a sweep takes. A process that survives KILL hangs in the kernel.
const SWEEP_TIMEOUT: Duration = Duration::from_secs(5);
const SWEEP_INTERVAL: Duration = Duration::from_millis(10);

/// The result of a sweep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Swept {
    /// How many processes were found.
    pub(crate) found: u32,
    /// Those that are still alive.
    pub(crate) survivors: Vec<i32>,
}

/// Kills every descendant of this process and every process with `marker`. It reaps all children of this process, so call it only when
/// nothing else waits for one.
///
/// # Errors
/// When the process table cannot be read.
pub(super) fn kill_descendants(marker: &str) -> io::Result<Swept> {
    sweep(|| {
        while waitpid(None, Some(WaitPidFlag::WNOHANG)).is_ok_and(|status| status != WaitStatus::StillAlive) {}
        let processes = procfs::processes()?;
        let mut found = descendants(getpid().as_raw(), &processes);
        found.extend(procfs::marked(marker, &processes)?);
        Ok(found)
    })
}

/// Kills every process with `marker`.
///
/// # Errors
/// When the process table cannot be read.
pub(crate) fn kill_marked(marker: &str) -> io::Result<Swept> {
    sweep(|| procfs::marked(marker, &procfs::processes()?))
}

/// Signals the processes that `find` returns until it returns none. The next round finds processes that were forked meanwhile.
fn sweep(find: impl Fn() -> io::Result<HashSet<i32>>) -> io::Result<Swept> {
    let started = Instant::now();
    let mut seen = HashSet::new();
    loop {
        let found = find()?;
        if found.is_empty() || started.elapsed() > SWEEP_TIMEOUT {
            return Ok(Swept { found: u32::try_from(seen.len()).unwrap_or(u32::MAX), survivors: found.into_iter().collect() });
        }
        for pid in found {
            let new = seen.insert(pid);
            let late = started.elapsed() > KILL_DELAY;
            if new || late {
                // A process that ended meanwhile needs no signal.
                let _ = kill(Pid::from_raw(pid), if late { Signal::SIGKILL } else { Signal::SIGTERM });
            }
        }
        sleep(SWEEP_INTERVAL);
    }
}

fn descendants(ancestor: i32, processes: &[Process]) -> HashSet<i32> {
    let mut found = HashSet::new();
    loop {
        let before = found.len();
        let children = processes.iter().filter(|process| process.parent == ancestor || found.contains(&process.parent));
        let children: Vec<i32> = children.map(|process| process.pid).collect();
        found.extend(children);
        if found.len() == before {
            return found;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descendants_are_found_at_any_depth() {
        let processes = [(5, 4), (4, 3), (3, 2), (9, 1), (2, 1)].map(|(pid, parent)| Process { pid, parent, started: 0, cpu: 0 });
        assert_eq!(descendants(2, &processes), HashSet::from([3, 4, 5]));
    }

    #[test]
    fn sweep_that_cannot_read_the_table_reports_nothing() {
        let error = sweep(|| Err(io::ErrorKind::Other.into())).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::Other);
    }
}
