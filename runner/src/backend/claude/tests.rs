//! The command line and the wire, locked by snapshots; every way to end, told from the program's real words.

use domain::time::Timestamp;

use super::*;
use crate::backend::stream::{RunLine, parse};
use crate::run_dir::ExitError;

fn spec(phase: AgentKind, session: Session, command: &[String]) -> ClaudeSpec<'_> {
    ClaudeSpec {
        command,
        phase,
        session,
        model: None,
        system_prompt_file: Path::new("/runs/1/system.md"),
        mcp_config_file: Path::new("/runs/1/mcp.json"),
        settings_file: Path::new("/runs/1/settings.json"),
        checkout: Path::new("/worktrees/TASK-001"),
    }
}

#[test]
fn the_command_line_of_a_first_start_and_of_a_resumed_one() {
    let command = ["/usr/bin/claude".to_owned()];
    insta::assert_snapshot!(argv(&spec(AgentKind::Coder, Session::New(Uuid::nil()), &command)).join(" "), @"/usr/bin/claude -p --output-format stream-json --input-format stream-json --verbose --replay-user-messages --session-id 00000000-0000-0000-0000-000000000000 --append-system-prompt-file /runs/1/system.md --mcp-config /runs/1/mcp.json --strict-mcp-config --setting-sources user --settings /runs/1/settings.json --add-dir /worktrees/TASK-001 --tools Bash,Read,Edit,Write,Grep,Glob,Agent --dangerously-skip-permissions");
    let played = ["/usr/bin/vibe-relay".to_owned(), "scripted-agent".to_owned()];
    let resumed = ClaudeSpec { model: Some("opus"), ..spec(AgentKind::Planner, Session::Resume(Uuid::nil()), &played) };
    insta::assert_snapshot!(argv(&resumed).join(" "), @"/usr/bin/vibe-relay scripted-agent -p --output-format stream-json --input-format stream-json --verbose --replay-user-messages --resume 00000000-0000-0000-0000-000000000000 --model opus --append-system-prompt-file /runs/1/system.md --mcp-config /runs/1/mcp.json --strict-mcp-config --setting-sources user --settings /runs/1/settings.json --add-dir /worktrees/TASK-001 --tools Bash,Read,Grep,Glob --dangerously-skip-permissions");
}

#[test]
fn only_coders_and_reviewers_get_tools_that_write() {
    for phase in AgentKind::ALL {
        let writes = matches!(phase, AgentKind::Coder | AgentKind::Reviewer);
        assert_eq!(tools(*phase).contains("Write"), writes, "{phase}");
        // Who judges or plans looks for itself.
        assert_eq!(tools(*phase).contains("Agent"), *phase == AgentKind::Coder, "{phase}");
    }
}

