//! Ends what an agent left behind: servers in the background, daemons, commands that outlived their shell.
//!
//! Two nets, because each has a hole: our own descendants (as a subreaper the shim adopts every orphan, even one that began a session
//! and emptied its environment), and whoever carries the run's marker (even when the shim itself was killed).

use std::collections::HashSet;
use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, getpid};

use crate::env;

/// How long a left-over process has between TERM and KILL.
const GRACE: Duration = Duration::from_secs(1);
/// How long a sweep lasts at most. A process that survives KILL hangs in the kernel and is left to it.
pub(super) const LIMIT: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(10);

/// Ends every descendant of this process and everybody who carries `marker`; how many there were. Collects all of this process's
/// children: to be called only by a process that waits for none of them.
pub(super) fn sweep_tree(marker: &str) -> u32 {
    sweep(|| {
        while waitpid(None, Some(WaitPidFlag::WNOHANG)).is_ok_and(|status| status != WaitStatus::StillAlive) {}
        let processes = processes();
        let mut found = descendants(getpid().as_raw(), &processes);
        found.extend(marked(marker, &processes));
        found
    })
}

/// Ends everybody who carries `marker`; how many there were.
pub(super) fn sweep_marked(marker: &str) -> u32 {
    sweep(|| marked(marker, &processes()))
}

/// Signals what `find` finds until it finds nothing more. Processes forked meanwhile are found in the next round.
fn sweep(find: impl Fn() -> HashSet<i32>) -> u32 {
    let begun = Instant::now();
    let mut seen = HashSet::new();
    loop {
        let found = find();
        if found.is_empty() || begun.elapsed() > LIMIT {
            return u32::try_from(seen.len()).unwrap_or(u32::MAX);
        }
        for pid in found {
            let new = seen.insert(pid);
            let late = begun.elapsed() > GRACE;
            if new || late {
                // One that is gone meanwhile needs no signal.
                let _ = kill(Pid::from_raw(pid), if late { Signal::SIGKILL } else { Signal::SIGTERM });
            }
        }
        sleep(PAUSE);
    }
}

#[derive(Debug, PartialEq, Eq)]
struct Process {
    pid: i32,
    parent: i32,
}

/// Every process but the ones that have ended and only wait to be collected.
fn processes() -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    pids.filter_map(|pid: i32| parse_stat(pid, &fs::read(format!("/proc/{pid}/stat")).ok()?)).collect()
}

/// `pid (name) state parent …`; the name may contain anything, parentheses and bytes that are not text included.
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
        // Unreadable means another user's process, which cannot be ours.
        fs::read(format!("/proc/{pid}/environ")).is_ok_and(|environ| environ.split(|byte| *byte == 0).any(|entry| entry == wanted.as_bytes()))
    };
    processes.iter().map(|process| process.pid).filter(|pid| *pid != own && carries(*pid)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_pose_as_the_rest_of_the_line() {
        assert_eq!(parse_stat(7, b"7 (a) R 1 (b) S 42 7 7 0"), Some(Process { pid: 7, parent: 42 }));
        assert_eq!(parse_stat(7, b"7 (\xFF\xFE) S 42 7"), Some(Process { pid: 7, parent: 42 }));
        assert_eq!(parse_stat(7, b"7 (sh) Z 42 7"), None);
        assert_eq!(parse_stat(7, b"7 (sh"), None);
    }

    #[test]
    fn descendants_are_found_at_any_depth_and_in_any_order() {
        let processes = [(5, 4), (4, 3), (3, 2), (9, 1), (2, 1)].map(|(pid, parent)| Process { pid, parent });
        assert_eq!(descendants(2, &processes), HashSet::from([3, 4, 5]));
    }

    #[test]
    fn this_process_is_among_the_living() {
        assert!(processes().iter().any(|process| process.pid == getpid().as_raw()));
    }
}
