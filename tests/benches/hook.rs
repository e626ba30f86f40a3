//! The time of the hook that runs before each edit and each shell command of a coder, compared with the start of the same program that does nothing:
//! `cargo bench -p tests --bench hook`. It grows with the claims of one repository, and with nothing else.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a command that prints its result and fails on any error")]

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;
use tests::server::TestServer;

const PROGRAM: &str = env!("CARGO_BIN_EXE_vibe_relay");
/// A coder holds at most 500 files, and these calls claim four files for each number.
const EDITS: usize = 120;
/// Shell commands. `N` stands for the number of the call. Some write files that the coder holds already, as it usually does.
const COMMANDS: [(&str, &str); 5] = [
    ("a command that writes nothing", "grep -rn N src | head"),
    ("a redirect", "echo N > src/bash-N.rs"),
    ("sed -i", "sed -i 's/a/b/' src/bash-N.rs"),
    ("mv, two files", "mv src/bash-N.rs src/moved-N.rs"),
    ("a here document after cd", "cd src && cat > lib-N.rs <<'EOF'\npub fn f() {}\nEOF"),
];
/// A coder that works until the bench ends.
const SCENARIO: &str = r#"{"parts": [{"phase": "coder", "turns": [
  {"text": "I work.", "calls": [{"tool": "Bash", "input": {"command": "touch ../../../works; sleep 600"}}]}
]}]}"#;

#[tokio::main]
async fn main() {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let build = if cfg!(debug_assertions) { "debug" } else { "release" };
    let load = std::fs::read_to_string("/proc/loadavg").unwrap();
    println!("{cores} cores, load {}; {build}; {EDITS} calls each", load.split_whitespace().next().unwrap_or_default());
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

    tokio::task::spawn_blocking(move || measure(&mcp_config)).await.unwrap();
}

fn measure(mcp_config: &Path) {
    let (alone, _) = percentiles((0..EDITS).map(|_| timed(&["--version"], "")).collect());
    println!("{:<36} p50 {:>6.1} ms", "the program alone", milliseconds(alone));
    let hook = |tool: &str, input: &serde_json::Value, id: &str| {
        let input = json!({"hook_event_name": "PreToolUse", "tool_name": tool, "tool_use_id": format!("toolu_{id}"), "tool_input": input});
        timed(&["hook", mcp_config.to_str().unwrap()], &input.to_string())
    };
    let print = |name: &str, all: Vec<Duration>| {
        let (half, most) = percentiles(all);
        let ratio = half.as_secs_f64() / alone.as_secs_f64();
        println!("{name:<36} p50 {:>6.1} ms, p99 {:>6.1} ms (goal: 20), {ratio:.1} x the program alone", milliseconds(half), milliseconds(most));
    };
    print("an edit", (0..EDITS).map(|number| hook("Edit", &json!({"file_path": format!("src/{number}.rs")}), &number.to_string())).collect());
    for (name, command) in COMMANDS {
        let call = |number: usize| hook("Bash", &json!({"command": command.replace('N', &number.to_string())}), &format!("{name}-{number}"));
        print(name, (0..EDITS).map(call).collect());
    }
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
