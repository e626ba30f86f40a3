//! Every end of a run, judged from the real program's output and error texts.

use domain::runs::run_event::RunEvent;
use domain::time::Timestamp;

use super::*;
use crate::backend::decode;
use crate::run_dir::ExitError;
use crate::watch::output_state::OutputState;

/// The end of a run, as it was recorded.
struct Recorded {
    exit: ExitRecord,
    events: Vec<RunEvent>,
    stderr: &'static str,
    stopped: bool,
}

fn recorded(code: i32, output: &str, stderr: &'static str) -> Recorded {
    let exit =
        ExitRecord { code: Some(code), signal: None, ended_at: Timestamp::from_milliseconds(0), killed_leftovers: 0, duration_ms: None, error: None };
    Recorded { exit, events: output.lines().flat_map(decode).collect(), stderr, stopped: false }
}

fn recorded_error(kind: ExitErrorKind, output: &str) -> Recorded {
    let mut recorded = recorded(0, output, "");
    recorded.exit = ExitRecord { code: None, error: Some(ExitError { kind, detail: "detail".to_owned() }), ..recorded.exit };
    recorded
}

impl Recorded {
    fn outcome(&self) -> RunOutcome {
        let mut state = OutputState::default();
        self.events.iter().for_each(|event| state.apply(event));
        classify_end(&ExitEvidence {
            exit: &self.exit,
            turn: state.turn_end(),
            error: state.error(),
            tool_servers: state.tool_servers(),
            stderr: self.stderr,
            stopped: self.stopped,
        })
    }

    fn error_class(&self) -> Option<ErrorClass> {
        match self.outcome() {
            RunOutcome::Failed { error } => Some(error.class),
            _ => None,
        }
    }
}

const INIT: &str = r#"{"type":"system","subtype":"init","mcp_servers":[{"name":"vibe-relay","status":"connected"}]}"#;
const FAILED: &str = include_str!("../claude/samples/failure.jsonl");
const RESULTS: &str = include_str!("../claude/samples/result.jsonl");

