//! `--json` prints data as the HTTP interface describes it, and exit codes and lost output say how a command ended.

use std::process::Stdio;

use api::testing::ResponseValidator;
use domain::board::status::Status;
use domain::wire::Problem;
use serde_json::{Value, json};
use tests::server::TestServer;

use crate::support;

/// Commands with the schema of what they print. A list prints one array, whose items have the schema.
const ONE: &[(&str, &str)] = &[
    ("project show 1", "BoardView"),
    ("project edit PROJ-001 --title Letters", "Project"),
    ("project budget proj-1 50", "Project"),
    ("task add 1 Second --depends-on 1 --priority 2", "TaskView"),
    ("task edit 2 --title Renamed --depends-on=", "TaskView"),
    ("task comment 1 Hello", "CommentView"),
    ("task move 2 cancelled --reason obsolete", "TaskView"),
    ("task stop 1", "TaskView"),
    ("task start 1", "TaskView"),
    ("person add ann", "Person"),
    ("person role ann viewer", "Person"),
    ("token new --agent mara --role builder --project 1", "CreatedToken"),
    ("profile show 1", "Profile"),
    ("report --since 1d", "Report"),
    ("open --print", "SignInLink"),
];
const LISTS: &[(&str, &str)] = &[
    ("project list", "Project"),
    ("task list 1 --all", "Card"),
    ("person list", "Person"),
    ("token list", "Token"),
    ("audit list", "AuditRow"),
    ("session list", "BrowserSession"),
    ("rescue list 1", "Rescue"),
];

async fn board() -> TestServer {
    let server = support::scripted(r#"{"parts": []}"#).await;
    let project = server.project("Letters", None).await.unwrap().id;
    let task = json!({"title": "First"});
    let _: Value = server.post(&format!("/api/projects/{project}/tasks"), &task).await.unwrap();
    server
}

/// Runs a command with `--json` and returns its only line.
async fn printed(server: &TestServer, line: &str) -> String {
    let arguments: Vec<&str> = line.split(' ').chain(["--json"]).collect();
    let output = server.command(&arguments).output().await.unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(text.lines().count(), 1, "{line}: {text}");
    text
}

#[tokio::test]
async fn data_fits_the_schemas_of_the_http_interface() {
    let server = board().await;
    let validator = ResponseValidator::new(server.get("/api/openapi.json").await.unwrap());
    for (line, schema) in ONE {
        let text = printed(&server, line).await;
        validator.check_component(schema, text.as_bytes()).unwrap_or_else(|problem| panic!("{line}: {problem}"));
    }
    for (line, schema) in LISTS {
        let items: Vec<Value> = serde_json::from_str(&printed(&server, line).await).unwrap();
        for item in items {
            validator.check_component(schema, item.to_string().as_bytes()).unwrap_or_else(|problem| panic!("{line}: {problem}"));
        }
    }
    let shown: Value = serde_json::from_str(&printed(&server, "task show task-1").await).unwrap();
    validator.check_component("TaskView", shown["task"].to_string().as_bytes()).unwrap();
    assert_eq!(shown["comments"].as_array().unwrap().len(), 1);
    assert!(shown["runs"].is_array(), "{shown}");
    let version: Value = serde_json::from_str(&printed(&server, "version").await).unwrap();
    assert_eq!(version["version"], env!("CARGO_PKG_VERSION"), "{version}");
    let checks: Vec<Value> = serde_json::from_slice(&server.command(&["doctor", "--json"]).output().await.unwrap().stdout).unwrap();
    let names: Vec<&str> = checks.iter().filter_map(|check| check["name"].as_str()).collect();
    assert_eq!(
        names,
        [
            "folders",
            "config",
            "prompts",
            "data",
            "logs",
            "worktrees",
            "database",
            "port",
            "git",
            "agent",
            "sign-in",
            "settings",
            "sandbox",
            "disk",
            "repository",
            "board"
        ]
    );
}

#[tokio::test]
async fn exit_code_says_why_a_command_failed() {
    let mut server = board().await;
    let code = async |server: &TestServer, line: &str| {
        let output = server.command(&line.split(' ').collect::<Vec<_>>()).output().await.unwrap();
        assert!(!output.stderr.is_empty(), "{line} gives a reason");
        output.status.code()
    };
    assert_eq!(code(&server, "task show nothing").await, Some(2));
    assert_eq!(code(&server, "task edit 1 --depends-on nothing").await, Some(2));
    assert_eq!(code(&server, "task edit 1").await, Some(2));
    assert_eq!(code(&server, "task move 1 nowhere").await, Some(2));
    assert_eq!(code(&server, "task show 99").await, Some(4));
    assert_eq!(code(&server, "person role nobody viewer").await, Some(4));
    server.kill().await.unwrap();
    assert_eq!(code(&server, "task show 1").await, Some(3));
}

#[tokio::test]
async fn refusal_is_json_with_its_code_and_next_step() {
    let mut server = board().await;
    let refused = async |server: &TestServer, line: &str| -> Value {
        let output = server.command(&line.split(' ').chain(["--json"]).collect::<Vec<_>>()).output().await.unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && output.stdout.is_empty(), "{line}: {text}");
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{line}: {error}: {text}"))
    };
    let illegal = refused(&server, "task move 1 done").await;
    let problem: Problem = serde_json::from_value(illegal).unwrap();
    assert_eq!((problem.code.as_str(), problem.from), ("illegal-move", Some(Status::Backlog)));
    assert!(problem.hint.contains("you can move it to in_progress") && !problem.allowed.is_empty(), "{problem:?}");
    assert_eq!(refused(&server, "task show nothing").await["code"], "usage");
    assert_eq!(refused(&server, "task show").await["code"], "usage");
    server.kill().await.unwrap();
    assert_eq!(refused(&server, "task show 1").await["code"], "not-running");
}

#[tokio::test]
async fn output_that_cannot_be_written_is_an_error() {
    let server = board().await;
    for line in ["project list", "--help", "help task", "--version", "tail --json"] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let mut command = server.command(&line.split(' ').collect::<Vec<_>>());
        let output = command.stdout(full).stderr(Stdio::piped()).spawn().unwrap().wait_with_output().await.unwrap();
        assert_eq!(output.status.code(), Some(1), "{line}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("the output could not be written"), "{line}: {output:?}");
    }
}

#[tokio::test]
async fn texts_are_read_from_standard_input_and_empty_lists_say_so() {
    use tokio::io::AsyncWriteExt;
    let server = board().await;
    let mut process = server.command(&["task", "comment", "1", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    process.stdin.take().unwrap().write_all(b"Two\nlines\n").await.unwrap();
    assert!(process.wait_with_output().await.unwrap().status.success());
    let shown = server.command(&["task", "show", "1"]).output().await.unwrap();
    assert!(String::from_utf8_lossy(&shown.stdout).contains("  Two\n  lines"), "{shown:?}");
    let listed = server.command(&["task", "list", "1", "--needs-you"]).output().await.unwrap();
    assert!(listed.stdout.is_empty() && String::from_utf8_lossy(&listed.stderr).starts_with("No task of PROJ-001 waits for you."), "{listed:?}");
    let none = server.command(&["task", "comment", "1", "-"]).stdin(Stdio::null()).output().await.unwrap();
    assert!(!none.status.success() && String::from_utf8_lossy(&none.stderr).contains("is empty"), "{none:?}");
    let quiet = server.command(&["task", "list", "1", "--needs-you", "--quiet"]).output().await.unwrap();
    assert!(quiet.stderr.is_empty(), "{quiet:?}");
}
