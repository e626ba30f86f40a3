//! Runs five tasks on a large repository to their landing, first on the checked-out base branch and then by a pull request:
//! `cargo bench -p tests --bench large_repository`, with 20,000 files, 300 MB of history and a suite of 60 seconds. It takes about twenty minutes.
//!
//! `LARGE_FILES`, `LARGE_HISTORY` (megabytes), `LARGE_SUITE` (seconds), `LARGE_WAY` (`local` or `pr`) and `LARGE_LFS=1` (real files of Git LFS,
//! and not only pointers) change that.

#![expect(clippy::print_stdout, reason = "a command that prints its result")]

use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use tests::large_repository::{self, Destination, Size};

#[tokio::main]
async fn main() -> io::Result<ExitCode> {
    let text = |name: &str| std::env::var(name).ok();
    let number = |name: &str, default: usize| text(name).and_then(|text| text.parse().ok()).unwrap_or(default);
    let size = Size {
        files: number("LARGE_FILES", 20_000),
        history: number("LARGE_HISTORY", 300),
        suite: Duration::from_secs(number("LARGE_SUITE", 60) as u64),
        has_lfs: text("LARGE_LFS").is_some(),
    };
    let build = if cfg!(debug_assertions) { "debug" } else { "release" };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let load = std::fs::read_to_string("/proc/loadavg")?;
    println!("{cores} cores, load {}; {build}", load.split_whitespace().next().unwrap_or_default());
    let mut kept = true;
    for (name, destination) in [("local", Destination::Local), ("pr", Destination::PullRequest)] {
        if text("LARGE_WAY").is_some_and(|wanted| wanted != name) {
            continue;
        }
        let report = large_repository::run(Path::new(env!("CARGO_BIN_EXE_vibe_relay")), size, destination).await?;
        println!("\n== {name}");
        for figure in &report.figures {
            println!("{figure}");
        }
        for violation in &report.violations {
            println!("BROKEN: {violation}");
        }
        kept = kept && report.violations.is_empty();
    }
    Ok(if kept { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
