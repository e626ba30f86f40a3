//! Shared parts of the integration tests: test servers, clients, a browser, and a scripted model behind the real `claude` program. It must
//! reach the product only as its users do: over HTTP, over MCP, and by starting its programs.

use std::io;
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

pub mod accessibility;
pub mod agent;
pub mod agent_bench;
pub mod agent_fleet;
pub mod browser;
pub mod chaos;
pub mod claude;
pub mod client;
pub mod git;
pub mod large_repository;
pub mod mcp;
pub mod model;
pub mod server;
pub mod session;
pub mod socket;

/// How long a test waits for a state before it fails. It is long because test machines can be slow.
const WAIT_TIMEOUT: Duration = Duration::from_secs(60);

/// Waits until a condition holds.
///
/// # Panics
/// The condition does not hold within a minute. The message contains `what`.
pub async fn wait_for(what: &str, holds: impl Fn() -> bool) {
    let poll = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    assert!(tokio::time::timeout(WAIT_TIMEOUT, poll).await.is_ok(), "waited for {} s until {what}", WAIT_TIMEOUT.as_secs());
}

/// Sends SIGTERM to a process that the test started.
///
/// # Errors
/// The process does not exist.
pub fn terminate(process_id: u32) -> Result<(), Errno> {
    let id = i32::try_from(process_id).map_err(|_| Errno::ESRCH)?;
    kill(Pid::from_raw(id), Signal::SIGTERM)
}

/// Memory of a process in MB: resident, proportional (shared pages divided among their users), and private.
///
/// # Errors
/// The process does not exist.
pub fn memory(id: u32) -> io::Result<[f64; 3]> {
    let rollup = std::fs::read_to_string(format!("/proc/{id}/smaps_rollup"))?;
    let megabytes = |name: &str| {
        let line = rollup.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        line.trim().trim_end_matches(" kB").parse::<f64>().map(|kilobytes| kilobytes / 1024.0).map_err(io::Error::other)
    };
    Ok([megabytes("Rss:")?, megabytes("Pss:")?, megabytes("Private_Dirty:")?])
}

/// The largest resident memory that a process has had, in MB.
///
/// # Errors
/// The process does not exist.
pub fn peak_memory(id: u32) -> io::Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{id}/status"))?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    peak.map(|kilobytes| kilobytes >> 10).ok_or_else(|| io::Error::other("no peak"))
}

/// Processor time that processes and their threads have used so far.
///
/// # Errors
/// A process does not exist.
pub fn processor_time(processes: &[u32]) -> io::Result<Duration> {
    /// The kernel's unit of processor time, per second: `USER_HZ`, which is 100 on Linux.
    const TICKS_PER_SECOND: f64 = 100.0;
    let mut ticks = 0.0;
    for id in processes {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat"))?;
        // The name in parentheses may contain anything; utime and stime are the 12th and 13th fields after it.
        let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
        for field in fields.skip(11).take(2) {
            ticks += field.parse::<f64>().map_err(io::Error::other)?;
        }
    }
    Ok(Duration::from_secs_f64(ticks / TICKS_PER_SECOND))
}

/// The largest value of each kind of memory.
pub fn largest(processes: &[[f64; 3]]) -> [f64; 3] {
    [0, 1, 2].map(|kind| processes.iter().map(|memory| memory[kind]).fold(0.0, f64::max))
}
