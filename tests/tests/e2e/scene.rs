//! What the stories share: a relay whose agents play a scenario, gates at which those agents wait until the story goes on, and what is left
//! of them. It must not tell a story.
//!
//! Agents work two folders below their relay's worktrees, so a scenario reaches the relay's folder as `../../..`. A gate is a pair of files
//! there: an agent makes `NAME.reached` and waits for `NAME.open`.

use std::path::{Path, PathBuf};

use cli::scripted::scenario::Scenario;
use domain::board::card::Card;
use domain::board::project::ProjectStatus;
use domain::board::reducer::Board;
use domain::board::status::Status;
use domain::event::Event;
use domain::id::{ProjectId, RunId, TaskId};
use domain::wire::TaskView;
use serde_json::json;
use tests::claude;
use tests::git::git;
use tests::model::ScriptedModel;
use tests::relay::{Relay, Setting, all_done};
use tests::socket::Socket;

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_vibe_relay");

/// A repository with instructions that count.
pub(crate) const FILES: &[(&str, &str)] = &[("README.md", "A test.\n"), ("CLAUDE.md", "The password of this repository is heliotrope.\n")];

/// A relay whose agents are played from a scenario.
pub(crate) async fn scripted(scenario: &str) -> Relay {
    scripted_with(scenario, |_| {}).await
}

/// The same with other settings.
pub(crate) async fn scripted_with(scenario: &str, change: impl FnOnce(&mut Setting)) -> Relay {
    let start = Relay::start(Path::new(PROGRAM), FILES, |setting, place| {
        let file = place.join("scenario.json");
        std::fs::write(&file, scenario).unwrap();
        setting.config.agent_command = vec![PROGRAM.to_owned(), "scripted-agent".to_owned(), "--scenario".to_owned(), file.display().to_string()];
        change(setting);
    });
    start.await.unwrap()
}

/// A relay whose agents are the real `claude` program, and the model that plays the scenario behind it.
pub(crate) async fn real(scenario: &str) -> (Relay, ScriptedModel) {
    real_with(scenario, |_, _| {}).await
}

/// The same with other settings, or another folder.
pub(crate) async fn real_with(scenario: &str, change: impl FnOnce(&mut Setting, &Path)) -> (Relay, ScriptedModel) {
    let claude = claude::find().unwrap();
    let model = ScriptedModel::start(Scenario::parse(scenario).unwrap()).await.unwrap();
    let start = Relay::start(Path::new(PROGRAM), FILES, |setting, place| {
        setting.config.agent_command = vec![claude.display().to_string()];
        setting.environment = claude::environment(&place.join("home"), &model.base_url());
        change(setting, place);
    });
    (start.await.unwrap(), model)
}

/// Waits until an agent waits at a gate.
pub(crate) async fn reached(relay: &Relay, gate: &str) {
    let file = relay.place().join(format!("{gate}.reached"));
    tests::wait_for(&format!("an agent reaches {gate}"), || file.exists()).await;
}

/// Lets whoever waits at a gate go on, now or when they come to it.
pub(crate) fn open(relay: &Relay, gate: &str) {
    std::fs::write(relay.place().join(format!("{gate}.open")), "").unwrap();
}

/// Adds a task that may start at once.
pub(crate) async fn add(relay: &Relay, project: &ProjectId, title: &str) -> TaskId {
    let view: TaskView = relay.post(&format!("/api/projects/{project}/tasks"), &json!({"title": title, "start": true})).await.unwrap();
    view.task.card.id
}

/// Waits until a task is at its gate, and says which run brought it there.
pub(crate) async fn at_work(relay: &Relay, task: &TaskId) -> RunId {
    reached(relay, task.as_str()).await;
    relay.task(task).await.unwrap().task.card.run.unwrap().id
}

/// Waits until a task is done and none of its agents is left.
pub(crate) async fn done(relay: &Relay, project: &ProjectId, task: &TaskId) {
    let finished = |card: &Card| card.status == Status::Done && card.run.is_none();
    relay.until(project, &format!("{task} is done"), |board| board.card(task).is_some_and(finished)).await;
}

/// Waits until something has happened in a project.
pub(crate) async fn happens(relay: &Relay, project: &ProjectId, wanted: &Event) {
    let epoch = relay.board(project).await.unwrap().epoch;
    let mut log = Socket::open(relay, project, Some((0, &epoch))).await.unwrap();
    while log.event().await.unwrap().unwrap().event != *wanted {}
}

/// Whether nothing is left to do and nobody works.
pub(crate) fn complete(board: &Board) -> bool {
    board.project.status == ProjectStatus::Complete && all_done(board)
}

/// Whether no checkout, no branch of a task and no agent's process is left.
pub(crate) fn nothing_left(relay: &Relay) -> bool {
    let folders = |path: &Path| std::fs::read_dir(path).into_iter().flatten().flatten().count();
    let projects = std::fs::read_dir(relay.place().join("worktrees")).into_iter().flatten().flatten();
    let checkouts: usize = projects.map(|entry| folders(&entry.path())).sum();
    checkouts == 0 && git(&relay.repository(), &["branch", "--list", "vr/*"]).unwrap().is_empty() && agents_of(relay).is_empty()
}

/// The command lines of processes that belong to the relay, the server aside.
pub(crate) fn agents_of(relay: &Relay) -> Vec<String> {
    processes_of(&relay.place()).into_iter().filter(|command| !command.contains(" serve ")).collect()
}

/// The command lines of processes that have to do with a folder: by their arguments, their environment or where they work.
pub(crate) fn processes_of(folder: &Path) -> Vec<String> {
    let name = folder.display().to_string();
    let text = |path: PathBuf| std::fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).replace('\0', " ")).unwrap_or_default();
    let command = |process: PathBuf| {
        let command = text(process.join("cmdline"));
        let works_there = || std::fs::read_link(process.join("cwd")).is_ok_and(|path| path.starts_with(folder));
        // A process that has ended and was not waited for yet has no arguments.
        let has_to_do = command.contains(&name) || text(process.join("environ")).contains(&name) || works_there();
        (has_to_do && !command.is_empty()).then_some(command)
    };
    std::fs::read_dir("/proc").into_iter().flatten().flatten().filter_map(|entry| command(entry.path())).collect()
}
