//! Reads the process table.
//!
//! An error means that nothing is known: a caller must never take it for "does not exist". This file must not signal anything.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

#[cfg(target_os = "linux")]
use linux as system;
#[cfg(target_os = "macos")]
use macos as system;
pub(crate) use system::{boot_id, process, processes};

use crate::env;

/// Linux reports clock ticks of a hundredth of a second to programs, on every architecture (USER_HZ). Times of other systems are converted.
const MILLISECONDS_PER_TICK: u64 = 10;

/// A process that has not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) pid: i32,
    pub(crate) parent: i32,
    /// In clock ticks since the machine started, or seconds of the clock on macOS. It only identifies and orders processes.
    pub(crate) started: u64,
    /// The CPU time of it and of its children that it waited for, in clock ticks.
    pub(crate) cpu: u64,
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
        let is_marked = match system::has_variable(process.pid, &wanted) {
            // It belongs to another user, so it is not ours.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => false,
            read => read?,
        };
        if is_marked {
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
        if system::working_folder(process.pid).is_some_and(|cwd| cwd.starts_with(&folder)) {
            found.push((process.pid, system::command_line(process.pid)));
        }
    }
    found.sort_unstable();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

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
