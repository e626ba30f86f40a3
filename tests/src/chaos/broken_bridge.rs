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
use domain::runs::parking::ParkReason;
use domain::runs::run::Run;
use domain::wire::TaskView;
use serde_json::json;
use tokio::time::sleep;

use super::{Outcome, scripted, submitting};

/// How many agents may work at once.
const AGENTS: usize = 3;
/// The most runs that ten minutes may cost: the first, and two probes.
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
    let mut outcome = Outcome::default();
    // Agents that start at the same time know nothing of each other.
    let (one, several) = tokio::join!(runs(program, length, 1), runs(program, length, AGENTS));
    for (tasks, (runs, asking), max_runs) in [(1, one?, MAX_RUNS), (AGENTS, several?, MAX_RUNS - 1 + AGENTS)] {
        outcome.expect(runs <= max_runs, || format!("{runs} runs of {tasks} tasks"));
        outcome.expect(asking == 0, || format!("{asking} of {tasks} tasks need attention"));
        outcome.figures.push(format!(
            "{tasks} {}, {} s with a broken MCP server: {runs} runs, {asking} tasks failed; each card says why it waits",
            if tasks == 1 { "task" } else { "tasks" },
            length.as_secs()
        ));
    }
    Ok(outcome)
}

/// Returns the number of runs that tasks without a board cost in this time, and how many of the tasks need attention.
async fn runs(program: &Path, length: Duration, tasks: usize) -> io::Result<(usize, usize)> {
    let mut written = Ok(());
    let scenario = submitting(&[], "true");
    let server = scripted(program, &scenario, |options| {
        options.config.max_attempts = 1;
        options.config.max_parallel_agents = u32::try_from(AGENTS).unwrap_or(u32::MAX);
        let script = options.config.worktrees_path.with_file_name("agent.sh");
        written = write_agent_without_bridge(&script, &options.config.agent_command);
        options.config.agent_command = vec![script.display().to_string()];
    });
    let server = server.await?;
    written?;
    let project = server.project("Work", None).await?.id;
    let mut ids: Vec<TaskId> = Vec::new();
    for number in 0..tasks {
        let body = json!({"title": format!("Work {number}"), "start": true});
        let view: TaskView = server.post(&format!("/api/projects/{project}/tasks"), &body).await?;
        ids.push(view.task.card.id);
    }
    let waits = |card: &Card| matches!(card.wait_reason, Some(WaitReason::Parked { reason: ParkReason::McpNotConnected, .. }));
    server.until(&project, "all tasks wait for the board", |board| board.cards.iter().all(|card| card.run.is_none() && waits(card))).await;
    sleep(length).await;
    let mut runs: Vec<Run> = Vec::new();
    for task in &ids {
        runs.extend(server.runs(task).await?);
    }
    let board = server.board(&project).await?;
    Ok((runs.len(), board.cards.iter().filter(|card| card.attention.is_some()).count()))
}
