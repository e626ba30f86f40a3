//! Compares the real `claude` program on the scripted model with the scripted agent. One scenario must lead to the same commits and MCP
//! calls, because the other tests and the demo use the faster scripted agent.

use std::path::Path;

use cli::scripted::scenario::Scenario;
use serde_json::{Value, json};
use tests::agent::{Agent, Ended};
use tests::agent_bench::{AgentBench, Session};
use tests::git::git;
use tests::model::ScriptedModel;
use uuid::Uuid;

const PROGRAM: &str = env!("CARGO_BIN_EXE_vibe_relay");
const RECORDER: &str = env!("CARGO_BIN_EXE_recording_mcp");
const SCRIPTED: &str = env!("CARGO_BIN_EXE_scripted_agent");

const SCENARIO: &str = r#"{"parts": [
    {"phase": "coder", "attempt": 1, "turns": [
        {"text": "I look.", "calls": [{"tool": "Bash", "input": {"command": "ls; echo 'id: 42'"}}, {"tool": "Read", "input": {"file_path": "{{worktree}}/page.txt"}}]},
        {"calls": [{"tool": "Write", "input": {"file_path": "{{worktree}}/new.txt", "content": "{{result.0.match.id: (\\d+)}}\n"}}]},
        {"calls": [{"tool": "Edit", "input": {"file_path": "{{worktree}}/page.txt", "old_string": "two", "new_string": "2"}}]},
        {"calls": [{"tool": "Bash", "input": {"command": "git add -A && git commit -q -m 'Work on {{task_id}}'"}}]},
        {"calls": [{"tool": "mcp__vibe-relay__create_subtasks", "input": {"parent_task_id": "{{parent}}", "tasks": [{"title": "a"}, {"title": "b", "depends_on": [0]}]}}]},
        {"calls": [{"tool": "mcp__vibe-relay__add_comment", "input": {"task_id": "{{task_id}}", "content": "made {{result.5.json.tasks.1.task_id}} in {{worktree}}"}}]},
        {"text": "Done."}
    ]},
    {"phase": "coder", "attempt": 2, "sees": "page.txt:3", "turns": [
        {"calls": [{"tool": "Bash", "input": {"command": "sed -i 's/three/3/' page.txt && git commit -qam 'Line 3'; exit 5"}}]},
        {"calls": [{"tool": "mcp__vibe-relay__update_task_status", "input": {"task_id": "{{task_id}}", "status": "in_review", "note": "{{result.0.match.Exit code \\d}}"}}]}
    ]}
]}"#;
const FILES: [(&str, &str); 2] = [("page.txt", "one\ntwo\nthree\n"), ("CLAUDE.md", "Count in digits.\n")];

fn bench(scenario: &str) -> AgentBench {
    AgentBench::new(scenario, &FILES, Path::new(RECORDER)).unwrap()
}

async fn model(scenario: &str) -> ScriptedModel {
    ScriptedModel::start(Scenario::parse(scenario).unwrap()).await.unwrap()
}

/// Runs one prompt in one process until it exits.
async fn one_prompt(mut agent: Agent, prompt: &str) -> Ended {
    agent.send(prompt).await.unwrap();
    let result = agent.result().await.unwrap();
    let ended = agent.end().await.unwrap();
    assert!(result.is_some_and(|result| result["is_error"] == false), "{:#?}\n{}", ended.lines, ended.stderr);
    assert_eq!(ended.status.code(), Some(0), "{}", ended.stderr);
    ended
}

/// The commits with ids and subjects, and the recorded calls.
fn work(bench: &AgentBench) -> (String, Vec<Value>) {
    (git(&bench.worktree(), &["log", "--format=%H %s"]).unwrap(), bench.calls().unwrap())
}

