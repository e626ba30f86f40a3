//! The priority of an agent: it yields to the programs of the person who uses the machine, and is ended before them when memory runs out.
//!
//! Best effort: an agent runs with the usual priority where the system refuses.

use std::fs;

use nix::unistd::Pid;
use rustix::process::{getpriority_process, setpriority_pgrp};

/// Added to the nice value of the shim.
const NICE: i32 = 5;
const OOM_SCORE: &str = "/proc/self/oom_score_adj";
/// From -1000 to 1000, see proc_pid_oom_score_adj(5). Higher than that of browsers and editors, which use up to 300.
const AGENT_OOM_SCORE: &str = "500";

/// Runs `start`, whose processes are the first to end when memory runs out. The shim itself keeps its score, because it records the end.
pub(super) fn with_high_oom_score<T>(start: impl FnOnce() -> T) -> T {
    let own = fs::read_to_string(OOM_SCORE).ok();
    let _ = fs::write(OOM_SCORE, AGENT_OOM_SCORE);
    let started = start();
    if let Some(own) = own {
        let _ = fs::write(OOM_SCORE, own);
    }
    started
}

/// Lowers the priority of the group of a process that was just started. Processes that it starts later inherit it.
pub(super) fn be_nice(group: Pid) {
    let own = getpriority_process(None).unwrap_or_default();
    let _ = setpriority_pgrp(rustix::process::Pid::from_raw(group.as_raw()), own + NICE);
}
