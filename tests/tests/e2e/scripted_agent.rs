//! Start and exit of the scripted agent, as far as the runner depends on them: unknown and existing sessions, SIGTERM, repeated failures and
//! a failed MCP server.

use std::path::Path;

use serde_json::json;
use tests::agent::Agent;
use tests::agent_bench::{AgentBench, Session};
use uuid::Uuid;

const RECORDER: &str = env!("CARGO_BIN_EXE_recording_mcp");
const SCRIPTED: &str = env!("CARGO_BIN_EXE_scripted_agent");

fn bench(turns: &str) -> AgentBench {
    let scenario = format!(r#"{{"parts": [{{"phase": "coder", "turns": [{turns}]}}]}}"#);
    AgentBench::new(&scenario, &[("a.txt", "a\n")], Path::new(RECORDER)).unwrap()
}

fn start(bench: &AgentBench, session: Session<'_>) -> Agent {
    bench.scripted(session, Path::new(SCRIPTED)).unwrap()
}

#[tokio::test]
async fn unknown_session_cannot_be_resumed() {
    let bench = bench("");
    let id = Uuid::new_v4().to_string();
    let ended = start(&bench, Session::Resume(&id)).end().await.unwrap();
    assert_eq!(ended.status.code(), Some(1));
    assert_eq!(ended.stderr, format!("Error: No conversation found with session ID: {id}\n"));
    assert_eq!(ended.lines.len(), 1, "no init");
    assert_eq!(ended.lines[0]["subtype"], "error_during_execution");
    assert_eq!(ended.lines[0]["errors"], json!([format!("No conversation found with session ID: {id}")]));
}

#[tokio::test]
async fn existing_session_cannot_be_created_again() {
    let bench = bench(r#"{"text": "Hello."}"#);
    let id = Uuid::new_v4().to_string();
    let mut agent = start(&bench, Session::New(&id));
    agent.send(&bench.prompt("coder", "Greet", "")).await.unwrap();
    agent.result().await.unwrap().unwrap();
    let ended = start(&bench, Session::New(&id)).end().await.unwrap();
    assert_eq!((ended.status.code(), ended.lines.len()), (Some(1), 0));
    assert_eq!(ended.stderr, format!("Error: Session ID {id} is already in use.\n"));

    // The first agent still accepts its next prompt.
    agent.send(&bench.prompt("coder", "Greet", "")).await.unwrap();
    let second = agent.result().await.unwrap().unwrap();
    assert_eq!((&second["result"], &second["result_index"]), (&json!("Hello."), &json!(1)));
    assert_eq!(agent.end().await.unwrap().status.code(), Some(0));
}

#[tokio::test]
async fn sigterm_ends_the_agent_without_a_result() {
    let bench = bench(r#"{"calls": [{"tool": "Bash", "input": {"command": "touch working; until [ -f never ]; do :; done"}}]}"#);
    let id = Uuid::new_v4().to_string();
    let mut agent = start(&bench, Session::New(&id));
    agent.send(&bench.prompt("coder", "Work", "")).await.unwrap();
    tests::wait_for("the command runs", || bench.worktree().join("working").exists()).await;
    tests::terminate(agent.id().unwrap()).unwrap();
    let ended = agent.end().await.unwrap();
    assert_eq!(ended.status.code(), Some(143));
    assert!(ended.lines.iter().all(|line| line["type"] != "result"), "{:#?}", ended.lines);
}

#[tokio::test]
async fn lasting_rate_limit_fails_only_the_current_attempt() {
    let scenario = r#"{"parts": [{"phase": "reviewer", "fail": {"status": 429, "retry_after": 3600, "times": 1}, "turns": [{"text": "Fine."}]}]}"#;
    let bench = AgentBench::new(scenario, &[("a.txt", "a\n")], Path::new(RECORDER)).unwrap();
    let mut seen = Vec::new();
    // A reviewer's second attempt is a new session, so failures are counted per task.
    for _ in 0..2 {
        let mut agent = start(&bench, Session::New(&Uuid::new_v4().to_string()));
        agent.send(&bench.prompt("reviewer", "Look", "")).await.unwrap();
        let result = agent.result().await.unwrap().unwrap();
        let ended = agent.end().await.unwrap();
        let limits = ended.lines.iter().filter(|line| line["type"] == "rate_limit_event").count();
        seen.push((limits, result["is_error"].clone(), result["api_error_status"].clone(), ended.status.code()));
    }
    assert_eq!(seen, [(1, json!(true), json!(429), Some(1)), (0, json!(false), json!(null), Some(0))]);
}

#[tokio::test]
async fn init_reports_a_failed_mcp_server() {
    let bench = AgentBench::new(
        r#"{"parts": [{"phase": "coder", "turns": [{"calls": [{"tool": "mcp__vibe-relay__get_board", "input": {}}]}]}]}"#,
        &[("a.txt", "a\n")],
        Path::new("/nonexistent/server"),
    );
    let bench = bench.unwrap();
    let mut agent = start(&bench, Session::New(&Uuid::new_v4().to_string()));
    agent.send(&bench.prompt("coder", "Work", "")).await.unwrap();
    agent.result().await.unwrap().unwrap();
    let ended = agent.end().await.unwrap();
    assert_eq!(ended.lines[0]["mcp_servers"], json!([{"name": "vibe-relay", "source": "dynamic", "status": "failed"}]));
    let refused = ended.lines.iter().find(|line| line["message"]["content"][0]["is_error"] == true).unwrap();
    assert_eq!(refused["message"]["content"][0]["content"], "No such tool available: mcp__vibe-relay__get_board");
    assert!(ended.stderr.contains("could not start /nonexistent/server"), "{}", ended.stderr);
}