/// The kinds of output lines, without those that only the real program prints.
fn shape(lines: &[Value]) -> Vec<String> {
    let kind = |line: &Value| {
        let block = line["message"]["content"][0]["type"].as_str().unwrap_or_default();
        Some(match line["type"].as_str()? {
            "system" if line["subtype"] == "init" => format!("init {}", line["mcp_servers"][0]["status"]),
            "assistant" => format!("assistant {block} {}", line["message"]["content"][0]["name"].as_str().unwrap_or_default()),
            "user" if line["isReplay"] == true => "replay".to_owned(),
            "user" => format!("{block} {}", line["message"]["content"][0]["is_error"] == true),
            "result" => format!("{} {} {}", line["subtype"], line["terminal_reason"], line["num_turns"].is_u64()),
            _ => return None,
        })
    };
    lines.iter().filter_map(kind).collect()
}

#[tokio::test]
async fn real_and_scripted_agent_do_the_same_work() {
    let session = Uuid::new_v4().to_string();
    let (real, scripted) = (bench(SCENARIO), bench(SCENARIO));
    let model = model(SCENARIO).await;

    let first = real.prompt("coder", "Count", "");
    let real_lines = one_prompt(real.real(Session::New(&session), &model.base_url()).unwrap(), &first).await.lines;
    let first = scripted.prompt("coder", "Count", "");
    let scripted_lines = one_prompt(scripted.scripted(Session::New(&session), Path::new(SCRIPTED)).unwrap(), &first).await.lines;
    assert_eq!(work(&real), work(&scripted));
    assert_eq!(shape(&real_lines), shape(&scripted_lines));

    // New processes resume the sessions after a review.
    let comments = "<comments>\n[reviewer] now: page.txt:3 still has a word\n</comments>";
    let second = real.prompt("coder", "Count", comments);
    let real_lines = one_prompt(real.real(Session::Resume(&session), &model.base_url()).unwrap(), &second).await.lines;
    let second = scripted.prompt("coder", "Count", comments);
    let scripted_lines = one_prompt(scripted.scripted(Session::Resume(&session), Path::new(SCRIPTED)).unwrap(), &second).await.lines;
    assert_eq!(work(&real), work(&scripted));
    assert_eq!(shape(&real_lines), shape(&scripted_lines));

    let (log, calls) = work(&real);
    assert_eq!(log.lines().map(|line| &line[41..]).collect::<Vec<_>>(), ["Line 3", "Work on TASK-007", "Begin"]);
    let tasks = json!([{"title": "a"}, {"title": "b", "depends_on": [0]}]);
    let wanted = [
        json!({"tool": "create_subtasks", "call_id": true, "arguments": {"parent_task_id": "TASK-001", "tasks": tasks}}),
        json!({"tool": "add_comment", "call_id": true, "arguments": {"task_id": "TASK-007", "content": "made TASK-003 in BENCH/worktree"}}),
        json!({"tool": "update_task_status", "call_id": true, "arguments": {"task_id": "TASK-007", "status": "in_review", "note": "Exit code 5"}}),
    ];
    assert_eq!(calls, wanted);
    assert_eq!(git(&real.worktree(), &["show", "HEAD:page.txt"]).unwrap(), "one\n2\n3");
    assert_eq!(git(&real.worktree(), &["show", "HEAD:new.txt"]).unwrap(), "42");

    // Checks what a model would have seen.
    let requests = model.requests_of("coder");
    assert_eq!(requests.len(), 7 + 3, "one request for each turn, and the closing one");
    let last = requests.last().unwrap();
    assert!(last.text().contains("You are a part of a test.") && last.text().contains("Count in digits."), "{}", last.text());
    assert_eq!(last.agent.as_ref().map(|agent| agent.task_id.as_str()), Some("TASK-007"));
    assert_eq!(last.headers["x-api-key"], "scripted");
}

