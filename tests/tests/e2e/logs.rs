//! A server tells what it does: on the terminal, in its log file, and to a monitoring system.

use std::process::Stdio;
use std::time::Duration;

use domain::wire::HealthResponse;
use serde_json::json;
use tests::client::Client;
use tokio::io::{AsyncBufReadExt, BufReader};

use crate::support;

#[tokio::test]
async fn parked_agents_are_announced_logged_and_measured() {
    let server = support::scripted(include_str!("../../scenarios/board.json")).await;
    let root = server.root();
    let (config, program) = (root.join("other.json"), root.join("agent"));
    let text =
        json!({"db_path": root.join("other/board.db"), "agent_command": [program], "repo_path": server.repository(), "log": "info,runner=debug"});
    std::fs::write(&config, text.to_string()).unwrap();
    std::os::unix::fs::symlink(support::PROGRAM, &program).unwrap();
    let mut command = server.command(&["serve", "--no-open", "--port", "0", "--config"]);
    let mut process = command.arg(&config).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
    let mut line = async |start: &str| {
        let next = async {
            loop {
                let line = lines.next_line().await.unwrap().expect("the server ended");
                if let Some(rest) = line.strip_prefix(start) {
                    return rest.to_owned();
                }
            }
        };
        tokio::time::timeout(Duration::from_secs(60), next).await.unwrap_or_else(|_| panic!("no line begins with {start}"))
    };
    let url = line("listening on ").await;
    std::fs::remove_file(&program).unwrap();
    let log = line("log ").await;
    assert_eq!(log, root.join("other/logs/board.log").display().to_string());
    let client = Client::new(&url, &std::fs::read_to_string(root.join("other/token")).unwrap());
    client.project("Letters", Some("Write alpha and beta.")).await.unwrap();
    let parked = line("parked: ").await;
    assert!(parked.starts_with("the agent program was not found, next check at "), "{parked}");

    let health: HealthResponse = client.get("/api/health").await.unwrap();
    let runner = health.runner.unwrap();
    assert!(runner.last_tick_at.is_some() && runner.live_runs.is_empty());
    assert_eq!(runner.parked.len(), 1);
    let request = client.request(reqwest::Method::GET, "/metrics");
    let metrics = request.send().await.unwrap().text().await.unwrap();
    assert!(metrics.contains("vibe_relay_parked{reason=\"program_missing\"} 1\n"), "{metrics}");
    assert!(metrics.contains("vibe_relay_tasks{status=\"in_progress\"} 1\n"), "{metrics}");
    let written = std::fs::read_to_string(&log).unwrap();
    assert!(written.contains(&format!("parked: {parked}")) && !written.contains('\u{1b}'), "{written}");
    tests::terminate(process.id().unwrap()).unwrap();
    assert!(process.wait().await.unwrap().success());

    let bad = root.join("bad.json");
    std::fs::write(&bad, json!({"db_path": root.join("bad/board.db"), "log": "info,=,"}).to_string()).unwrap();
    let output = server.command(&["serve", "--no-open", "--config"]).arg(&bad).output().await.unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && error.contains("is not a level"), "{error}");
}
