//! The agent's process: started with or without a jail, and signalled where a signal reaches the agent program itself.
//!
//! In a jail, the shim's child is bubblewrap. A signal to it ends the jail at once, so the agent program would have no time to end its turn.
//! It must not decide when to signal.

use std::fs;
use std::io::{PipeReader, Read};
use std::process::ChildStdin;

use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;

use crate::process::{self, ProcessError, Streams};
use crate::procfs;
use crate::run_dir::RunSpec;
use crate::shim::priority::{be_nice, with_high_oom_score};

/// Bubblewrap and shells report a program that a signal ended as this number plus the signal.
const SIGNAL_CODE: i32 = 128;
/// Signals after which no program chooses its own exit code.
const FATAL: [Signal; 6] = [Signal::SIGKILL, Signal::SIGSEGV, Signal::SIGABRT, Signal::SIGBUS, Signal::SIGILL, Signal::SIGFPE];
/// The id of the agent program inside its jail, whose first process has the id 1.
const INNER_ID: &str = "2";

/// A started agent, which is not reaped yet.
pub(super) struct Agent {
    /// The shim's child, which leads a process group.
    pid: Pid,
    jail: Option<Jail>,
}

struct Jail {
    info: PipeReader,
    /// The report of bubblewrap so far.
    report: String,
}

impl Agent {
    /// Starts the agent, or a setup command in its place. The stdin of an agent is a pipe.
    pub(super) fn start(spec: &RunSpec, argv: &[String], streams: Streams<'_>) -> Result<(Self, Option<ChildStdin>), ProcessError> {
        let started = with_high_oom_score(|| match &spec.jail {
            None => process::start_agent(spec, argv, streams).map(|child| (child, None)),
            Some(jail) => process::start_jail(jail, spec, argv, streams).map(|(child, info)| (child, Some(Jail { info, report: String::new() }))),
        });
        let (mut child, jail) = started?;
        let pid = Pid::from_raw(child.id().cast_signed());
        be_nice(pid);
        let stdin = child.stdin.take();
        Ok((Self { pid, jail }, stdin))
    }

    pub(super) fn pid(&self) -> Pid {
        self.pid
    }

    /// Sends a signal. A process that is gone needs none.
    pub(super) fn send(&mut self, signal: Signal) {
        let program = match &mut self.jail {
            // KILL ends the whole jail.
            Some(jail) if signal != Signal::SIGKILL => jail.program(),
            _ => None,
        };
        // The agent is not reaped yet, so its group id cannot be reused.
        let _ = match program {
            Some(program) => kill(program, signal),
            None => killpg(self.pid, signal),
        };
    }

    /// The exit of the agent program, from that of the shim's child.
    pub(super) fn exit(&self, code: Option<i32>, signal: Option<i32>) -> (Option<i32>, Option<i32>) {
        let fatal = code.and_then(|code| FATAL.into_iter().find(|fatal| *fatal as i32 + SIGNAL_CODE == code));
        match fatal.filter(|_| self.jail.is_some()) {
            Some(fatal) => (None, Some(fatal as i32)),
            None => (code, signal),
        }
    }
}

impl Jail {
    /// The agent program, once it runs.
    fn program(&mut self) -> Option<Pid> {
        let mut bytes = Vec::new();
        // It never blocks. An error means that nothing more has been reported yet.
        let _ = self.info.read_to_end(&mut bytes);
        self.report.push_str(&String::from_utf8_lossy(&bytes));
        let init = first_process(&self.report)?;
        let processes = procfs::processes().ok()?;
        let mut children = processes.iter().filter(|process| process.parent == init).map(|process| process.pid);
        children.find(|pid| inner_id(*pid).as_deref() == Some(INNER_ID)).map(Pid::from_raw)
    }
}

/// Reads the id of the jail's first process from bubblewrap's report.
fn first_process(report: &str) -> Option<i32> {
    let (_, rest) = report.split_once("\"child-pid\":")?;
    rest.trim_start().split(|character: char| !character.is_ascii_digit()).next()?.parse().ok()
}

/// The id that a process has in its innermost namespace.
fn inner_id(pid: i32) -> Option<String> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let ids = status.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
    ids.split_whitespace().last().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_process_of_a_jail_is_read_from_its_report() {
        assert_eq!(first_process("{\n    \"child-pid\": 5068,\n    \"cgroup-namespace\": 4026532181"), Some(5068));
        assert_eq!(first_process("{\n    \"child-"), None);
        assert_eq!(first_process(""), None);
    }
}