#[test]
fn the_mcp_configuration_keeps_its_format() {
    let config = mcp_config(Path::new("/usr/bin/vibe-relay"), &TaskId::new(1), "secret", Path::new("/data/board.db"));
    insta::assert_snapshot!(serde_json::to_string_pretty(&config).unwrap(), @r#"
    {
      "mcpServers": {
        "vibe-relay": {
          "alwaysLoad": true,
          "args": [
            "mcp",
            "--task-id",
            "TASK-001"
          ],
          "command": "/usr/bin/vibe-relay",
          "env": {
            "VIBE_RELAY_DB": "/data/board.db",
            "VIBE_RELAY_TOKEN": "secret"
          }
        }
      }
    }
    "#);
}

#[test]
fn a_message_is_one_line() {
    insta::assert_snapshot!(user_line("<issue>\nü \"x\"\n</issue>", Uuid::nil()), @r#"{"message":{"content":"<issue>\nü \"x\"\n</issue>","role":"user"},"type":"user","uuid":"00000000-0000-0000-0000-000000000000"}"#);
}

/// A way to end, as it was seen.
struct Seen {
    exit: ExitRecord,
    items: Vec<RunLine>,
    stderr: &'static str,
    limited_until: Option<i64>,
    stopped: bool,
}

fn seen(code: i32, output: &str, stderr: &'static str) -> Seen {
    let exit = ExitRecord { code: Some(code), signal: None, ended_at: Timestamp::from_milliseconds(0), killed_leftovers: 0, error: None };
    Seen { exit, items: output.lines().flat_map(parse).collect(), stderr, limited_until: None, stopped: false }
}

fn seen_error(kind: ExitErrorKind, output: &str) -> Seen {
    let mut seen = seen(0, output, "");
    seen.exit = ExitRecord { code: None, error: Some(ExitError { kind, detail: "detail".to_owned() }), ..seen.exit };
    seen
}

impl Seen {
    fn end(&self) -> RunEnd {
        let items = || self.items.iter().rev();
        end(&Evidence {
            exit: &self.exit,
            result: items().find_map(|item| if let RunLine::Result(result) = item { Some(&**result) } else { None }),
            api_error: items().find_map(|item| if let RunLine::ApiError { error, .. } = item { Some(error.as_str()) } else { None }),
            servers: items().find_map(|item| if let RunLine::Init(init) = item { Some(&init.mcp_servers[..]) } else { None }),
            limited_until: self.limited_until,
            stderr: self.stderr,
            stopped: self.stopped,
        })
    }
}

const INIT: &str = r#"{"type":"system","subtype":"init","mcp_servers":[{"name":"vibe-relay","status":"connected"}]}"#;
const FAILED: &str = include_str!("../stream/samples/failure.jsonl");
const RESULTS: &str = include_str!("../stream/samples/result.jsonl");

/// The line of a sample that contains `words`.
fn line(sample: &'static str, words: &str) -> &'static str {
    sample.lines().find(|line| line.contains(words)).unwrap()
}

#[test]
fn a_turn_in_good_order_is_a_success_whatever_came_after_it() {
    let success = line(RESULTS, r#""is_error":false"#);
    assert_eq!(seen(0, success, "").end(), RunEnd::Success);
    let killed = ExitRecord { code: None, signal: Some(9), ..seen(0, "", "").exit };
    assert_eq!(Seen { exit: killed, ..seen(0, success, "") }.end(), RunEnd::Success);
    assert_eq!(seen_error(ExitErrorKind::Lost, success).end(), RunEnd::Success);
    assert_eq!(Seen { stopped: true, ..seen(0, success, "") }.end(), RunEnd::Stopped);
}

#[test]
fn failed_turns_are_told_apart() {
    assert_eq!(seen(1, line(RESULTS, "error_max_turns"), "").end(), RunEnd::MaxTurns);
    assert_eq!(seen(1, line(RESULTS, "error_max_budget_usd"), "").end(), RunEnd::Budget);
    let bad_request = line(RESULTS, r#""api_error_status":400"#);
    assert_eq!(seen(1, bad_request, "").end(), RunEnd::ApiError { status: Some(400), text: "API Error: 400 scripted 400".to_owned() });
    assert_eq!(seen(1, &bad_request.replace("400", "401"), "").end(), RunEnd::SignedOut);
    let class = |status: &str| seen(1, &bad_request.replace("400", status), "").end().failure();
    for status in ["400", "403", "404", "413"] {
        assert_eq!(class(status), Some(FailureClass::ApiError), "{status}: it refused what it was asked");
    }
    for status in ["500", "502", "503", "529", "null"] {
        assert_eq!(class(status), Some(FailureClass::ServiceUnreachable), "{status}: another task would fare no better");
    }
    let limited = Seen { limited_until: Some(7), ..seen(1, &bad_request.replace("400", "429"), "") };
    assert_eq!(limited.end(), RunEnd::RateLimited { until_unix: Some(7) });
    assert!(matches!(seen(1, line(FAILED, "ECONNREFUSED"), "").end(), RunEnd::ApiError { status: None, .. }));
    let unreached = r#"{"type":"result","subtype":"success","is_error":true,"result":"API Error: Connection error."}"#;
    assert_eq!(seen(1, unreached, "").end().failure(), Some(FailureClass::ServiceUnreachable), "also when no reason is given");
    assert_eq!(seen(1, line(FAILED, r#""api_error_status":null,"result":"Not"#), "").end(), RunEnd::SignedOut);
    let translated = FAILED.lines().take(2).collect::<Vec<_>>().join("\n").replace("Not logged in", "Nicht angemeldet");
    assert_eq!(seen(1, &translated, "").end(), RunEnd::SignedOut);
    assert_eq!(seen(1, line(FAILED, "No conversation found"), "No conversation found").end(), RunEnd::NoConversation);
    let aborted = seen(0, line(RESULTS, "error_during_execution"), "").end();
    assert!(matches!(aborted, RunEnd::Crashed { code: Some(0), .. }), "{aborted:?}");
}

#[test]
fn ends_without_a_turn_are_told_from_stderr() {
    let root = "--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons\n";
    assert_eq!(seen(1, "", root).end(), RunEnd::RootRefused);
    assert_eq!(seen(1, "", "Error: Session ID 2222 is already in use.\n").end(), RunEnd::SessionInUse);
    assert_eq!(seen(1, "", "No conversation found with session ID: 3333\n").end(), RunEnd::NoConversation);
    let full = "Error: ENOSPC: no space left on device, write\n";
    assert_eq!(seen(1, INIT, full).end().failure(), Some(FailureClass::DiskFull));
    assert_eq!(seen(139, INIT, "oops\n").end(), RunEnd::Crashed { code: Some(139), signal: None, text: "oops".to_owned() });
}

#[test]
fn an_agent_without_our_tools_did_not_succeed() {
    let success = line(RESULTS, r#""is_error":false"#);
    assert_eq!(seen(0, &format!("{INIT}\n{success}"), "").end(), RunEnd::Success);
    let failed = format!("{}\n{success}", INIT.replace("connected", "failed"));
    assert_eq!(seen(0, &failed, "").end(), RunEnd::McpNotConnected { status: "failed".to_owned() });
    let missing = format!("{}\n{success}", INIT.replace("vibe-relay", "other"));
    assert_eq!(seen(0, &missing, "").end(), RunEnd::McpNotConnected { status: "missing".to_owned() });
}

#[test]
fn the_service_was_reached_by_whoever_it_answered() {
    let bad_request = line(RESULTS, r#""api_error_status":400"#);
    let reached = |output: &str| seen(1, output, "").end().reached_service();
    assert!(reached(line(RESULTS, r#""is_error":false"#)) && reached(line(RESULTS, "error_max_turns")));
    assert!(reached(bad_request) && reached(&bad_request.replace("400", "429")));
    assert!(!reached(&bad_request.replace("400", "500")) && !reached(line(FAILED, "ECONNREFUSED")) && !reached(INIT));
}

#[test]
fn our_own_failures_are_told_from_the_exit_record() {
    assert_eq!(seen_error(ExitErrorKind::MissingProgram, "").end(), RunEnd::MissingProgram);
    assert_eq!(seen_error(ExitErrorKind::StartFailed, "").end(), RunEnd::Spawn { detail: "detail".to_owned() });
    assert_eq!(seen_error(ExitErrorKind::Lost, INIT).end(), RunEnd::Lost);
    let flooded = seen_error(ExitErrorKind::OutputLimit, line(RESULTS, r#""is_error":false"#)).end();
    assert_eq!(flooded, RunEnd::Crashed { code: None, signal: None, text: "detail".to_owned() });
}
