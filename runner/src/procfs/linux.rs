//! The process table of Linux, in `/proc`.

use std::fs;
use std::io;
use std::path::PathBuf;

use nix::errno::Errno;

use super::Process;

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

/// Whether the environment of a process had the entry when it started.
///
/// # Errors
/// When it cannot be read.
pub(super) fn has_variable(pid: i32, entry: &str) -> io::Result<bool> {
    let environment = read(pid, "environ")?.unwrap_or_default();
    Ok(environment.split(|byte| *byte == 0).any(|found| found == entry.as_bytes()))
}

/// Returns the folder that a process works in, even if it is deleted; `None` when it ended or belongs to another user.
pub(super) fn working_folder(pid: i32) -> Option<PathBuf> {
    let folder = fs::read_link(format!("/proc/{pid}/cwd")).ok()?;
    let marked = folder.to_string_lossy();
    Some(marked.strip_suffix(" (deleted)").map_or(folder.clone(), PathBuf::from))
}

/// Returns the command line of a process, or nothing when it ended.
pub(super) fn command_line(pid: i32) -> String {
    let command = read(pid, "cmdline").ok().flatten().unwrap_or_default();
    String::from_utf8_lossy(&command).replace('\0', " ").trim_end().to_owned()
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
}
