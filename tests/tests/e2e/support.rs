//! Shared parts of the stories: a server whose agents play a scenario, gates where those agents wait for the test, and checks for leftovers.
//! It must not contain a story.
//!
//! Agents work two folders below the worktrees, so a scenario reaches the test's folder as `../../..`. A gate is a pair of files there: an
//! agent creates `NAME.reached` and waits for `NAME.open`.

use std::path::{Path, PathBuf};

use cli::scripted::scenario::Scenario;
use domain::board::card::Card;
use domain::board::project::ProjectStatus;
use domain::board::reducer::Board;
use domain::board::status::Status;
use domain::event::Event;
use domain::id::{ProjectId, RunId, TaskId};
use domain::wire::TaskView;
use serde_json::{Value, json};
use tests::claude;
use tests::git::git;
use tests::model::ScriptedModel;
use tests::server::{ServerOptions, TestServer, all_done};
use tests::socket::Socket;

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_vibe_relay");

/// A repository whose `CLAUDE.md` must reach the agents.
pub(crate) const FILES: &[(&str, &str)] = &[("README.md", "A test.\n"), ("CLAUDE.md", "The password of this repository is heliotrope.\n")];

/// Starts a server whose agents play a scenario.
pub(crate) async fn scripted(scenario: &str) -> TestServer {
    scripted_with(scenario, |_| {}).await
}

/// The same with changed options.
pub(crate) async fn scripted_with(scenario: &str, change: impl FnOnce(&mut ServerOptions)) -> TestServer {
    scripted_in(scenario, |options, _| change(options)).await
}

/// The same with changed options or files.
pub(crate) async fn scripted_in(scenario: &str, change: impl FnOnce(&mut ServerOptions, &Path)) -> TestServer {
    let start = TestServer::start(Path::new(PROGRAM), FILES, |options, root| {
        let file = root.join("scenario.json");
        std::fs::write(&file, scenario).unwrap();
        options.config.agent_command = vec![PROGRAM.to_owned(), "scripted-agent".to_owned(), "--scenario".to_owned(), file.display().to_string()];
        change(options, root);
    });
    start.await.unwrap()
}

/// Starts a server whose agents are the real `claude` program, and the scripted model behind it.
pub(crate) async fn real(scenario: &str) -> (TestServer, ScriptedModel) {
    real_with(scenario, |_, _| {}).await
}

/// The same with changed options or files.
pub(crate) async fn real_with(scenario: &str, change: impl FnOnce(&mut ServerOptions, &Path)) -> (TestServer, ScriptedModel) {
    let claude = claude::find().unwrap();
    let model = ScriptedModel::start(Scenario::parse(scenario).unwrap()).await.unwrap();
    let start = TestServer::start(Path::new(PROGRAM), FILES, |options, root| {
        options.config.agent_command = vec![claude.display().to_string()];
        options.environment = claude::environment(&root.join("home"), &model.base_url());
        change(options, root);
    });
    (start.await.unwrap(), model)
}

/// A turn of the scripted model: a text, and one call of a tool.
pub(crate) fn tool(text: &str, tool: &str, input: &Value) -> Value {
    json!({"text": text, "calls": [{"tool": tool, "input": input}]})
}

/// A turn of the scripted model that runs a command.
pub(crate) fn bash(text: &str, command: &str) -> Value {
    tool(text, "Bash", &json!({"command": command}))
}

/// Waits until an agent waits at a gate.
pub(crate) async fn reached(server: &TestServer, gate: &str) {
    let file = server.root().join(format!("{gate}.reached"));
    tests::wait_for(&format!("an agent reaches {gate}"), || file.exists()).await;
}

/// Opens a gate for the agents that wait there or arrive later.
pub(crate) fn open(server: &TestServer, gate: &str) {
    std::fs::write(server.root().join(format!("{gate}.open")), "").unwrap();
}

/// Adds a task that is not held.
pub(crate) async fn add(server: &TestServer, project: &ProjectId, title: &str) -> TaskId {
    let view: TaskView = server.post(&format!("/api/projects/{project}/tasks"), &json!({"title": title, "start": true})).await.unwrap();
    view.task.card.id
}

/// Waits until a task's agent is at its gate, and returns the run.
pub(crate) async fn at_work(server: &TestServer, task: &TaskId) -> RunId {
    reached(server, task.as_str()).await;
    server.task(task).await.unwrap().task.card.run.unwrap().id
}

/// Waits until a task is done and its agents have exited.
pub(crate) async fn done(server: &TestServer, project: &ProjectId, task: &TaskId) {
    let finished = |card: &Card| card.status == Status::Done && card.run.is_none();
    server.until(project, &format!("{task} is done"), |board| board.card(task).is_some_and(finished)).await;
}

/// Waits until the project's log contains an event.
pub(crate) async fn happens(server: &TestServer, project: &ProjectId, wanted: &Event) {
    let epoch = server.board(project).await.unwrap().epoch;
    let mut log = Socket::open(server, project, Some((0, &epoch))).await.unwrap();
    while log.event().await.unwrap().unwrap().event != *wanted {}
}

/// Whether the project is complete and no agent is running.
pub(crate) fn complete(board: &Board) -> bool {
    board.project.status == ProjectStatus::Complete && all_done(board)
}

/// Whether all checkouts, task branches and agent processes are gone.
pub(crate) fn nothing_left(server: &TestServer) -> bool {
    let folders = |path: &Path| std::fs::read_dir(path).into_iter().flatten().flatten().count();
    let projects = std::fs::read_dir(server.root().join("worktrees")).into_iter().flatten().flatten();
    let checkouts: usize = projects.map(|entry| folders(&entry.path())).sum();
    checkouts == 0 && git(&server.repository(), &["branch", "--list", "vr/*"]).unwrap().is_empty() && agents_of(server).is_empty()
}

/// The command lines of all processes of the server except the server itself.
pub(crate) fn agents_of(server: &TestServer) -> Vec<String> {
    processes_of(&server.root()).into_iter().filter(|command| !command.contains(" serve ")).collect()
}

/// The command lines of processes that name a folder in their arguments or environment, or work in it.
pub(crate) fn processes_of(folder: &Path) -> Vec<String> {
    let name = folder.display().to_string();
    let text = |path: PathBuf| std::fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).replace('\0', " ")).unwrap_or_default();
    let command = |process: PathBuf| {
        let command = text(process.join("cmdline"));
        let works_there = || std::fs::read_link(process.join("cwd")).is_ok_and(|path| path.starts_with(folder));
        // A zombie process has no arguments.
        let has_to_do = command.contains(&name) || text(process.join("environ")).contains(&name) || works_there();
        (has_to_do && !command.is_empty()).then_some(command)
    };
    std::fs::read_dir("/proc").into_iter().flatten().flatten().filter_map(|entry| command(entry.path())).collect()
}
