//! Reads the process table.
//!
//! An error means that nothing is known: a caller must never take it for "does not exist". This file must not signal anything.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use nix::errno::Errno;

use crate::env;

/// Linux reports clock ticks of a hundredth of a second to programs, on every architecture (USER_HZ).
const MILLISECONDS_PER_TICK: u64 = 10;

/// A process that has not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) pid: i32,
    pub(crate) parent: i32,
    /// In clock ticks since the machine started.
    pub(crate) started: u64,
    /// The CPU time of it and of its children that it waited for, in clock ticks.
    pub(crate) cpu: u64,
}

/// Lists every process except those that have ended and wait to be reaped.
///
/// # Errors
/// When the table or an entry of it cannot be read.
pub(crate) fn processes() -> io::Result<Vec<Process>> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let Some(pid) = entry?.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        found.extend(process(pid)?);
    }
    Ok(found)
}

/// Reads one process; `None` when it does not exist or has ended.
///
/// # Errors
/// When its entry cannot be read.
pub(crate) fn process(pid: i32) -> io::Result<Option<Process>> {
    Ok(read(pid, "stat")?.and_then(|stat| parse_stat(pid, &stat)))
}

/// Returns the CPU time that the processes below `root` have used so far. A process that ended counts with the one that waited for it.
///
/// # Errors
/// When the table or an entry of it cannot be read.
pub(crate) fn cpu_time_below(root: i32) -> io::Result<Duration> {
    let processes = processes()?;
    let mut found = HashSet::from([root]);
    let mut ticks = 0;
    // A parent may be listed after its child.
    loop {
        let below: Vec<&Process> = processes.iter().filter(|one| found.contains(&one.parent) && !found.contains(&one.pid)).collect();
        if below.is_empty() {
            return Ok(Duration::from_millis(ticks * MILLISECONDS_PER_TICK));
        }
        ticks += below.iter().map(|process| process.cpu).sum::<u64>();
        found.extend(below.iter().map(|process| process.pid));
    }
}

/// Selects the processes that inherited `marker`, except this one.
///
/// # Errors
/// When a process of this user cannot be read.
pub(crate) fn marked(marker: &str, processes: &[Process]) -> io::Result<HashSet<i32>> {
    let own = i32::try_from(std::process::id()).ok();
    let wanted = format!("{}={marker}", env::MARKER);
    let mut found = HashSet::new();
    for process in processes.iter().filter(|process| Some(process.pid) != own) {
        let environment = match read(process.pid, "environ") {
            // It belongs to another user, so it is not ours.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => continue,
            read => read?.unwrap_or_default(),
        };
        if environment.split(|byte| *byte == 0).any(|entry| entry == wanted.as_bytes()) {
            found.insert(process.pid);
        }
    }
    Ok(found)
}

