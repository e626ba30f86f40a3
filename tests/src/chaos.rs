//! Experiments that break things on purpose and count what that costs: killed servers, killed and stopped agents, a captured agent, a restart
//! of the machine, a full disk, a broken bridge, memory that runs out. Each takes how often it is repeated, so that the tests run a small version of what the command measures.

pub mod broken_bridge;
pub mod captured;
pub mod disk;
pub mod killed_server;
pub mod leftovers;
pub mod out_of_memory;
pub mod restart;

use std::io;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::server::{ServerOptions, TestServer};

/// The longest time that the board has to give every task in progress a run or a reason.
pub const SETTLE_TIME: Duration = Duration::from_secs(5);

/// The result of an experiment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The actions and their counted consequences, one sentence each.
    pub figures: Vec<String>,
    /// Each broken promise.
    pub violations: Vec<String>,
}

impl Outcome {
    fn expect(&mut self, holds: bool, violation: impl FnOnce() -> String) {
        if !holds {
            self.violations.push(violation());
        }
    }
}

/// A scenario whose coders run a command and submit, and whose reviewers approve. `first` are parts that come before.
fn submitting(first: &[Value], command: &str) -> String {
    let moved = |status: &str| json!([{"tool": "mcp__vibe-relay__update_task_status", "input": {"task_id": "{{task_id}}", "status": status}}]);
    let coder =
        [json!({"calls": [{"tool": "Bash", "input": {"command": command}}]}), json!({"calls": moved("in_review")}), json!({"text": "Submitted."})];
    let parts = [json!({"phase": "coder", "turns": coder}), json!({"phase": "reviewer", "turns": [{"calls": moved("done")}, {"text": "Approved."}]})];
    json!({"parts": ([first, &parts].concat())}).to_string()
}

/// Starts a server whose agents play a scenario.
async fn scripted(program: &Path, scenario: &str, change: impl FnOnce(&mut ServerOptions)) -> io::Result<TestServer> {
    let mut written = Ok(());
    let server = TestServer::start(program, &[("README.md", "A test.\n")], |options, root| {
        let file = root.join("scenario.json");
        written = std::fs::write(&file, scenario);
        let command = [program.display().to_string(), "scripted-agent".to_owned(), "--scenario".to_owned(), file.display().to_string()];
        options.config.agent_command = command.into();
        change(options);
    });
    let server = server.await?;
    written.map(|()| server)
}

/// Waits until a condition holds. Returns whether it did within `limit`.
async fn within(limit: Duration, mut holds: impl AsyncFnMut() -> bool) -> bool {
    let poll = async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(limit, poll).await.is_ok()
}
