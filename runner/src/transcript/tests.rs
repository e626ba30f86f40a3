//! Which events have entries, and how a transcript continues after a server was killed at any byte.

use std::fs;

use serde_json::json;

use super::*;
use domain::runs::run_event::{AgentError, ErrorClass, SessionStarted, ToolCall, ToolKind, TurnUsage, UsageScope};

use crate::backend::decode;

fn text(text: &str) -> RunEvent {
    RunEvent::Text { text: text.to_owned() }
}

fn other() -> RunEvent {
    RunEvent::Other { raw: "{}".to_owned(), plain: false }
}

fn tool_ended(output: &str, ok: bool) -> RunEvent {
    RunEvent::ToolEnded { id: "1".to_owned(), ok, output: output.to_owned() }
}

fn tool_started(kind: ToolKind, title: &str, input: serde_json::Value) -> RunEvent {
    let text = || String::new();
    RunEvent::ToolStarted(ToolCall { id: text(), kind, name: text(), title: title.to_owned(), locations: Vec::new(), input, edits: Vec::new() })
}

fn written(folder: &Path) -> Vec<OutputLine> {
    fs::read_to_string(folder.join(TRANSCRIPT_FILE)).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn shown(events: &[RunEvent]) -> Vec<OutputLine> {
    entries(9, events, "/worktree")
}

#[test]
fn edits_are_shown_as_changed_lines() {
    let edit = |old: &str, new: &str| TextEdit { old: old.to_owned(), new: new.to_owned() };
    assert_eq!(changes(&[edit("a\nb\nc", "a\nx\nc"), edit("", "new\n")]), " a\n-b\n+x\n c\n\n+new\n");
}

#[test]
fn entries_are_stable() {
    let folder = tempfile::tempdir().unwrap();
    let mut transcript = Transcript::open(folder.path()).unwrap();
    let session = RunEvent::SessionStarted(SessionStarted { model: "large-4-5".to_owned(), ..SessionStarted::default() });
    transcript.add(40, &[session], "/worktree").unwrap();
    let command = "cd /worktree && cargo test";
    let bash = tool_started(ToolKind::Execute, command, json!({"command": command}));
    transcript.add(120, &[text("I look."), other(), bash], "/worktree").unwrap();
    transcript.add(200, &[tool_ended("ok\nsecond", true), tool_ended("bad", false)], "/worktree").unwrap();
    insta::assert_snapshot!(fs::read_to_string(folder.path().join(TRANSCRIPT_FILE)).unwrap(), @r#"
    {"offset":40,"kind":"start","text":"large-4-5 begins"}
    {"offset":120,"kind":"text","text":"I look."}
    {"offset":120,"kind":"tool_use","text":"runs cargo test","detail":"{\n  \"command\": \"cd /worktree && cargo test\"\n}"}
    {"offset":200,"kind":"tool_result","text":"ok…","detail":"ok\nsecond"}
    {"offset":200,"kind":"tool_error","text":"bad"}
    "#);
    use std::os::unix::fs::PermissionsExt;
    assert_eq!(fs::metadata(folder.path().join(TRANSCRIPT_FILE)).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn human_messages_are_shown_in_full_and_prompts_by_name() {
    let accepted = |text: String| RunEvent::MessageAccepted { text, id: None };
    let inbox = "<inbox>\n[#1 mara → ben 2026-01-31T09:05:00.000Z] Hello\n</inbox>\n".to_owned();
    let lines = [accepted(prompt::message("Use blue.\nThanks.")), accepted("<issue>\nTitle: A\n</issue>\n".to_owned()), accepted(inbox)];
    let shown: Vec<_> = shown(&lines).into_iter().map(|line| (line.text, line.detail.is_some())).collect();
    let wanted = [("Use blue.\nThanks.", false), ("the task with its comments", true), ("messages from others", true)];
    assert_eq!(shown, wanted.map(|(text, detail)| (text.to_owned(), detail)));
}

#[test]
fn end_of_a_turn_has_one_entry() {
    let usage = |requests| {
        let (input, output, cache_read, cache_write) = (0, 0, 0, 0);
        RunEvent::Usage(TurnUsage {
            scope: UsageScope::Turn,
            input,
            output,
            cache_read,
            cache_write,
            thinking: None,
            requests,
            cost_micro_usd: None,
            models: std::collections::BTreeMap::new(),
        })
    };
    let failed = RunEvent::Failed(AgentError::new(ErrorClass::BadRequest, Some(400), "API Error"));
    let turns = [
        vec![usage(3), RunEvent::TurnEnded { reason: StopReason::EndTurn }],
        vec![RunEvent::TurnEnded { reason: StopReason::EndTurn }],
        vec![usage(1), failed, RunEvent::TurnEnded { reason: StopReason::Failed }],
        vec![RunEvent::TurnEnded { reason: StopReason::MaxTurnRequests }],
    ];
    let lines: Vec<String> = turns.iter().flat_map(|events| shown(events)).map(|line| format!("{}: {}", line.kind, line.text)).collect();
    assert_eq!(lines, ["result: turn ended after 3 requests", "result: turn ended", "error: API Error", "error: reaches its limit of requests"]);
}

#[test]
fn plan_is_shown_as_a_checklist() {
    let entry = |content: &str, status| PlanEntry { content: content.to_owned(), status };
    let entries = vec![entry("a", PlanStatus::Completed), entry("b", PlanStatus::InProgress), entry("c", PlanStatus::Pending)];
    let lines = shown(&[RunEvent::Plan { entries }]);
    assert_eq!((lines[0].kind, lines[0].detail.as_deref()), (OutputKind::ToolUse, Some("[x] a\n[-] b\n[ ] c")));
}

#[test]
fn events_without_news_have_no_entry() {
    let quiet = [
        text(" \n"),
        RunEvent::Thinking { text: String::new() },
        other(),
        RunEvent::TurnStarted {},
        RunEvent::Context { used: Some(1), size: None },
        RunEvent::RateLimit { state: RateLimitState::Allowed, resets_at_unix: None, window: None, utilization: None },
    ];
    assert_eq!(shown(&quiet), []);
}

#[test]
fn texts_and_details_are_bounded() {
    let long = "é".repeat(MAX_DETAIL_BYTES);
    let message = RunEvent::MessageAccepted { id: None, text: long.clone() };
    let error = RunEvent::Failed(AgentError::new(ErrorClass::Unknown, None, long.clone()));
    let write = tool_started(ToolKind::Write, "a", json!({"content": long}));
    let thinking = RunEvent::Thinking { text: long.clone() };
    let plain = RunEvent::Other { raw: long.clone(), plain: true };
    let lines = shown(&[text(&long), tool_ended(&long, true), message, error, write, thinking, plain]);
    assert_eq!(lines.len(), 7);
    for line in lines {
        for part in [Some(line.text), line.detail].into_iter().flatten() {
            assert!(part.len() < MAX_DETAIL_BYTES + 100, "{} bytes of {}", part.len(), line.kind);
        }
    }
    assert!(bounded(&long).ends_with("32768 more bytes in the run's raw output"));
}

/// A concurrent reader sees only whole entries of whole lines.
#[test]
fn raw_line_is_one_write() {
    let folder = tempfile::tempdir().unwrap();
    let mut transcript = Transcript::open(folder.path()).unwrap();
    let before = writes();
    transcript.add(1, &[text("a"), other(), text(&"b".repeat(100_000)), text("c")], "").unwrap();
    assert_eq!(writes() - before, 1);
}

/// The number of writes of this thread.
fn writes() -> u64 {
    let counters = fs::read_to_string("/proc/thread-self/io").unwrap();
    counters.lines().find_map(|line| line.strip_prefix("syscw: ")?.parse().ok()).unwrap()
}

#[test]
fn line_is_added_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut transcript = Transcript::open(folder.path()).unwrap();
    assert!(!transcript.covers(1));
    transcript.add(10, &[text("a")], "").unwrap();
    transcript.add(10, &[text("a")], "").unwrap();
    transcript.add(5, &[text("earlier")], "").unwrap();
    assert!(transcript.covers(10) && !transcript.covers(11));
    assert_eq!(written(folder.path()).len(), 1);
    drop(transcript);
    let transcript = Transcript::open(folder.path()).unwrap();
    assert!(transcript.covers(10) && !transcript.covers(11));
}

/// A line without an entry leaves no trace, so the next server reads it as new.
#[test]
fn lines_without_an_entry_add_nothing_when_read_again() {
    let folder = tempfile::tempdir().unwrap();
    Transcript::open(folder.path()).unwrap().add(10, &[text("a")], "").unwrap();
    Transcript::open(folder.path()).unwrap().add(20, &[other()], "").unwrap();
    let mut transcript = Transcript::open(folder.path()).unwrap();
    assert!(!transcript.covers(20));
    transcript.add(20, &[other()], "").unwrap();
    transcript.add(30, &[text("b")], "").unwrap();
    assert_eq!(written(folder.path()).iter().map(|entry| entry.offset).collect::<Vec<_>>(), [10, 30]);
}

/// The next server completes the same transcript, whatever byte the last one was killed at.
#[test]
fn transcript_torn_at_any_byte_is_completed() {
    let raw = [(10, vec![text("one")]), (20, vec![other()]), (30, vec![text("two"), text("zwei"), text("deux")]), (40, vec![text("four")])];
    let write = |folder: &Path| {
        let mut transcript = Transcript::open(folder).unwrap();
        for (offset, lines) in &raw {
            transcript.add(*offset, lines, "").unwrap();
        }
    };
    let folder = tempfile::tempdir().unwrap();
    write(folder.path());
    let whole = fs::read(folder.path().join(TRANSCRIPT_FILE)).unwrap();
    let boundaries: Vec<usize> = whole.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(place, _)| place + 1).collect();
    for length in 0..whole.len() {
        // A file is never cut between two entries of one line, because they are one write.
        if boundaries[1..3].contains(&length) {
            continue;
        }
        fs::write(folder.path().join(TRANSCRIPT_FILE), &whole[..length]).unwrap();
        write(folder.path());
        assert_eq!(fs::read(folder.path().join(TRANSCRIPT_FILE)).unwrap(), whole, "torn after {length} bytes");
    }
}

#[test]
fn invalid_entry_cuts_the_transcript() {
    let folder = tempfile::tempdir().unwrap();
    Transcript::open(folder.path()).unwrap().add(10, &[text("a")], "").unwrap();
    let kept = fs::read_to_string(folder.path().join(TRANSCRIPT_FILE)).unwrap();
    fs::write(folder.path().join(TRANSCRIPT_FILE), format!("{kept}{{\"foreign\":1}}\n{kept}")).unwrap();
    let mut transcript = Transcript::open(folder.path()).unwrap();
    assert!(!transcript.covers(10), "the entry before it may be one of several of its line");
    transcript.add(10, &[text("a")], "").unwrap();
    assert_eq!(fs::read_to_string(folder.path().join(TRANSCRIPT_FILE)).unwrap(), kept);
}

#[test]
fn real_output_has_a_readable_transcript() {
    let samples = concat!(
        include_str!("../backend/claude/samples/system.jsonl"),
        include_str!("../backend/claude/samples/assistant.jsonl"),
        include_str!("../backend/claude/samples/user.jsonl"),
        include_str!("../backend/claude/samples/result.jsonl"),
    );
    let events: Vec<RunEvent> = samples.lines().flat_map(decode).collect();
    let kinds: Vec<&str> = shown(&events).iter().map(|line| line.kind.as_str()).collect();
    insta::assert_snapshot!(kinds.join(" "), @"note start text thinking tool_use message tool_result error error error error result");
}
