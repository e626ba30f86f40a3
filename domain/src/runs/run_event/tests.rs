//! The JSON form of run events: the format of an adapter's output, which a newer server must still read.

use serde_json::json;

use super::*;
use crate::runs::usage::Price;

/// One of each variant, in the order of the enum.
fn every() -> Vec<RunEvent> {
    vec![
        RunEvent::SessionStarted(SessionStarted {
            id: "s".to_owned(),
            model: "large".to_owned(),
            agent: "Agent".to_owned(),
            version: Some("1.2.3".to_owned()),
            resumable: true,
            tool_servers: vec![ToolServer { name: "vibe-relay".to_owned(), connected: true, status: "connected".to_owned() }],
        }),
        RunEvent::TurnStarted {},
        RunEvent::MessageAccepted { id: Some("m".to_owned()), text: "Go on.".to_owned() },
        RunEvent::Text { text: "Done.".to_owned() },
        RunEvent::Thinking { text: "Hm.".to_owned() },
        RunEvent::ToolStarted(call()),
        RunEvent::ToolEnded { id: "t".to_owned(), ok: false, output: "no such file".to_owned() },
        RunEvent::Plan { entries: vec![PlanEntry { content: "Add a test".to_owned(), status: PlanStatus::InProgress }] },
        RunEvent::Usage(TurnUsage {
            scope: UsageScope::Turn,
            input: 1,
            output: 2,
            cache_read: 3,
            cache_write: 4,
            thinking: Some(1),
            requests: 5,
            cost_micro_usd: Some(6),
            models: BTreeMap::from([("m".to_owned(), ModelInfo { price: Some(Price::new(7)), context_window: Some(8) })]),
        }),
        RunEvent::Request(RequestUsage {
            id: "msg".to_owned(),
            model: "m".to_owned(),
            is_main: true,
            tokens: Tokens { input: 1, output: 2, cache_read: 3, cache_write: 4 },
            part: 5,
        }),
        RunEvent::Context { used: Some(7), size: None },
        RunEvent::Retrying { status: Some(529), attempt: 1, limit: Some(10), delay_ms: 500, message: "overloaded".to_owned() },
        RunEvent::RateLimit {
            state: RateLimitState::Rejected,
            resets_at_unix: Some(8),
            window: Some("five_hour".to_owned()),
            utilization: Some(1.0),
        },
        RunEvent::PermissionAsked {
            id: "p".to_owned(),
            call: call(),
            options: vec![PermissionOption { id: "allow".to_owned(), kind: PermissionKind::AllowOnce }],
        },
        RunEvent::PermissionClosed { id: "p".to_owned() },
        RunEvent::InterruptTaken { id: "i".to_owned() },
        RunEvent::TurnEnded { reason: StopReason::EndTurn },
        RunEvent::Failed(AgentError::new(ErrorClass::Overloaded, Some(529), "overloaded")),
        RunEvent::Other { raw: "npm warn".to_owned(), plain: true },
    ]
}

fn call() -> ToolCall {
    ToolCall {
        id: "t".to_owned(),
        kind: ToolKind::Read,
        name: "Read".to_owned(),
        title: "src/main.rs".to_owned(),
        locations: vec!["src/main.rs".to_owned()],
        input: json!({"path": "src/main.rs"}),
        edits: Vec::new(),
    }
}

#[test]
fn json_form_is_stable() {
    let lines: Vec<String> = every().iter().map(|event| serde_json::to_string(event).unwrap()).collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    {"event":"session_started","id":"s","model":"large","agent":"Agent","version":"1.2.3","resumable":true,"tool_servers":[{"name":"vibe-relay","connected":true,"status":"connected"}]}
    {"event":"turn_started"}
    {"event":"message_accepted","id":"m","text":"Go on."}
    {"event":"text","text":"Done."}
    {"event":"thinking","text":"Hm."}
    {"event":"tool_started","id":"t","kind":"read","name":"Read","title":"src/main.rs","locations":["src/main.rs"],"input":{"path":"src/main.rs"}}
    {"event":"tool_ended","id":"t","ok":false,"output":"no such file"}
    {"event":"plan","entries":[{"content":"Add a test","status":"in_progress"}]}
    {"event":"usage","scope":"turn","input":1,"output":2,"cache_read":3,"cache_write":4,"thinking":1,"requests":5,"cost_micro_usd":6,"models":{"m":{"price":7,"context_window":8}}}
    {"event":"request","id":"msg","model":"m","is_main":true,"input":1,"output":2,"cache_read":3,"cache_write":4,"part":5}
    {"event":"context","used":7,"size":null}
    {"event":"retrying","status":529,"attempt":1,"limit":10,"delay_ms":500,"message":"overloaded"}
    {"event":"rate_limit","state":"rejected","resets_at_unix":8,"window":"five_hour","utilization":1.0}
    {"event":"permission_asked","id":"p","call":{"id":"t","kind":"read","name":"Read","title":"src/main.rs","locations":["src/main.rs"],"input":{"path":"src/main.rs"}},"options":[{"id":"allow","kind":"allow_once"}]}
    {"event":"permission_closed","id":"p"}
    {"event":"interrupt_taken","id":"i"}
    {"event":"turn_ended","reason":"end_turn"}
    {"event":"failed","class":"overloaded","http":529,"message":"overloaded","retryable":true}
    {"event":"other","raw":"npm warn","plain":true}
    "#);
}

#[test]
fn events_survive_a_round_trip() {
    for event in every() {
        let text = serde_json::to_string(&event).unwrap();
        assert_eq!(serde_json::from_str::<RunEvent>(&text).unwrap(), event, "{text}");
    }
}

#[test]
fn vocabularies_are_stable() {
    fn spellings<T: std::fmt::Display>(all: &[T]) -> String {
        all.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    }
    let lists = [
        spellings(ToolKind::ALL),
        spellings(PlanStatus::ALL),
        spellings(UsageScope::ALL),
        spellings(RateLimitState::ALL),
        spellings(PermissionKind::ALL),
        spellings(StopReason::ALL),
        spellings(ErrorClass::ALL),
    ];
    insta::assert_snapshot!(lists.join("\n"), @"
    board read write edit delete move search execute think fetch helper switch_mode other
    pending in_progress completed
    call turn session
    allowed warning rejected
    allow_once allow_always reject_once reject_always
    end_turn max_tokens max_turn_requests budget refusal cancelled failed
    auth quota rate_limit overloaded unreachable bad_request context_full session_unavailable root_refused agent_crash protocol cancelled_by_us stalled unknown
    ");
}

#[test]
fn total_input_of_absurd_numbers_does_not_overflow() {
    let usage = TurnUsage {
        scope: UsageScope::Turn,
        input: u64::MAX,
        output: 0,
        cache_read: 1,
        cache_write: 1,
        thinking: None,
        requests: 0,
        cost_micro_usd: None,
        models: BTreeMap::new(),
    };
    assert_eq!(usage.tokens().total_input(), u64::MAX);
}
