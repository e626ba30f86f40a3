//! What is kept, what is left out, and going on after a server was killed at any byte.

use std::fs;

use serde_json::json;

use super::*;
use crate::backend::stream::{Init, TurnResult, parse};

fn text(text: &str) -> RunLine {
    RunLine::Text { text: text.to_owned() }
}

fn other() -> RunLine {
    RunLine::Other { kind: "system/status".to_owned() }
}

fn tool_result(text: &str, is_error: bool) -> RunLine {
    RunLine::ToolResult { id: "1".to_owned(), is_error, text: text.to_owned() }
}

fn entries(folder: &Path) -> Vec<OutputLine> {
    fs::read_to_string(folder.join(FILE)).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn shown(lines: &[RunLine]) -> Vec<OutputLine> {
    lines.iter().filter_map(|line| readable(9, line, "/worktree")).collect()
}

#[test]
fn entries_keep_their_format() {
    let folder = tempfile::tempdir().unwrap();
    let mut transcript = Transcript::open(folder.path()).unwrap();
    let init = RunLine::Init(Init { model: "claude-sonnet-4-5".to_owned(), ..Init::default() });
    transcript.add(40, &[init], "/worktree").unwrap();
    let bash = RunLine::ToolUse { id: "1".to_owned(), name: "Bash".to_owned(), input: json!({"command": "cd /worktree && cargo test"}) };
    transcript.add(120, &[text("I look."), other(), bash], "/worktree").unwrap();
    transcript.add(200, &[tool_result("ok\nsecond", false), tool_result("bad", true)], "/worktree").unwrap();
    insta::assert_snapshot!(fs::read_to_string(folder.path().join(FILE)).unwrap(), @r#"
    {"offset":40,"kind":"start","text":"claude-sonnet-4-5 begins"}
    {"offset":120,"kind":"text","text":"I look."}
    {"offset":120,"kind":"tool_use","text":"runs cargo test","detail":"{\n  \"command\": \"cd /worktree && cargo test\"\n}"}
    {"offset":200,"kind":"tool_result","text":"ok…","detail":"ok\nsecond"}
    {"offset":200,"kind":"tool_error","text":"bad"}
    "#);
    use std::os::unix::fs::PermissionsExt;
    assert_eq!(fs::metadata(folder.path().join(FILE)).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_persons_words_are_shown_in_full_and_prompts_by_their_name() {
    let told = |text: String| RunLine::UserReplay { text, uuid: None };
    let inbox = "<inbox>\n[#1 mara → ben 2026-01-31T09:05:00.000Z] Hello\n</inbox>\n".to_owned();
    let lines = [told(prompt::message("Use blue.\nThanks.")), told("<issue>\nTitle: A\n</issue>\n".to_owned()), told(inbox)];
    let shown: Vec<_> = shown(&lines).into_iter().map(|line| (line.text, line.detail.is_some())).collect();
    let wanted = [("Use blue.\nThanks.", false), ("the task with its comments", true), ("messages of others", true)];
    assert_eq!(shown, wanted.map(|(text, detail)| (text.to_owned(), detail)));
}

#[test]
fn what_ends_a_turn_is_said_in_words() {
    let result = |is_error, text: Option<&str>, errors: &[&str]| {
        RunLine::Result(Box::new(TurnResult {
            is_error,
            subtype: "error_during_execution".to_owned(),
            text: text.map(str::to_owned),
            errors: errors.iter().map(|error| (*error).to_owned()).collect(),
            turns: 3,
            ..TurnResult::default()
        }))
    };
    let lines =
        shown(&[result(false, Some("done"), &[]), result(true, Some("API Error"), &[]), result(true, None, &["a", "b"]), result(true, None, &[])]);
    let words: Vec<(&str, &str)> = lines.iter().map(|line| (line.kind.as_str(), line.text.as_str())).collect();
    assert_eq!(words, [("result", "turn ended after 3 requests"), ("error", "API Error"), ("error", "a"), ("error", "error_during_execution")]);
}

#[test]
fn what_a_person_need_not_read_is_left_out() {
    let quiet = [
        text(" \n"),
        RunLine::Thinking { text: String::new() },
        other(),
        RunLine::Usage { model: String::new(), context_tokens: 1 },
        RunLine::RateLimit { status: "allowed".to_owned(), resets_at_unix: None, kind: None, utilization: None },
    ];
    assert_eq!(shown(&quiet), []);
}

#[test]
fn every_text_and_detail_is_bounded() {
    let long = "é".repeat(DETAIL_BYTES);
    let message = RunLine::UserReplay { uuid: None, text: long.clone() };
    let error = RunLine::ApiError { error: String::new(), text: long.clone() };
    let write = RunLine::ToolUse { id: String::new(), name: "Write".to_owned(), input: json!({"file_path": "a", "content": long}) };
    let thinking = RunLine::Thinking { text: long.clone() };
    let foreign = RunLine::Foreign { text: long.clone() };
    let lines = shown(&[text(&long), tool_result(&long, false), message, error, write, thinking, foreign]);
    assert_eq!(lines.len(), 7);
    for line in lines {
        for part in [Some(line.text), line.detail].into_iter().flatten() {
            assert!(part.len() < DETAIL_BYTES + 100, "{} bytes of {}", part.len(), line.kind);
        }
    }
    assert!(bounded(&long).ends_with("32768 bytes more in the run's raw output"));
}

/// A reader in between sees whole entries of whole lines.
#[test]
fn one_raw_line_is_one_write() {
    let folder = tempfile::tempdir().unwrap();
    let mut transcript = Transcript::open(folder.path()).unwrap();
    let before = writes();
    transcript.add(1, &[text("a"), other(), text(&"b".repeat(100_000)), text("c")], "").unwrap();
    assert_eq!(writes() - before, 1);
}

/// How often this thread has written to a file.
fn writes() -> u64 {
    let counters = fs::read_to_string("/proc/thread-self/io").unwrap();
    counters.lines().find_map(|line| line.strip_prefix("syscw: ")?.parse().ok()).unwrap()
}

#[test]
fn a_line_is_added_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut transcript = Transcript::open(folder.path()).unwrap();
    assert!(!transcript.covers(1));
    transcript.add(10, &[text("a")], "").unwrap();
    transcript.add(10, &[text("a")], "").unwrap();
    transcript.add(5, &[text("earlier")], "").unwrap();
    assert!(transcript.covers(10) && !transcript.covers(11));
    assert_eq!(entries(folder.path()).len(), 1);
    let transcript = Transcript::open(folder.path()).unwrap();
    assert!(transcript.covers(10) && !transcript.covers(11));
}

/// A line without an entry leaves no mark, so it is new to the next server: nothing may hang on it but the entries themselves.
#[test]
fn lines_without_an_entry_are_read_again_and_add_nothing() {
    let folder = tempfile::tempdir().unwrap();
    Transcript::open(folder.path()).unwrap().add(10, &[text("a")], "").unwrap();
    Transcript::open(folder.path()).unwrap().add(20, &[other()], "").unwrap();
    let mut transcript = Transcript::open(folder.path()).unwrap();
    assert!(!transcript.covers(20));
    transcript.add(20, &[other()], "").unwrap();
    transcript.add(30, &[text("b")], "").unwrap();
    assert_eq!(entries(folder.path()).iter().map(|entry| entry.offset).collect::<Vec<_>>(), [10, 30]);
}

/// Whatever the byte at which a server was killed, the next one ends with the same transcript.
#[test]
fn a_transcript_torn_at_any_byte_is_completed() {
    let raw = [(10, vec![text("one")]), (20, vec![other()]), (30, vec![text("two"), text("zwei"), text("deux")]), (40, vec![text("four")])];
    let write = |folder: &Path| {
        let mut transcript = Transcript::open(folder).unwrap();
        for (offset, lines) in &raw {
            transcript.add(*offset, lines, "").unwrap();
        }
    };
    let folder = tempfile::tempdir().unwrap();
    write(folder.path());
    let whole = fs::read(folder.path().join(FILE)).unwrap();
    let boundaries: Vec<usize> = whole.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(place, _)| place + 1).collect();
    for length in 0..whole.len() {
        // Between two entries of one line a file is never cut: they are one write.
        if boundaries[1..3].contains(&length) {
            continue;
        }
        fs::write(folder.path().join(FILE), &whole[..length]).unwrap();
        write(folder.path());
        assert_eq!(fs::read(folder.path().join(FILE)).unwrap(), whole, "torn after {length} bytes");
    }
}

#[test]
fn what_is_no_entry_ends_the_transcript_there() {
    let folder = tempfile::tempdir().unwrap();
    Transcript::open(folder.path()).unwrap().add(10, &[text("a")], "").unwrap();
    let kept = fs::read_to_string(folder.path().join(FILE)).unwrap();
    fs::write(folder.path().join(FILE), format!("{kept}{{\"foreign\":1}}\n{kept}")).unwrap();
    let mut transcript = Transcript::open(folder.path()).unwrap();
    assert!(!transcript.covers(10), "the entry before it may be half of its line");
    transcript.add(10, &[text("a")], "").unwrap();
    assert_eq!(fs::read_to_string(folder.path().join(FILE)).unwrap(), kept);
}

#[test]
fn a_real_stream_has_a_readable_transcript() {
    let samples = concat!(
        include_str!("../backend/stream/samples/system.jsonl"),
        include_str!("../backend/stream/samples/assistant.jsonl"),
        include_str!("../backend/stream/samples/user.jsonl"),
        include_str!("../backend/stream/samples/result.jsonl"),
    );
    let lines: Vec<RunLine> = samples.lines().flat_map(parse).collect();
    let kinds: Vec<&str> = shown(&lines).iter().map(|line| line.kind.as_str()).collect();
    insta::assert_snapshot!(kinds.join(" "), @"note start text thinking tool_use message tool_result error error error error result");
}