/// Lists the processes of this user that work in `folder` and started no earlier than `since`, with their command lines, by id.
///
/// # Errors
/// When the table cannot be read.
pub(crate) fn working_in(folder: &Path, since: u64) -> io::Result<Vec<(i32, String)>> {
    let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    let own = i32::try_from(std::process::id()).ok();
    let mut found = Vec::new();
    for process in processes()?.into_iter().filter(|process| process.started >= since && Some(process.pid) != own) {
        // It ended meanwhile, or belongs to another user.
        let Ok(cwd) = fs::read_link(format!("/proc/{}/cwd", process.pid)) else { continue };
        let cwd = cwd.to_string_lossy();
        if Path::new(cwd.strip_suffix(" (deleted)").unwrap_or(&cwd)).starts_with(&folder) {
            let command = read(process.pid, "cmdline").ok().flatten().unwrap_or_default();
            found.push((process.pid, String::from_utf8_lossy(&command).replace('\0', " ").trim_end().to_owned()));
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// Identifies the current start of the machine.
///
/// # Errors
/// When the system does not tell.
pub(crate) fn boot_id() -> io::Result<String> {
    Ok(fs::read_to_string("/proc/sys/kernel/random/boot_id")?.trim().to_owned())
}

/// `None` when the process does not exist.
fn read(pid: i32, name: &str) -> io::Result<Option<Vec<u8>>> {
    match fs::read(format!("/proc/{pid}/{name}")) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound || error.raw_os_error() == Some(Errno::ESRCH as i32) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Parses `pid (name) state parent … started …`. The name may contain any byte, including parentheses.
fn parse_stat(pid: i32, stat: &[u8]) -> Option<Process> {
    let end = stat.iter().rposition(|byte| *byte == b')')?;
    let mut fields = str::from_utf8(&stat[end + 1..]).ok()?.split_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    // Fields 14 to 17 and 22 of proc_pid_stat(5).
    let mut cpu = 0;
    for field in fields.by_ref().skip(9).take(4) {
        cpu += field.parse::<u64>().ok()?;
    }
    let started = fields.nth(4)?.parse().ok()?;
    (!matches!(state, "Z" | "X")).then_some(Process { pid, parent, started, cpu })
}

#[cfg(test)]
mod tests {
    use super::*;

    const OTHER_FIELDS: &str = "7 7 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 99 1000";

    #[test]
    fn process_name_with_parentheses_is_parsed() {
        let parse = |head: &[u8]| parse_stat(7, &[head, b" ", OTHER_FIELDS.as_bytes()].concat());
        assert_eq!(parse(b"7 (a) R 1 (b) S 42"), Some(Process { pid: 7, parent: 42, started: 99, cpu: 26 }));
        assert_eq!(parse(b"7 (\xFF\xFE) S 42"), Some(Process { pid: 7, parent: 42, started: 99, cpu: 26 }));
        assert_eq!(parse(b"7 (sh) Z 42"), None);
        assert_eq!(parse_stat(7, b"7 (sh"), None);
    }

    #[test]
    fn work_of_children_and_grandchildren_is_counted() {
        let own = i32::try_from(std::process::id()).unwrap();
        let before = cpu_time_below(own).unwrap();
        #[expect(clippy::disallowed_methods, reason = "a test starts a child")]
        let mut child = std::process::Command::new("sh").args(["-c", "sh -c 'while :; do :; done'; true"]).spawn().unwrap();
        while cpu_time_below(own).unwrap() < before + Duration::from_millis(50) {
            std::thread::yield_now();
        }
        let pid = i32::try_from(child.id()).unwrap();
        for process in processes().unwrap().iter().filter(|process| process.parent == pid) {
            nix::sys::signal::kill(nix::unistd::Pid::from_raw(process.pid), nix::sys::signal::Signal::SIGKILL).unwrap();
        }
        child.wait().unwrap();
    }

    #[test]
    fn processes_are_found_by_the_folder_that_they_work_in() {
        let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let below = inside.path().join("below");
        fs::create_dir(&below).unwrap();
        #[expect(clippy::disallowed_methods, reason = "a test starts a child")]
        let start = |folder: &Path| std::process::Command::new("sleep").arg("1000").current_dir(folder).spawn().unwrap();
        let mut children = [start(&below), start(outside.path())];
        let pid = i32::try_from(children[0].id()).unwrap();
        let started = process(pid).unwrap().unwrap().started;
        let found = || working_in(inside.path(), started).unwrap();
        assert_eq!(found(), [(pid, "sleep 1000".to_owned())]);
        fs::remove_dir(&below).unwrap();
        assert_eq!(found().len(), 1, "its folder is gone");
        assert_eq!(working_in(inside.path(), started + 1).unwrap(), [], "it is older");
        for child in &mut children {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        assert_eq!(found(), []);
    }

    #[test]
    fn this_process_is_listed_and_missing_ones_are_not() {
        let own = i32::try_from(std::process::id()).unwrap();
        // Its CPU time grows between the two readings.
        let identity = |found: &Process| (found.pid, found.parent, found.started);
        assert!(processes().unwrap().iter().map(identity).any(|listed| listed == identity(&process(own).unwrap().unwrap())));
        assert_eq!(process(i32::MAX).unwrap(), None);
        assert!(process(own).unwrap().unwrap().started > 0);
    }
}
