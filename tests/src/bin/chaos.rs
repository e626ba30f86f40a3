//! The command `chaos`: breaks a board on purpose, as often as its promises demand, and writes the figures to `docs/reliability.md`.
//!
//! `cargo run -p tests --bin chaos` takes about twenty minutes. Experiments that are named are run alone, and nothing is written. With any other
//! arguments it is the product itself, which the experiments start.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command that prints its result")]

use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use tests::chaos::{self, Outcome};

const NAMES: [&str; 7] = ["killed-server", "leftovers", "captured", "restart", "disk", "out-of-memory", "broken-bridge"];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if !arguments.iter().all(|name| NAMES.contains(&name.as_str())) {
        return cli::main();
    }
    let runtime = tokio::runtime::Runtime::new();
    match runtime.and_then(|runtime| runtime.block_on(measure(&arguments))) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("chaos: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Returns whether every promise was kept.
async fn measure(names: &[String]) -> io::Result<bool> {
    let mut page = include_str!("../chaos/reliability.md").to_owned();
    let mut kept = true;
    for name in NAMES.into_iter().filter(|name| names.is_empty() || names.iter().any(|wanted| wanted == name)) {
        let began = Instant::now();
        let outcome = experiment(name).await?;
        let section = section(name, &outcome, began.elapsed().as_secs());
        print!("{section}");
        page += &section;
        kept = kept && outcome.violations.is_empty();
    }
    if names.is_empty() {
        std::fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/reliability.md"), page)?;
    }
    Ok(kept)
}

async fn experiment(name: &str) -> io::Result<Outcome> {
    let program = std::env::current_exe()?;
    match name {
        "killed-server" => chaos::killed_server::run(&program, 300).await,
        "leftovers" => chaos::leftovers::run(&program, 200, 100).await,
        "captured" => chaos::captured::run(&program).await,
        "restart" => chaos::restart::run(&program).await,
        "disk" => chaos::disk::run(&program, 10).await,
        "out-of-memory" => chaos::out_of_memory::run(&program).await,
        _ => chaos::broken_bridge::run(&program, Duration::from_secs(600)).await,
    }
}

fn section(name: &str, outcome: &Outcome, seconds: u64) -> String {
    let mut text = format!("\n## {name} ({seconds} s)\n\n");
    for figure in &outcome.figures {
        text += &format!("- {figure}\n");
    }
    for violation in &outcome.violations {
        text += &format!("- **Broken**: {violation}\n");
    }
    text
}
