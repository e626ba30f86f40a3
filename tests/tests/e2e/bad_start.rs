//! A server that cannot start reports the reason and the next step at once, and changes nothing.

use std::process::Stdio;
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions, Connection};
use tests::server::TestServer;
use tokio::net::TcpListener;
use tokio::process::Command;

use crate::support;

const NO_AGENTS: &str = r#"{"parts": []}"#;

/// The error output of a command that fails.
async fn error_output(server: &TestServer, arguments: &[&str]) -> String {
    error_output_of(server.command(arguments)).await
}

async fn error_output_of(mut command: Command) -> String {
    let output = tokio::time::timeout(Duration::from_secs(10), command.stdin(Stdio::null()).output()).await.unwrap().unwrap();
    assert!(matches!(output.status.code(), Some(1 | 3)), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "", "it did not say that it listens");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

async fn stopped() -> TestServer {
    let mut server = support::scripted(NO_AGENTS).await;
    assert!(server.stop().await.unwrap().success());
    server
}

#[tokio::test]
async fn invalid_configuration_is_refused_with_a_suggestion() {
    let server = stopped().await;
    let config = server.root().join("config.json");
    let text = std::fs::read_to_string(&config).unwrap();
    for (wrong, wanted) in [
        (text.replace("max_parallel_agents", "max_paralel_agents"), "unknown key \"max_paralel_agents\": did you mean \"max_parallel_agents\"?"),
        (text.replace("\"max_attempts\":3", "\"max_attempts\":0"), "\"max_attempts\": expected an integer from 1 to 20, found 0"),
        (text.replace('}', ""), "the configuration is not valid JSON"),
    ] {
        std::fs::write(&config, wrong).unwrap();
        let said = error_output(&server, &["serve", "--no-open", "--port", "0"]).await;
        assert!(said.contains(wanted) && said.contains(&*config.to_string_lossy()), "{said}");
    }
    std::fs::remove_file(&config).unwrap();
    let said = error_output(&server, &["serve", "--no-open", "--port", "0"]).await;
    assert!(said.contains("does not exist; run `vibe-relay init`"), "{said}");
}

#[tokio::test]
async fn port_in_use_is_named_before_the_database_is_touched() {
    let server = stopped().await;
    let database = server.root().join("data/vibe-relay.db");
    std::fs::remove_file(&database).unwrap();
    let other = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let port = other.local_addr().unwrap().port().to_string();
    let said = error_output(&server, &["serve", "--no-open", "--port", &port]).await;
    assert!(said.contains(&format!("port {port} is in use by another program")) && said.contains("choose another with --port"), "{said}");
    assert!(!database.exists(), "a database is created, or migrated, only by a server that listens");
}

#[tokio::test]
async fn server_that_can_only_fail_is_refused() {
    let server = stopped().await;
    let (root, file) = (server.root(), server.root().join("config.json"));
    let mut config: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let worktrees = config["worktrees_path"].take();
    config["worktrees_path"] = root.join("config.json").display().to_string().into();
    std::fs::write(&file, config.to_string()).unwrap();
    let said = error_output(&server, &["serve", "--no-open", "--port", "0"]).await;
    assert!(said.contains("the board cannot start") && said.contains("set \"worktrees_path\" to another folder"), "{said}");

    config["worktrees_path"] = worktrees;
    let database = config["db_path"].take();
    std::fs::create_dir(root.join("third")).unwrap();
    std::fs::write(root.join("third/logs"), "").unwrap();
    config["db_path"] = root.join("third/board.db").display().to_string().into();
    std::fs::write(&file, config.to_string()).unwrap();
    let said = error_output(&server, &["serve", "--no-open", "--port", "0"]).await;
    assert!(said.contains("the board cannot start") && said.contains("the log cannot be stored there; move that file"), "{said}");

    config["db_path"] = database;
    config["prompts_path"] = "prompts".into();
    std::fs::write(&file, config.to_string()).unwrap();
    let said = error_output(&server, &["serve", "--no-open", "--port", "0"]).await;
    assert!(said.contains("/prompts does not exist; create it, or correct or remove \"prompts_path\""), "{said}");
    std::fs::create_dir_all(root.join("prompts/reminder")).unwrap();
    std::fs::write(root.join("prompts/reminder/resume.md"), "\n").unwrap();
    let said = error_output(&server, &["serve", "--no-open", "--port", "0"]).await;
    assert!(said.contains("reminder/resume.md is empty; write its text"), "{said}");
    let checks = server.command(&["doctor", "--json"]).output().await.unwrap();
    let checks: Vec<serde_json::Value> = serde_json::from_slice(&checks.stdout).unwrap();
    let prompts = checks.iter().find(|check| check["name"] == "prompts").unwrap();
    assert_eq!(prompts["result"], "fix", "doctor says the same: {prompts}");
}

#[tokio::test]
async fn missing_repository_branch_and_program_of_the_configuration_are_refused() {
    let server = stopped().await;
    let file = server.root().join("config.json");
    let valid: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    for (key, value, problem) in [
        ("repo_path", serde_json::json!(server.root().join("data")), "is not inside a git repository"),
        ("repo_path", "/nonexistent".into(), "/nonexistent"),
        ("base_branch", "nope".into(), "nope"),
        ("agent_command", serde_json::json!(["/nonexistent/agent"]), "\"/nonexistent/agent\" does not exist"),
    ] {
        let mut config = valid.clone();
        config[key] = value;
        std::fs::write(&file, config.to_string()).unwrap();
        let said = error_output(&server, &["serve", "--no-open", "--port", "0"]).await;
        assert!(said.contains("the board cannot start") && said.contains(problem), "{key}: {said}");
        let checks = server.command(&["doctor", "--json"]).output().await.unwrap();
        let checks: Vec<serde_json::Value> = serde_json::from_slice(&checks.stdout).unwrap();
        let says_the_same =
            |check: &serde_json::Value| check["result"] == "fix" && said.contains(check["detail"].as_str().unwrap().trim_end_matches('.'));
        assert!(checks.iter().any(says_the_same), "{key}: {checks:?}");
    }
}

#[tokio::test]
async fn second_server_on_a_database_names_the_first() {
    let server = support::scripted(NO_AGENTS).await;
    let said = error_output(&server, &["serve", "--no-open", "--port", "0"]).await;
    let first = format!("the board is already running at {} (process {})", server.url, server.server_id().unwrap());
    assert!(said.contains(&first) && said.contains("`vibe-relay open`"), "{said}");
    server.project("Still served", None).await.unwrap();
}

#[tokio::test]
async fn database_of_newer_version_is_not_modified() {
    let server = stopped().await;
    let database = server.root().join("data/vibe-relay.db");
    let options = SqliteConnectOptions::new().filename(&database);
    let mut newer: SqliteConnection = options.connect().await.unwrap();
    let migration = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) VALUES (99, 'later', 1, x'00', 0)";
    sqlx::query(migration).execute(&mut newer).await.unwrap();
    newer.close().await.unwrap();
    let before = std::fs::read(&database).unwrap();
    let said = error_output(&server, &["serve", "--no-open", "--port", "0"]).await;
    assert!(said.contains("was written by a newer vibe-relay (schema 99, this one knows 1)") && said.contains("run that version"), "{said}");
    assert_eq!(std::fs::read(&database).unwrap(), before);
}

