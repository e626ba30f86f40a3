//! A board that agents cannot reach: the program of its MCP server does not start. That must cost few runs and no attempt, however long nobody
//! repairs it.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use domain::board::card::Card;
use domain::board::wait_reason::WaitReason;
use domain::id::TaskId;
use domain::runs::failure::FailureClass;
use domain::runs::parking::ParkReason;
use domain::runs::run::Run;
use domain::wire::TaskView;
use serde_json::json;
use tokio::time::sleep;

use super::{Outcome, scripted, submitting};

const TASKS: usize = 5;
/// The most runs that ten minutes may cost.
const MAX_RUNS: usize = 3;

/// Breaks the configuration of an agent before it reads it.
const SPOIL: &str =
    r#"for argument; do case "$argument" in */mcp.json) sed -i 's|"command":"[^"]*"|"command":"/nonexistent"|' "$argument";; esac; done"#;

/// Writes a script that starts an agent whose bridge does not start.
///
/// # Errors
/// The script cannot be written.
pub fn write_agent_without_bridge(script: &Path, agent: &[String]) -> io::Result<()> {
    fs::write(script, format!("#!/bin/sh\n{SPOIL}\nexec {} \"$@\"\n", agent.join(" ")))?;
    fs::set_permissions(script, Permissions::from_mode(0o755))
}

/// # Errors
/// The server cannot be started or refuses a request.
pub async fn run(program: &Path, length: Duration) -> io::Result<Outcome> {
    let mut written = Ok(());
    let scenario = submitting(&[], "true");
    let server = scripted(program, &scenario, |options| {
        options.config.max_attempts = 1;
        let script = options.config.worktrees_path.with_file_name("agent.sh");
        written = write_agent_without_bridge(&script, &options.config.agent_command);
        options.config.agent_command = vec![script.display().to_string()];
    });
    let server = server.await?;
    written?;
    let project = server.project("Work", None).await?.id;
    let mut tasks: Vec<TaskId> = Vec::new();
    for number in 0..TASKS {
        let body = json!({"title": format!("Work {number}"), "start": true});
        let view: TaskView = server.post(&format!("/api/projects/{project}/tasks"), &body).await?;
        tasks.push(view.task.card.id);
    }
    let waits = |card: &Card| matches!(card.wait_reason, Some(WaitReason::Parked { reason: ParkReason::McpNotConnected, .. }));
    server.until(&project, "all tasks wait for the board", |board| board.cards.iter().all(|card| card.run.is_none() && waits(card))).await;
    sleep(length).await;

    let (mut outcome, mut runs): (Outcome, Vec<Run>) = (Outcome::default(), Vec::new());
    for task in &tasks {
        runs.extend(server.runs(task).await?);
    }
    let other = runs.iter().find(|run| run.failure.is_some_and(|failure| failure != FailureClass::McpNotConnected));
    outcome.expect(other.is_none(), || format!("another failure: {other:?}"));
    let board = server.board(&project).await?;
    let asking = board.cards.iter().filter(|card| card.attention.is_some()).count();
    outcome.expect(runs.len() <= MAX_RUNS, || format!("{} runs", runs.len()));
    outcome.expect(asking == 0, || format!("{asking} tasks need attention"));
    let (seconds, runs) = (length.as_secs(), runs.len());
    outcome
        .figures
        .push(format!("{TASKS} tasks, {seconds} s with a broken MCP server: {runs} runs, {asking} tasks failed; each card says why it waits"));
    Ok(outcome)
}
