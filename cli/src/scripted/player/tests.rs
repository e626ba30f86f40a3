//! The part and the turn that follow from a conversation.

use serde_json::json;

use super::*;

const SCENARIO: &str = r#"{"parts": [
    {"phase": "reviewer", "sees": "(?m)^\\[reviewer\\]", "turns": [{"text": "Better."}]},
    {"phase": "reviewer", "turns": [{"text": "Line 3 of {{title}}."}]},
    {"phase": "coder", "title": "cards", "attempt": 2, "turns": [{"text": "Fixed."}]},
    {"phase": "coder", "fail": {"status": 529, "times": 2}, "turns": [
        {"calls": [{"tool": "Bash", "input": {"command": "ls"}}, {"tool": "Bash", "input": {"command": "pwd"}}]},
        {"text": "in {{result.1.text}}", "pause_ms": 40, "calls": [
            {"tool": "mcp__vibe-relay__update_task_status", "input": {"task_id": "{{task_id}}", "list": ["{{result.0.text}}", 1]}}]}
    ]}
]}"#;

fn prompt(phase: &str, title: &str, rest: &str) -> Entry {
    Entry::Human { text: format!("<issue>\nTitle: {title}\nPhase: {phase}\nTask: TASK-002\n</issue>\n{rest}") }
}

fn assistant(ids: &[&str]) -> Entry {
    let calls = ids.iter().map(|id| Called { id: (*id).to_owned(), tool: "Bash".to_owned(), input: Map::new() }).collect();
    Entry::Assistant { text: String::new(), calls }
}

fn result(id: &str, text: &str) -> Entry {
    Entry::Result { id: id.to_owned(), text: text.to_owned(), is_error: false }
}

fn play(entries: &[Entry]) -> Result<Step, PlayError> {
    next(&Scenario::parse(SCENARIO).unwrap(), &Conversation { entries: entries.to_vec() })
}

#[test]
fn turn_depends_on_answers_since_the_last_prompt() {
    let mut said = vec![prompt("coder", "Add cards", "")];
    let first = play(&said).unwrap();
    assert_eq!((first.part, first.calls.len(), first.failure.map(|failure| failure.times)), (3, 2, Some(2)));

    // Results may arrive in another order than their calls, and messages in between start no new work.
    said.extend([assistant(&["a", "b"]), result("b", "/w/2"), Entry::Steering { text: "hurry".to_owned() }, result("a", "x.txt")]);
    let second = play(&said).unwrap();
    assert_eq!((second.text.as_str(), second.pause, second.failure), ("in /w/2", Duration::from_millis(40), None));
    assert_eq!(Value::Object(second.calls[0].input.clone()), json!({"task_id": "TASK-002", "list": ["x.txt", 1]}));

    said.extend([assistant(&["c"]), result("c", "ok")]);
    assert_eq!(play(&said).unwrap().calls, []);
}

#[test]
fn second_prompt_is_the_second_attempt() {
    let said = [prompt("coder", "Add cards", ""), assistant(&[]), prompt("coder", "Add cards", "[reviewer] now: line 3")];
    assert_eq!(play(&said).unwrap().text, "Fixed.");
    let nudged = [prompt("coder", "Add cards", ""), assistant(&[]), Entry::Human { text: "Your card has not moved.".to_owned() }];
    assert_eq!(play(&nudged).unwrap().text, "Fixed.", "a prompt without an issue belongs to the issue before it");
}

#[test]
fn inbox_message_plays_no_part() {
    let inbox = "<inbox>\n[#1 mara → ben 2026-01-31T09:05:00.000Z] Hello\n</inbox>\n";
    let said = [prompt("coder", "Add cards", ""), assistant(&["a"]), assistant(&["b"]), Entry::user(inbox.to_owned())];
    assert_eq!(play(&said).unwrap(), Step { part: 3, ..Step::text("I have done my part.") });
    assert!(matches!(Entry::user(format!("<issue>\n</issue>\n{inbox}")), Entry::Human { .. }));
}

#[test]
fn second_reviewer_is_recognised_by_comments() {
    assert_eq!(play(&[prompt("reviewer", "Add cards", "")]).unwrap().text, "Line 3 of Add cards.");
    assert_eq!(play(&[prompt("reviewer", "Add cards", "<comments>\n[reviewer] t: line 3\n</comments>")]).unwrap().text, "Better.");
}

#[test]
fn mismatches_are_reported() {
    let unknown = play(&[prompt("planner", "Plan", "")]).unwrap_err();
    insta::assert_snapshot!(unknown, @r#"the scenario has no part for phase "planner", title "Plan", attempt 1: add one"#);
    let bare = play(&[Entry::Human { text: "hello".to_owned() }]).unwrap_err();
    insta::assert_snapshot!(bare, @"no prompt of the conversation has an <issue> block with Phase: and Title: lines");
    let early = play(&[prompt("coder", "Add cards", ""), assistant(&["a"])]).unwrap_err();
    insta::assert_snapshot!(early, @"part 4, turn 2 of the scenario cannot be played: `{{result.1.text}}` has no value: there are 0 tool results so far");
}
