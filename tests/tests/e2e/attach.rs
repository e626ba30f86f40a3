//! A person attaches their own Claude Code, which then creates, starts and follows a task for them, and decides nothing.

use std::os::unix::fs::PermissionsExt;

use domain::board::status::Status;
use domain::id::TaskId;
use domain::wire::NewProject;
use serde_json::Value;
use tests::claude;
use tests::git::repository;

use crate::support;

const SCENARIO: &str = include_str!("../../scenarios/attach.json");

/// The scripted model plays the part of this phase.
const PROMPT: &str = "<issue>\nTask: none\nTitle: An errand\nPhase: planner\n</issue>\nLet the board do the errand.";

#[tokio::test]
async fn attached_claude_works_on_the_board_and_takes_no_decision() {
    let program = claude::find().unwrap();
    let folder = program.parent().unwrap().display().to_string();
    let (server, model) = support::real_with(SCENARIO, |options, _| {
        for (name, value) in &mut options.environment {
            if name == "PATH" {
                *value = format!("{folder}:{value}");
            }
        }
    })
    .await;
    let project = server.project("Errands", None).await.unwrap().id;
    // A second project, on another repository: the folder of the client decides.
    let elsewhere = server.root().join("elsewhere");
    repository(&elsewhere, &[("README.md", "Another")]).unwrap();
    let other =
        NewProject { title: "Another".to_owned(), repo_path: Some(elsewhere.display().to_string()), plan: Some(false), ..NewProject::default() };
    let _: Value = server.post("/api/projects", &other).await.unwrap();

    let attached = server.command(&["attach"]).output().await.unwrap();
    let printed = String::from_utf8(attached.stdout).unwrap();
    assert!(attached.status.success() && printed.contains("Claude Code knows the board as vibe-relay"), "{printed}");
    let file = server.root().join("data/companion");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let token = std::fs::read_to_string(&file).unwrap();
    let registered = std::fs::read_to_string(server.root().join("home/.claude.json")).unwrap();
    assert!(registered.contains("--companion") && !registered.contains(token.trim()), "{registered}");

    #[expect(clippy::disallowed_methods, reason = "a test starts the program as a person does")]
    let mut own = tokio::process::Command::new(&program);
    own.args(["--print", PROMPT, "--allowedTools", "mcp__vibe-relay"]).current_dir(server.repository());
    own.env_clear().envs(claude::environment(&server.root().join("home"), &model.base_url())).kill_on_drop(true);
    let output = own.output().await.unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("The errand is done."), "{output:?}");

    let task = server.task(&TaskId::new(1)).await.unwrap().task;
    assert_eq!((task.card.status, &task.card.project_id), (Status::Done, &project), "it is on the project of the folder");
    assert_eq!(task.card.contributors.verified_by, None);
    let seen = model.requests_of("planner").last().unwrap().text();
    assert!(seen.contains("The wait is over."), "{seen}");
    assert!(seen.contains("verify_task") && server.task(&TaskId::new(1)).await.unwrap().task.card.contributors.approved_by.is_some());
}

#[tokio::test]
async fn attach_prints_the_command_where_claude_is_missing() {
    let server = support::scripted(r#"{"parts": []}"#).await;
    let mut command = server.command(&["attach"]);
    let attached = command.env("PATH", "/nonexistent").output().await.unwrap();
    let printed = String::from_utf8(attached.stdout).unwrap();
    assert!(attached.status.success() && printed.starts_with("claude mcp add --scope user vibe-relay -e VIBE_RELAY_DB="), "{printed}");
    assert!(String::from_utf8(attached.stderr).unwrap().contains("did not register the board"), "the reason");
}