#[tokio::test]
async fn both_agents_retry_a_failing_service() {
    let scenario = r#"{"parts": [{"phase": "coder", "fail": {"status": 529, "times": 2}, "turns": [{"text": "At last."}]}]}"#;
    let (real, scripted) = (bench(scenario), bench(scenario));
    let model = model(scenario).await;
    let session = Uuid::new_v4().to_string();
    let ended = [
        one_prompt(real.real(Session::New(&session), &model.base_url()).unwrap(), &real.prompt("coder", "Wait", "")).await,
        one_prompt(scripted.scripted(Session::New(&session), Path::new(SCRIPTED)).unwrap(), &scripted.prompt("coder", "Wait", "")).await,
    ];
    for Ended { lines, .. } in ended {
        let retries = lines.iter().filter(|line| line["subtype"] == "api_retry");
        assert_eq!(retries.map(|line| line["error_status"].as_u64()).collect::<Vec<_>>(), [Some(529), Some(529)]);
        assert_eq!(lines.last().unwrap()["result"], "At last.");
    }
}

#[tokio::test]
async fn both_agents_fail_when_no_part_matches() {
    let (real, scripted) = (bench(SCENARIO), bench(SCENARIO));
    let model = model(SCENARIO).await;
    let session = Uuid::new_v4().to_string();
    let agents = [
        (real.real(Session::New(&session), &model.base_url()).unwrap(), real.prompt("planner", "Plan", "")),
        (scripted.scripted(Session::New(&session), Path::new(SCRIPTED)).unwrap(), scripted.prompt("planner", "Plan", "")),
    ];
    for (mut agent, prompt) in agents {
        agent.send(&prompt).await.unwrap();
        let result = agent.result().await.unwrap().unwrap();
        let said = ["subtype", "is_error", "terminal_reason", "api_error_status"].map(|key| result[key].clone());
        assert_eq!(said, [json!("success"), json!(true), json!("api_error"), json!(400)]);
        let words = result["result"].as_str().unwrap();
        assert!(words.contains("the scenario has no part for phase \"planner\""), "{words}");
        assert_eq!(agent.end().await.unwrap().status.code(), Some(1));
    }
}

#[tokio::test]
async fn message_to_a_working_agent_starts_no_turn() {
    let scenario = r#"{"parts": [{"phase": "coder", "attempt": 1, "turns": [
        {"calls": [{"tool": "Bash", "input": {"command": "touch working; until [ -f go ]; do :; done"}}]},
        {"text": "Read."}
    ]}]}"#;
    let (real, scripted) = (bench(scenario), bench(scenario));
    let model = model(scenario).await;
    let session = Uuid::new_v4().to_string();
    let agents = [
        (real.real(Session::New(&session), &model.base_url()).unwrap(), &real),
        (scripted.scripted(Session::New(&session), Path::new(SCRIPTED)).unwrap(), &scripted),
    ];
    for (mut agent, bench) in agents {
        agent.send(&bench.prompt("coder", "Work", "")).await.unwrap();
        agent.wait_for(|line| line["message"]["content"][0]["type"] == "tool_use").await.unwrap();
        agent.send("<message>\nUse digits.\n</message>").await.unwrap();
        tests::wait_for("the command runs", || bench.worktree().join("working").exists()).await;
        std::fs::write(bench.worktree().join("go"), "").unwrap();
        assert_eq!(agent.result().await.unwrap().unwrap()["result"], "Read.");
        let ended = agent.end().await.unwrap();
        let replays = ended.lines.iter().filter(|line| line["isReplay"] == true).count();
        assert_eq!((replays, ended.status.code()), (2, Some(0)), "{:#?}", ended.lines);
    }
    assert!(model.requests_of("coder").last().unwrap().text().contains("Use digits."));
}

