//! Kills what an agent left behind: background servers, daemons, commands that outlived their shell.
//!
//! It searches in two ways, because each misses some. Descendants include orphans that started a session and cleared their environment,
//! because the shim is a subreaper. Marked processes are found even when the shim itself was killed.

use std::collections::HashSet;
use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, getpid};

use crate::env;

/// The time between TERM and KILL.
const KILL_DELAY: Duration = Duration::from_secs(1);
/// The longest time that a sweep takes. A process that survives KILL hangs in the kernel, so the sweep ignores it then.
pub(super) const SWEEP_TIMEOUT: Duration = Duration::from_secs(5);
const SWEEP_INTERVAL: Duration = Duration::from_millis(10);

/// Kills every descendant of this process and every process with `marker`, and returns their number. It reaps all children of this
/// process, so call it only when nothing else waits for one.
pub(super) fn kill_descendants(marker: &str) -> u32 {
    sweep(|| {
        while waitpid(None, Some(WaitPidFlag::WNOHANG)).is_ok_and(|status| status != WaitStatus::StillAlive) {}
        let processes = processes();
        let mut found = descendants(getpid().as_raw(), &processes);
        found.extend(marked(marker, &processes));
        found
    })
}

/// Kills every process with `marker` and returns their number.
pub(super) fn kill_marked(marker: &str) -> u32 {
    sweep(|| marked(marker, &processes()))
}

/// Signals the processes that `find` returns until it returns none. The next round finds processes that were forked meanwhile.
fn sweep(find: impl Fn() -> HashSet<i32>) -> u32 {
    let started = Instant::now();
    let mut seen = HashSet::new();
    loop {
        let found = find();
        if found.is_empty() || started.elapsed() > SWEEP_TIMEOUT {
            return u32::try_from(seen.len()).unwrap_or(u32::MAX);
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

#[derive(Debug, PartialEq, Eq)]
struct Process {
    pid: i32,
    parent: i32,
}

/// Lists every process except those that have ended and wait to be reaped.
fn processes() -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    pids.filter_map(|pid: i32| parse_stat(pid, &fs::read(format!("/proc/{pid}/stat")).ok()?)).collect()
}

/// Parses `pid (name) state parent …`. The name may contain any byte, including parentheses.
fn parse_stat(pid: i32, stat: &[u8]) -> Option<Process> {
    let end = stat.iter().rposition(|byte| *byte == b')')?;
    let mut fields = str::from_utf8(&stat[end + 1..]).ok()?.split_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    (!matches!(state, "Z" | "X")).then_some(Process { pid, parent })
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

fn marked(marker: &str, processes: &[Process]) -> HashSet<i32> {
    let own = getpid().as_raw();
    let wanted = format!("{}={marker}", env::MARKER);
    let carries = |pid: i32| {
        // An unreadable entry belongs to another user, so it is not ours.
        fs::read(format!("/proc/{pid}/environ")).is_ok_and(|environ| environ.split(|byte| *byte == 0).any(|entry| entry == wanted.as_bytes()))
    };
    processes.iter().map(|process| process.pid).filter(|pid| *pid != own && carries(*pid)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn process_name_with_parentheses_is_parsed() {
        assert_eq!(parse_stat(7, b"7 (a) R 1 (b) S 42 7 7 0"), Some(Process { pid: 7, parent: 42 }));
        assert_eq!(parse_stat(7, b"7 (\xFF\xFE) S 42 7"), Some(Process { pid: 7, parent: 42 }));
        assert_eq!(parse_stat(7, b"7 (sh) Z 42 7"), None);
        assert_eq!(parse_stat(7, b"7 (sh"), None);
    }

    #[test]
    fn descendants_are_found_at_any_depth() {
        let processes = [(5, 4), (4, 3), (3, 2), (9, 1), (2, 1)].map(|(pid, parent)| Process { pid, parent });
        assert_eq!(descendants(2, &processes), HashSet::from([3, 4, 5]));
    }

    #[test]
    fn process_list_contains_this_process() {
        assert!(processes().iter().any(|process| process.pid == getpid().as_raw()));
    }
}