#[tokio::test]
async fn command_without_server_explains_how_to_start_one() {
    let server = stopped().await;
    let said = error_output(&server, &["project", "list"]).await;
    assert!(said.contains("no board is running") && said.contains("vibe-relay serve"), "{said}");
}

/// A bridge without a token acts for the human, and configurations of dead drop have no token, so the bridge must refuse them.
#[tokio::test]
async fn dead_drop_configuration_does_not_act_as_the_human() {
    let server = support::scripted(NO_AGENTS).await;
    let database = server.root().join("data/vibe-relay.db");
    for ours in [false, true] {
        let mut bridge = server.command(&["mcp"]);
        bridge.env("DEAD_DROP_DB_PATH", &database);
        if ours {
            bridge.env("VIBE_RELAY_DB", &database);
        }
        let said = error_output_of(bridge).await;
        assert!(said.contains("DEAD_DROP_DB_PATH") && said.contains("vibe-relay token new --agent NAME --role ROLE"), "{said}");
        assert!(said.contains("VIBE_RELAY_TOKEN"), "{said}");
    }
    // With a token, the dead drop variables replace ours. The bridge exits because its client closes stdin.
    let mut bridge = server.command(&["mcp"]);
    bridge.env("DEAD_DROP_DB_PATH", &database).env("DEAD_DROP_ROOM_TOKEN", "any").stdin(Stdio::null());
    let output = tokio::time::timeout(Duration::from_secs(10), bridge.output()).await.unwrap().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("DEAD_DROP_ROOM_TOKEN is the token (here: VIBE_RELAY_TOKEN)"), "{said}");
}
