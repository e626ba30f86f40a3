//! The activity lines, locked by a snapshot.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use domain::runs::run_event::{AgentError, ErrorClass};

use crate::backend::decode;

const CHECKOUT: &str = "/home/ada/worktrees/PROJ-001/TASK-001";

/// The lines for one use of a tool, as the agent program reports it.
fn uses(name: &str, input: Value) -> String {
    let block = json!({"type": "tool_use", "id": "t", "name": name, "input": input});
    let line = json!({"type": "assistant", "message": {"content": [block]}}).to_string();
    let lines: Vec<String> = decode(&line).iter().filter_map(|event| activity(event, CHECKOUT)).collect();
    lines.join(" | ")
}

#[test]
fn tool_uses_read_like_sentences() {
    let sentences = [
        uses("Read", json!({"file_path": format!("{CHECKOUT}/src/main.rs")})),
        uses("Write", json!({"file_path": "/etc/hosts", "content": "x"})),
        uses("Edit", json!({"file_path": "src/lib.rs"})),
        uses("Bash", json!({"command": format!("cd {CHECKOUT} && cargo test\n--all")})),
        uses("Bash", json!({"command": format!("cat {CHECKOUT}/a {CHECKOUT}/b")})),
        uses("Grep", json!({"pattern": "fn main"})),
        uses("Glob", json!({"pattern": "**/*.rs"})),
        uses("Read", json!(7)),
        uses("Workflow", json!({})),
        uses("TodoWrite", json!({"todos": [{"content": "Test it", "status": "pending"}]})),
        uses("mcp__github__create_issue", json!({})),
        uses("mcp__vibe-relay__get_board", json!({})),
        uses("mcp__vibe-relay__get_task", json!({"task_id": "TASK-003"})),
        uses("mcp__vibe-relay__create_subtasks", json!({"tasks": [{"title": "a"}, {"title": "b"}]})),
        uses("mcp__vibe-relay__create_subtasks", json!({"tasks": [{"title": "Add a page"}]})),
        uses("mcp__vibe-relay__create_subtasks", json!({"tasks": "?"})),
        uses("mcp__vibe-relay__update_task_status", json!({"task_id": "TASK-001", "status": "in_review"})),
        uses("mcp__vibe-relay__update_task_status", json!({"status": "in_progress"})),
        uses("mcp__vibe-relay__add_comment", json!({"content": "Looks\n\ngood"})),
        uses("mcp__vibe-relay__ask_human", json!({"question": "Tabs?"})),
        uses("mcp__vibe-relay__check_freshness", json!({})),
        uses("Agent", json!({"description": "Look around", "prompt": "…"})),
        uses("mcp__vibe-relay__send", json!({"to_agent": "coder-TASK-003", "message": "Which\nport?"})),
        uses("mcp__vibe-relay__declare_contract", json!({"name": "GET /items"})),
    ];
    insta::assert_snapshot!(sentences.join("\n"), @"
    reads src/main.rs
    writes /etc/hosts
    edits src/lib.rs
    runs cargo test --all
    runs cat a b
    searches for fn main
    searches for **/*.rs
    reads …
    uses Workflow
    updates its list
    uses create issue of github
    looks at the board
    reads TASK-003
    creates 2 tasks
    creates a task: Add a page
    creates 0 tasks
    moves the card to review
    sends the card back
    comments: Looks good
    asks: Tabs?
    uses check freshness
    starts a helper: Look around
    writes to coder-TASK-003: Which port?
    declares the contract GET /items
    ");
}

#[test]
fn other_events_read_like_sentences_or_have_no_line() {
    let write = ToolCall {
        id: "t".to_owned(),
        kind: ToolKind::Write,
        name: "Write".to_owned(),
        title: "a.txt".to_owned(),
        locations: Vec::new(),
        input: Value::Null,
        edits: Vec::new(),
    };
    let retry = |limit| RunEvent::Retrying { status: Some(529), attempt: 1, limit, delay_ms: 500, message: "overloaded".to_owned() };
    let events = [
        RunEvent::Text { text: "I will\nstart".to_owned() },
        RunEvent::Text { text: " \n".to_owned() },
        RunEvent::ToolEnded { id: "t".to_owned(), ok: true, output: "ok".to_owned() },
        RunEvent::ToolEnded { id: "t".to_owned(), ok: false, output: "no such\u{1b}[31m file".to_owned() },
        RunEvent::TurnEnded { reason: StopReason::EndTurn },
        RunEvent::TurnEnded { reason: StopReason::MaxTurnRequests },
        RunEvent::Failed(AgentError::new(ErrorClass::Unreachable, None, "Connection refused")),
        RunEvent::TurnEnded { reason: StopReason::Failed },
        retry(Some(10)),
        retry(None),
        RunEvent::PermissionAsked { id: "p".to_owned(), call: write, options: Vec::new() },
    ];
    let sentences: Vec<String> = events.iter().map(|event| activity(event, CHECKOUT).unwrap_or("-".to_owned())).collect();
    insta::assert_snapshot!(sentences.join("\n"), @"
    says: I will start
    -
    -
    meets an error: no such [31m file
    ends its turn
    reaches its limit of requests
    fails: Connection refused
    -
    waits for the model's service (529 overloaded), attempt 1 of 10
    waits for the model's service (529 overloaded), attempt 1
    asks for permission to use Write
    ");
}

proptest! {
    #[test]
    fn line_is_short_and_single(text in "(?s).{0,400}") {
        let sentence = activity(&RunEvent::Text { text: format!("x{text}") }, CHECKOUT).unwrap();
        prop_assert!(sentence.chars().count() <= MAX_CHARS);
        prop_assert!(!sentence.chars().any(char::is_control));
        prop_assert!(sentence.starts_with("says: x"));
    }

    #[test]
    fn any_tool_input_has_a_line(name in ".{0,40}", input in "(?s).{0,200}") {
        prop_assert!(!uses(&name, Value::from(input)).is_empty());
    }
}
