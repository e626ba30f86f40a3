//! The time of the hook that runs before each edit of a coder, compared with the start of the same program that does nothing:
//! `cargo bench -p tests --bench hook`. It grows with the claims of one repository, and with nothing else.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a command that prints its result and fails on any error")]

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;
use tests::server::TestServer;

const PROGRAM: &str = env!("CARGO_BIN_EXE_vibe_relay");
const EDITS: usize = 300;
/// A coder that works until the bench ends.
const SCENARIO: &str = r#"{"parts": [{"phase": "coder", "turns": [
  {"text": "I work.", "calls": [{"tool": "Bash", "input": {"command": "touch ../../../works; sleep 600"}}]}
]}]}"#;

#[tokio::main]
async fn main() {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let build = if cfg!(debug_assertions) { "debug" } else { "release" };
    let load = std::fs::read_to_string("/proc/loadavg").unwrap();
    println!("{cores} cores, load {}; {build}; {EDITS} edits of as many files", load.split_whitespace().next().unwrap_or_default());
    let start = TestServer::start(Path::new(PROGRAM), &[("README.md", "A test.\n")], |options, root| {
        let file = root.join("scenario.json");
        std::fs::write(&file, SCENARIO).unwrap();
        options.config.agent_command = vec![PROGRAM.to_owned(), "scripted-agent".to_owned(), "--scenario".to_owned(), file.display().to_string()];
    });
    let server = start.await.unwrap();
    let project = server.project("Edits", None).await.unwrap().id;
    let path = format!("/api/projects/{project}/tasks");
    let _: serde_json::Value = server.post(&path, &json!({"title": "Edit", "start": true})).await.unwrap();
    let works = server.root().join("works");
    tests::wait_for("the coder works", || works.exists()).await;
    let run = std::fs::read_dir(server.root().join("data/runs")).unwrap().next().unwrap().unwrap().path();
    let mcp_config = run.join("mcp.json");

    let (alone, edits) = tokio::task::spawn_blocking(move || {
        let alone: Vec<Duration> = (0..EDITS).map(|_| timed(&["--version"], "")).collect();
        let edits: Vec<Duration> = (0..EDITS).map(|number| edit(&mcp_config, number)).collect();
        (alone, edits)
    })
    .await
    .unwrap();
    let (alone_50, _) = percentiles(alone);
    let (edit_50, edit_99) = percentiles(edits);
    println!("{:<36} p50 {:>6.1} ms", "the program alone", milliseconds(alone_50));
    let ratio = edit_50.as_secs_f64() / alone_50.as_secs_f64();
    println!(
        "{:<36} p50 {:>6.1} ms, p99 {:>6.1} ms (goal: 20), {ratio:.1} x the program alone",
        "an edit",
        milliseconds(edit_50),
        milliseconds(edit_99)
    );
}

fn edit(mcp_config: &Path, number: usize) -> Duration {
    let input = json!({"hook_event_name": "PreToolUse", "tool_name": "Edit", "tool_use_id": format!("toolu_{number}"),
        "tool_input": {"file_path": format!("src/{number}.rs")}});
    timed(&["hook", mcp_config.to_str().unwrap()], &input.to_string())
}

/// Runs the program to its end. An answer would be a refusal.
fn timed(arguments: &[&str], input: &str) -> Duration {
    let began = Instant::now();
    #[expect(clippy::disallowed_methods, reason = "a bench starts the program under test itself")]
    let mut command = Command::new(PROGRAM);
    let mut child = command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let took = began.elapsed();
    assert!(output.status.success() && (input.is_empty() || output.stdout.is_empty()), "{}", String::from_utf8_lossy(&output.stdout));
    took
}

/// The median and the 99th percentile.
fn percentiles(mut all: Vec<Duration>) -> (Duration, Duration) {
    all.sort();
    (all[all.len() / 2], all[all.len() * 99 / 100])
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}
