//! The sentences, locked by a snapshot.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::backend::stream::{TurnResult, parse};

const CHECKOUT: &str = "/home/ada/worktrees/PROJ-001/TASK-001";

fn uses(name: &str, input: Value) -> String {
    activity(&RunLine::ToolUse { id: "t".to_owned(), name: name.to_owned(), input }, CHECKOUT).unwrap()
}

#[test]
fn tools_read_like_sentences() {
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
    looks for files **/*.rs
    reads …
    uses Workflow
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
fn other_items_read_like_sentences_or_stay_silent() {
    let failed = TurnResult { is_error: true, errors: vec!["Reached maximum number of turns (1)".to_owned()], ..TurnResult::default() };
    let retry = RunLine::ApiRetry { attempt: 1, max: 10, delay_ms: 500, error_status: Some(529), error: "overloaded".to_owned() };
    let items = [
        RunLine::Text { text: "I will\nstart".to_owned() },
        RunLine::Text { text: " \n".to_owned() },
        RunLine::ToolResult { id: "t".to_owned(), is_error: false, text: "ok".to_owned() },
        RunLine::ToolResult { id: "t".to_owned(), is_error: true, text: "no such\u{1b}[31m file".to_owned() },
        RunLine::Result(Box::default()),
        RunLine::Result(Box::new(failed)),
        retry,
    ];
    let sentences: Vec<String> = items.iter().map(|item| activity(item, CHECKOUT).unwrap_or("-".to_owned())).collect();
    insta::assert_snapshot!(sentences.join("\n"), @"
    says: I will start
    -
    -
    meets an error: no such [31m file
    ends its turn
    fails: Reached maximum number of turns (1)
    waits for the model's service (529 overloaded), try 1 of 10
    ");
}

proptest! {
    #[test]
    fn a_sentence_is_one_short_line(text in "(?s).{0,400}") {
        let sentence = activity(&RunLine::Text { text: format!("x{text}") }, CHECKOUT).unwrap();
        prop_assert!(sentence.chars().count() <= LENGTH);
        prop_assert!(!sentence.chars().any(char::is_control));
        prop_assert!(sentence.starts_with("says: x"));
    }

    #[test]
    fn any_input_of_a_tool_has_a_sentence(name in ".{0,40}", input in "(?s).{0,200}") {
        let line = json!({"type": "assistant", "message": {"content": [{"type": "tool_use", "id": "t", "name": name, "input": input}]}});
        for item in parse(&line.to_string()) {
            prop_assert!(activity(&item, CHECKOUT).is_some());
        }
    }
}