#[tokio::test]
async fn interrupted_agent_goes_on_with_the_next_message() {
    let scenario = r#"{"parts": [
        {"phase": "coder", "attempt": 1, "turns": [
            {"calls": [{"tool": "Bash", "input": {"command": "touch working; until [ -f go ]; do :; done"}}]},
            {"text": "Never said."}
        ]},
        {"phase": "coder", "attempt": 2, "turns": [{"text": "Stopped."}]}
    ]}"#;
    let (real, scripted) = (bench(scenario), bench(scenario));
    let model = model(scenario).await;
    let session = Uuid::new_v4().to_string();
    let agents = [
        (real.real(Session::New(&session), &model.base_url()).unwrap(), &real),
        (scripted.scripted(Session::New(&session), Path::new(SCRIPTED)).unwrap(), &scripted),
    ];
    for (mut agent, bench) in agents {
        agent.send(&bench.prompt("coder", "Work", "")).await.unwrap();
        tests::wait_for("the command runs", || bench.worktree().join("working").exists()).await;
        agent.interrupt("one").await.unwrap();
        let confirmed = agent.wait_for(|line| line["type"] == "control_response").await.unwrap().unwrap();
        assert_eq!((&confirmed["response"]["subtype"], &confirmed["response"]["request_id"]), (&json!("success"), &json!("one")));
        let result = agent.result().await.unwrap().unwrap();
        let said = ["subtype", "is_error", "terminal_reason"].map(|key| result[key].clone());
        assert_eq!(said, [json!("error_during_execution"), json!(true), json!("aborted_tools")]);
        agent.send("<message>\nStop.\n</message>").await.unwrap();
        assert_eq!(agent.result().await.unwrap().unwrap()["result"], "Stopped.");
        assert_eq!(agent.end().await.unwrap().status.code(), Some(0));
    }
}

#[tokio::test]
async fn killed_agent_resumes_its_session() {
    let scenario = r#"{"parts": [
        {"phase": "coder", "attempt": 1, "turns": [
            {"calls": [{"tool": "Bash", "input": {"command": "touch working; until [ -f go ]; do :; done"}}]},
            {"text": "Never said."}
        ]},
        {"phase": "coder", "attempt": 2, "turns": [{"calls": [{"tool": "Bash", "input": {"command": "ls"}}]}, {"text": "I saw {{result.0.match.working}}."}]}
    ]}"#;
    let (real, scripted) = (bench(scenario), bench(scenario));
    let model = model(scenario).await;
    let session = Uuid::new_v4().to_string();
    let start = |bench: &AgentBench, session: Session<'_>, is_real: bool| match is_real {
        true => bench.real(session, &model.base_url()).unwrap(),
        false => bench.scripted(session, Path::new(SCRIPTED)).unwrap(),
    };
    for (bench, is_real) in [(&real, true), (&scripted, false)] {
        let mut agent = start(bench, Session::New(&session), is_real);
        agent.send(&bench.prompt("coder", "Work", "")).await.unwrap();
        tests::wait_for("the command runs", || bench.worktree().join("working").exists()).await;
        agent.kill().await.unwrap();
        // The command outlives its killed agent, so the test ends it.
        std::fs::write(bench.worktree().join("go"), "").unwrap();
        let resumed = one_prompt(start(bench, Session::Resume(&session), is_real), &bench.prompt("coder", "Work", "")).await;
        assert_eq!(resumed.lines.last().unwrap()["result"], "I saw working.");
    }
}

#[tokio::test]
async fn summary_of_a_conversation_is_told_what_to_keep() {
    const TALK: &str = r#"{"parts": [{"phase": "coder", "turns": [{"text": "Done."}]}]}"#;
    let (bench, model, session) = (bench(TALK), model(TALK).await, Uuid::new_v4().to_string());
    one_prompt(bench.real(Session::New(&session), &model.base_url()).unwrap(), &bench.prompt("coder", "Talk", "")).await;
    let hook = json!({"type": "command", "command": PROGRAM, "args": ["hook", "mcp.json"], "timeout": 15});
    let settings = json!({"hooks": {"PreCompact": [{"hooks": [hook]}]}});
    let mut agent = bench.real_with(Session::Resume(&session), &model.base_url(), &settings).unwrap();
    agent.send("/compact").await.unwrap();
    agent.result().await.unwrap();
    let ended = agent.end().await.unwrap();
    let asks = "what is done and committed, what is open, and the next step";
    assert!(model.requests().iter().any(|request| request.text().contains(asks)), "{:#?}\n{}", ended.lines, ended.stderr);
}
