//! Tells whether the kernel killed an agent because memory ran out, of the machine or of a control group.
//!
//! The kernel counts such kills for the whole machine (`oom_kill` in /proc/vmstat, since Linux 4.13). A kill of another program in the last
//! second cannot be told apart. Must not know what follows from it.

use std::fs;

use nix::sys::signal::Signal;

/// The number of such kills at the last two samples.
#[derive(Debug)]
pub(super) struct OutOfMemory {
    before: Option<u64>,
    last: Option<u64>,
}

impl OutOfMemory {
    pub(super) fn begin() -> Self {
        let kills = kills();
        Self { before: kills, last: kills }
    }

    /// Counts again. Called at intervals, so that only recent kills count.
    pub(super) fn sample(&mut self) {
        (self.before, self.last) = (self.last, kills());
    }

    /// Whether a process that ended by `signal` was killed for its memory.
    pub(super) fn killed(&self, signal: Option<i32>) -> bool {
        signal == Some(Signal::SIGKILL as i32) && kills().zip(self.before).is_some_and(|(now, before)| now > before)
    }
}

fn kills() -> Option<u64> {
    parse(&fs::read_to_string("/proc/vmstat").ok()?)
}

fn parse(vmstat: &str) -> Option<u64> {
    vmstat.lines().find_map(|line| line.strip_prefix("oom_kill "))?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kills_are_read_from_the_statistics() {
        assert_eq!(parse("nr_free_pages 7\noom_kill 3\ndrop_pagecache 0\n"), Some(3));
        assert_eq!(parse("nr_free_pages 7\n"), None, "an older kernel");
    }

    #[test]
    fn only_a_kill_after_the_sample_before_the_last_counts() {
        let now = kills().unwrap_or_default();
        let earlier = OutOfMemory { before: now.checked_sub(1), last: Some(now) };
        assert_eq!(earlier.killed(Some(9)), now > 0);
        assert!(!earlier.killed(Some(15)) && !earlier.killed(None));
        let mut same = OutOfMemory::begin();
        same.sample();
        assert!(!OutOfMemory { before: Some(u64::MAX), ..same }.killed(Some(9)));
    }
}