/// The line of a sample that contains `text`.
fn line(sample: &'static str, text: &str) -> &'static str {
    sample.lines().find(|line| line.contains(text)).unwrap()
}

#[test]
fn completed_turn_is_a_success_whatever_followed() {
    let success = line(RESULTS, r#""is_error":false"#);
    assert_eq!(recorded(0, success, "").outcome(), RunOutcome::Success);
    let killed = ExitRecord { code: None, signal: Some(9), ..recorded(0, "", "").exit };
    assert_eq!(Recorded { exit: killed, ..recorded(0, success, "") }.outcome(), RunOutcome::Success);
    assert_eq!(recorded_error(ExitErrorKind::Lost, success).outcome(), RunOutcome::Success);
    assert_eq!(Recorded { stopped: true, ..recorded(0, success, "") }.outcome(), RunOutcome::Stopped);
}

#[test]
fn failed_turns_are_told_apart() {
    assert_eq!(recorded(1, line(RESULTS, "error_max_turns"), "").outcome(), RunOutcome::MaxTurns);
    assert_eq!(recorded(1, line(RESULTS, "error_max_budget_usd"), "").outcome(), RunOutcome::Budget);
    let bad_request = line(RESULTS, r#""api_error_status":400"#);
    let refused = recorded(1, bad_request, "").outcome();
    assert_eq!(refused.detail().as_deref(), Some("400: API Error: 400 scripted 400"));
    let failure = |status: &str| recorded(1, &bad_request.replace("400", status), "").outcome().failure();
    for status in ["401", "403"] {
        assert_eq!(failure(status), Some(FailureClass::SignedOut), "{status}: the sign-in is not accepted, for any task");
    }
    assert_eq!(failure("429"), Some(FailureClass::RateLimited));
    for status in ["400", "404", "413"] {
        assert_eq!(failure(status), Some(FailureClass::ApiError), "{status}: the service refused the request");
    }
    let poor = bad_request.replace("scripted 400", "Credit balance is too low");
    assert_eq!(recorded(1, &poor, "").outcome().failure(), Some(FailureClass::NoCredit));
    for status in ["500", "502", "503", "529", "null"] {
        assert_eq!(failure(status), Some(FailureClass::ServiceUnreachable), "{status}: another task would fail too");
    }
    assert_eq!(recorded(1, line(FAILED, "ECONNREFUSED"), "").error_class(), Some(ErrorClass::Unreachable));
    let unreached = r#"{"type":"result","subtype":"success","is_error":true,"result":"API Error: Connection error."}"#;
    assert_eq!(recorded(1, unreached, "").error_class(), Some(ErrorClass::Unreachable), "also without a reason");
    assert_eq!(recorded(1, line(FAILED, r#""api_error_status":null,"result":"Not"#), "").error_class(), Some(ErrorClass::Auth));
    let translated = FAILED.lines().take(2).collect::<Vec<_>>().join("\n").replace("Not logged in", "Nicht angemeldet");
    assert_eq!(recorded(1, &translated, "").error_class(), Some(ErrorClass::Auth));
    assert!(recorded(1, line(FAILED, "No conversation found"), "No conversation found").outcome().lost_session());
    let aborted = recorded(0, line(RESULTS, "error_during_execution"), "").outcome();
    assert!(matches!(aborted, RunOutcome::Crashed { code: Some(0), .. }), "{aborted:?}");
}

#[test]
fn ends_without_a_turn_are_read_from_stderr() {
    let root = "--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons\n";
    assert_eq!(recorded(1, "", root).outcome().failure(), Some(FailureClass::RootRefused));
    for lost in ["Error: Session ID 2222 is already in use.\n", "No conversation found with session ID: 3333\n"] {
        let outcome = recorded(1, "", lost).outcome();
        assert_eq!((outcome.lost_session(), outcome.failure()), (true, None), "{lost}");
    }
    let full = "Error: ENOSPC: no space left on device, write\n";
    assert_eq!(recorded(1, INIT, full).outcome().failure(), Some(FailureClass::DiskFull));
    let crashed = recorded(139, INIT, "oops\n").outcome();
    assert_eq!(crashed, RunOutcome::Crashed { code: Some(139), signal: None, text: "oops".to_owned() });
    assert_eq!(crashed.detail().as_deref(), Some("exit code 139: oops"));
    for (code, signal) in [(None, Some(9)), (Some(137), None), (Some(143), None)] {
        let exit = ExitRecord { code, signal, ..recorded(0, "", "").exit };
        let killed = Recorded { exit, ..recorded(0, INIT, "") }.outcome();
        assert_eq!(killed.failure(), Some(FailureClass::Killed), "{killed:?}");
        assert!(killed.detail().unwrap().starts_with("ended by signal "), "{killed:?}");
    }
    let unmounted = "warning\nbwrap: Can't bind mount /oldroot/x on /newroot/x: No such file\n";
    let outcome = recorded(1, "", unmounted).outcome();
    assert_eq!((outcome.failure(), outcome.detail().as_deref()), (Some(FailureClass::Sandbox), unmounted.lines().nth(1)));
    assert_eq!(recorded(1, INIT, unmounted).outcome().failure(), Some(FailureClass::Crashed), "the agent ran, and bwrap was its own");
}

#[test]
fn program_that_exits_in_order_without_a_result_broke_its_protocol() {
    for output in ["", "hello, world", "{\"type\":\"greeting\",\"version\":9}", INIT] {
        let outcome = recorded(0, output, "usage: echo\n").outcome();
        assert_eq!(outcome.failure(), Some(FailureClass::Protocol), "{output}");
        assert_eq!(outcome.detail().as_deref(), Some("it exited without the result of a turn: usage: echo"));
    }
    let crashed = recorded(1, "hello, world", "").outcome();
    assert_eq!(crashed.failure(), Some(FailureClass::Crashed), "its exit code says that it failed");
}

#[test]
fn agent_without_board_tools_did_not_succeed() {
    let success = line(RESULTS, r#""is_error":false"#);
    assert_eq!(recorded(0, &format!("{INIT}\n{success}"), "").outcome(), RunOutcome::Success);
    let failed = format!("{}\n{success}", INIT.replace("connected", "failed"));
    assert_eq!(recorded(0, &failed, "").outcome(), RunOutcome::BoardUnreachable { status: "failed".to_owned() });
    let missing = format!("{}\n{success}", INIT.replace("vibe-relay", "other"));
    assert_eq!(recorded(0, &missing, "").outcome(), RunOutcome::BoardUnreachable { status: "missing".to_owned() });
}

#[test]
fn any_answer_shows_that_the_service_responded() {
    let bad_request = line(RESULTS, r#""api_error_status":400"#);
    let responded = |output: &str| recorded(1, output, "").outcome().service_responded();
    assert!(responded(line(RESULTS, r#""is_error":false"#)) && responded(line(RESULTS, "error_max_turns")));
    assert!(responded(bad_request) && responded(&bad_request.replace("400", "429")));
    assert!(!responded(&bad_request.replace("400", "500")) && !responded(line(FAILED, "ECONNREFUSED")) && !responded(INIT));
}

#[test]
fn own_failures_are_read_from_the_exit_record() {
    assert_eq!(recorded_error(ExitErrorKind::MissingProgram, "").outcome(), RunOutcome::MissingProgram);
    assert_eq!(recorded_error(ExitErrorKind::StartFailed, "").outcome(), RunOutcome::Spawn { detail: "detail".to_owned() });
    assert_eq!(recorded_error(ExitErrorKind::Lost, INIT).outcome(), RunOutcome::Lost);
    let interrupted = recorded_error(ExitErrorKind::Interrupted, line(RESULTS, r#""is_error":true"#)).outcome();
    assert_eq!((interrupted.is_interrupted(), interrupted.failure()), (true, None), "whatever the agent said when it was ended");
    let flooded = recorded_error(ExitErrorKind::OutputLimit, line(RESULTS, r#""is_error":false"#)).outcome();
    assert_eq!(flooded, RunOutcome::Crashed { code: None, signal: None, text: "detail".to_owned() });
}

#[test]
fn killed_for_its_memory_is_not_the_fault_of_the_task() {
    let error = Some(ExitError { kind: ExitErrorKind::OutOfMemory, detail: "memory ran out".to_owned() });
    let killed = ExitRecord { code: None, signal: Some(9), error, ..recorded(0, "", "").exit };
    let outcome = Recorded { exit: killed.clone(), ..recorded(0, INIT, "") }.outcome();
    assert_eq!((outcome.failure(), outcome.detail().as_deref()), (Some(FailureClass::SystemLimit), Some("memory ran out")));
    let after_the_turn = Recorded { exit: killed, ..recorded(0, &format!("{INIT}\n{}", line(RESULTS, r#""is_error":false"#)), "") }.outcome();
    assert_eq!(after_the_turn, RunOutcome::Success);
}
