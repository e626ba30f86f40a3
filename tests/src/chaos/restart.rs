//! A restart of the machine while agents work, imitated: the server and all processes of its agents are killed, and the next server finds
//! another boot id. No work may be lost and no attempt be used.

use std::io;
use std::path::Path;

use domain::board::card::Card;
use domain::board::reducer::Board;
use domain::board::status::Status;
use domain::id::TaskId;
use domain::runs::agent_kind::AgentKind;
use domain::runs::failure::EndClass;
use domain::runs::run::Run;
use domain::wire::TaskView;
use serde_json::json;
use sqlx::ConnectOptions;
use sqlx::sqlite::SqliteConnectOptions;

use super::{Outcome, scripted, submitting};
use crate::server::TestServer;

/// The agents write a file before the restart, and submit it in their next session.
const BEFORE: &str = "echo before > {{task_id}}.txt; touch ../../../{{task_id}}.reached; sleep 600";
const AFTER: &str = "grep -q before {{task_id}}.txt && git add -A && git commit -qm '{{title}}'";

const AGENTS: usize = 3;

/// # Errors
/// The server cannot be started or refuses a request.
pub async fn run(program: &Path) -> io::Result<Outcome> {
    // One attempt is allowed, so a used one would stop the task.
    let first =
        json!({"phase": "coder", "attempt": 1, "turns": [{"calls": [{"tool": "Bash", "input": {"command": BEFORE}}]}, {"text": "Never said."}]});
    let mut server = scripted(program, &submitting(&[first], AFTER), |options| options.config.max_attempts = 1).await?;
    let project = server.project("Work", None).await?.id;
    let mut tasks: Vec<TaskId> = Vec::new();
    for number in 0..AGENTS {
        let body = json!({"title": format!("Work {number}"), "start": true});
        let view: TaskView = server.post(&format!("/api/projects/{project}/tasks"), &body).await?;
        tasks.push(view.task.card.id);
    }
    for task in &tasks {
        let file = server.root().join(format!("{task}.reached"));
        crate::wait_for(&format!("an agent works on {task}"), || file.exists()).await;
    }
    server.kill().await?;
    server.kill_agents();
    forget_boot(&server).await?;
    server.serve().await?;
    let done = |card: &Card| card.status == Status::Done && card.run.is_none();
    server.until(&project, "all work is done", |board: &Board| tasks.iter().all(|task| board.card(task).is_some_and(done))).await;

    let (mut outcome, mut continued, mut used_attempts) = (Outcome::default(), 0, 0);
    for task in &tasks {
        let runs = server.runs(task).await?;
        let coders: Vec<&Run> = runs.iter().filter(|run| run.phase == AgentKind::Coder).collect();
        let ends: Vec<Option<EndClass>> = coders.iter().map(|run| run.end_class).collect();
        let continues = ends == [Some(EndClass::Parked), Some(EndClass::Finished)] && coders[0].session_id == coders[1].session_id;
        outcome.expect(continues, || format!("{task} was not continued: {coders:?}"));
        continued += usize::from(continues);
        used_attempts += coders.iter().filter(|run| run.attempt > 1).count();
    }
    outcome.expect(used_attempts == 0, || format!("{used_attempts} attempts used"));
    outcome.figures.push(format!(
        "{AGENTS} agents at work when the machine restarted: {continued} continued their sessions and files, {used_attempts} attempts used"
    ));
    Ok(outcome)
}

/// Replaces the recorded boot id, as if the machine had been started since.
async fn forget_boot(server: &TestServer) -> io::Result<()> {
    let options = SqliteConnectOptions::new().filename(server.root().join("data/vibe-relay.db"));
    let mut database = options.connect().await.map_err(io::Error::other)?;
    let changed = sqlx::query("UPDATE agent_runs SET boot_id = 'an earlier start' WHERE completed_at IS NULL").execute(&mut database).await;
    changed.map(drop).map_err(io::Error::other)
}
