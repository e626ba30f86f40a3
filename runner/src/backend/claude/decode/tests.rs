//! Recorded lines of the real program (2.1.330), shortened, and arbitrary input.

use proptest::prelude::*;

use super::*;

fn items(sample: &str) -> Vec<RunEvent> {
    sample.lines().flat_map(decode).collect()
}

/// The events of a sample as JSON. The raw line of an unknown event is shown by its type.
fn show(sample: &str) -> String {
    let line = |event: RunEvent| match event {
        RunEvent::Other { raw, .. } => format!("other {}", kind(&raw)),
        event => serde_json::to_string(&event).unwrap(),
    };
    items(sample).into_iter().map(line).collect::<Vec<_>>().join("\n")
}

fn kind(raw: &str) -> String {
    let line: Value = serde_json::from_str(raw).unwrap();
    format!("{} {}", string(&line, "type"), string(&line, "subtype")).trim_end().to_owned()
}

#[test]
fn texts_and_tools_are_decoded() {
    insta::assert_snapshot!(show(include_str!("../samples/assistant.jsonl")), @r#"
    {"event":"text","text":"hi"}
    {"event":"context","used":12591,"size":null}
    {"event":"request","id":"msg_301b1d61dd31468bac0485d3","model":"claude-opus-5-5","is_main":true,"input":3,"output":1,"cache_read":0,"cache_write":12588,"part":0}
    {"event":"thinking","text":"hm"}
    {"event":"context","used":12591,"size":null}
    {"event":"request","id":"msg_301b1d61dd31468bac0485d3","model":"claude-opus-5-5","is_main":true,"input":3,"output":1,"cache_read":0,"cache_write":12588,"part":0}
    {"event":"tool_started","id":"toolu_9830524bf0b8437fa1725168","kind":"execute","name":"Bash","title":"echo hi","locations":[],"input":{"command":"echo hi","description":"x"}}
    {"event":"context","used":12591,"size":null}
    {"event":"request","id":"msg_301b1d61dd31468bac0485d3","model":"claude-opus-5-5","is_main":true,"input":3,"output":1,"cache_read":0,"cache_write":12588,"part":9}
    "#);
    insta::assert_snapshot!(show(include_str!("../samples/user.jsonl")), @r#"
    {"event":"message_accepted","id":"d78c28f4-44d9-4686-932f-49036021d706","text":"go"}
    other user
    {"event":"tool_ended","id":"toolu_9830524bf0b8437fa1725168","ok":true,"output":"hi"}
    "#);
}

#[test]
fn lines_of_the_program_are_decoded() {
    insta::assert_snapshot!(show(include_str!("../samples/system.jsonl")), @r#"
    {"event":"retrying","status":529,"attempt":1,"limit":10,"delay_ms":554,"message":"overloaded"}
    other system background_tasks_changed
    other system hook_response
    other system hook_started
    {"event":"session_started","id":"3db98857-ff74-4721-ba77-62fa861005f9","model":"claude-opus-5-5","agent":"Claude Code","version":"2.1.330","resumable":true,"tool_servers":[{"name":"exp","connected":true,"status":"connected"}]}
    {"event":"turn_started"}
    other system model_fallback
    other system notification
    other system permission_denied
    other system status
    other system task_notification
    other system task_progress
    other system task_started
    other system task_updated
    other system thinking_tokens
    "#);
    insta::assert_snapshot!(show(include_str!("../samples/rate_limit_event.jsonl")), @r#"{"event":"rate_limit","state":"warning","resets_at_unix":1795298048,"window":"five_hour","utilization":0.91}"#);
}

#[test]
fn ends_of_turns_are_decoded() {
    insta::assert_snapshot!(show(include_str!("../samples/result.jsonl")), @r#"
    {"event":"usage","scope":"turn","input":12,"output":138,"cache_read":40887,"cache_write":13790,"thinking":null,"requests":6,"cost_micro_usd":79935,"models":{"claude-opus-5-5":{"price":3628757,"context_window":1000000}}}
    {"event":"context","used":null,"size":1000000}
    {"event":"turn_ended","reason":"cancelled"}
    {"event":"usage","scope":"turn","input":200000,"output":32,"cache_read":0,"cache_write":12338,"thinking":null,"requests":1,"cost_micro_usd":862330,"models":{"claude-opus-5-5":{"price":4000000,"context_window":1000000}}}
    {"event":"context","used":null,"size":1000000}
    {"event":"turn_ended","reason":"budget"}
    {"event":"usage","scope":"turn","input":3,"output":32,"cache_read":0,"cache_write":12328,"thinking":null,"requests":2,"cost_micro_usd":62292,"models":{"claude-opus-5-5":{"price":4000000,"context_window":1000000}}}
    {"event":"context","used":null,"size":1000000}
    {"event":"turn_ended","reason":"max_turn_requests"}
    {"event":"usage","scope":"turn","input":0,"output":0,"cache_read":0,"cache_write":0,"thinking":null,"requests":1,"cost_micro_usd":0}
    {"event":"failed","class":"bad_request","http":400,"message":"API Error: 400 scripted 400","retryable":false}
    {"event":"turn_ended","reason":"failed"}
    {"event":"usage","scope":"turn","input":18,"output":184,"cache_read":64156,"cache_write":13165,"thinking":null,"requests":6,"cost_micro_usd":82408,"models":{"claude-opus-5-5":{"price":3461088,"context_window":1000000}}}
    {"event":"context","used":null,"size":1000000}
    {"event":"turn_ended","reason":"end_turn"}
    "#);
    insta::assert_snapshot!(show(include_str!("../samples/failure.jsonl")), @r#"
    {"event":"failed","class":"auth","http":null,"message":"Not logged in · Please run /login","retryable":false}
    {"event":"usage","scope":"turn","input":0,"output":0,"cache_read":0,"cache_write":0,"thinking":null,"requests":1,"cost_micro_usd":0}
    {"event":"failed","class":"auth","http":null,"message":"Not logged in · Please run /login","retryable":false}
    {"event":"turn_ended","reason":"failed"}
    {"event":"usage","scope":"turn","input":0,"output":0,"cache_read":0,"cache_write":0,"thinking":null,"requests":1,"cost_micro_usd":0}
    {"event":"failed","class":"unreachable","http":null,"message":"API Error: Connection refused — a firewall or proxy may be blocking it (ECONNREFUSED)","retryable":true}
    {"event":"turn_ended","reason":"failed"}
    {"event":"usage","scope":"turn","input":0,"output":0,"cache_read":0,"cache_write":0,"thinking":null,"requests":0,"cost_micro_usd":0}
    {"event":"failed","class":"session_unavailable","http":null,"message":"No conversation found with session ID: 33333333-2222-4222-8222-222222222222","retryable":false}
    {"event":"turn_ended","reason":"failed"}
    "#);
}

#[test]
fn resumed_session_reports_its_own_turn_alone() {
    let events = items(include_str!("../samples/resumed.jsonl"));
    let [RunEvent::Usage(usage), ..] = &events[..] else { panic!("{events:?}") };
    assert_eq!((usage.cost_micro_usd, usage.input, usage.output, usage.cache_read), (Some(6000), 1000, 100, 0));
}

#[test]
fn unknown_types_are_other_events() {
    let samples = [
        include_str!("../samples/command_lifecycle.jsonl"),
        include_str!("../samples/control_request.jsonl"),
        include_str!("../samples/control_response.jsonl"),
        include_str!("../samples/stream_event.jsonl"),
    ];
    insta::assert_snapshot!(samples.map(show).join("\n"), @r#"
    other command_lifecycle
    {"event":"permission_asked","id":"","call":{"id":"toolu_a7132daa59d8449187c8428d","kind":"write","name":"Write","title":"/repo/a.txt","locations":["/repo/a.txt"],"input":{"content":"x","file_path":"/repo/a.txt"},"edits":[{"old":"","new":"x"}]},"options":[{"id":"allow","kind":"allow_once"},{"id":"deny","kind":"reject_once"}]}
    other control_request
    other control_response
    {"event":"interrupt_taken","id":"0f882d2f-180f-4043-bef5-09f5293c6a35"}
    {"event":"permission_closed","id":"164ccab0-fab2-4a4e-9c6d-386b3456bf77"}
    {"event":"permission_closed","id":"5455de50-45ee-4861-b52b-f3afddc052fc"}
    other stream_event
    other stream_event
    other stream_event
    other stream_event
    other stream_event
    other stream_event
    "#);
}

#[test]
fn subagent_has_a_conversation_of_its_own() {
    let line = r#"{"type":"assistant","message":{"model":"m","content":[],"usage":{"input_tokens":9}},"parent_tool_use_id":null}"#;
    assert!(matches!(&decode(line)[..], [RunEvent::Context { used: Some(9), size: None }, RunEvent::Request(request)] if request.is_main));
    let of_helper = decode(&line.replace("null", "\"toolu_1\""));
    assert!(matches!(&of_helper[..], [RunEvent::Request(request)] if !request.is_main && request.tokens.input == 9), "{of_helper:?}");
}

#[test]
fn plan_tool_becomes_a_plan() {
    let line = r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"TodoWrite","input":{"todos":[{"content":"Test it","status":"in_progress","activeForm":"Testing it"},{"content":"Ship it","status":"odd"},{}]}}]}}"#;
    let events: Vec<String> = decode(line).iter().map(|event| serde_json::to_string(event).unwrap()).collect();
    insta::assert_snapshot!(events.join("\n"), @r#"{"event":"plan","entries":[{"content":"Test it","status":"in_progress"},{"content":"Ship it","status":"pending"}]}"#);
}

#[test]
fn errors_of_answers_and_turns_have_a_class() {
    use domain::runs::run_event::ErrorClass;
    let class = |line: String| {
        decode(&line).into_iter().find_map(|event| if let RunEvent::Failed(error) = event { Some(error.class) } else { None }).unwrap()
    };
    let answer = |kind: &str| class(format!(r#"{{"type":"assistant","error":"{kind}","message":{{"content":[]}}}}"#));
    assert_eq!(answer("authentication_failed"), ErrorClass::Auth);
    assert_eq!(answer("billing_error"), ErrorClass::Quota);
    assert_eq!(answer("something_new"), ErrorClass::Unknown);
    let turn = |status: u16| class(format!(r#"{{"type":"result","is_error":true,"api_error_status":{status},"result":"API Error"}}"#));
    assert_eq!([401, 429, 400, 529].map(turn), [ErrorClass::Auth, ErrorClass::RateLimit, ErrorClass::BadRequest, ErrorClass::Overloaded]);
}

#[test]
fn lines_that_are_not_objects_are_kept() {
    for text in ["npm warn deprecated", "[1]", "7", "{\"type\":", "null"] {
        assert_eq!(decode(text), [RunEvent::Other { raw: text.to_owned(), plain: true }]);
    }
    assert_eq!(decode("  \r"), []);
    assert_eq!(decode("{}"), [RunEvent::Other { raw: "{}".to_owned(), plain: false }]);
}

/// JSON with the right keys and wrong values.
fn odd_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        prop::sample::select(vec!["assistant", "user", "result", "system", "init", "tool_use", "tool_result", "text"]).prop_map(Value::from),
    ];
    let key = prop::sample::select(vec![
        "type",
        "subtype",
        "message",
        "content",
        "usage",
        "modelUsage",
        "errors",
        "mcp_servers",
        "input_tokens",
        "input",
        "rate_limit_info",
    ]);
    leaf.prop_recursive(5, 60, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map(key.clone().prop_map(str::to_owned), inner, 0..8).prop_map(Value::from_iter),
        ]
    })
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        decode(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn arbitrary_json_never_panics(value in odd_value()) {
        decode(&value.to_string());
    }

    #[test]
    fn a_sample_cut_anywhere_never_panics(line in 0usize..14, at in 0usize..400) {
        if let Some(line) = include_str!("../samples/system.jsonl").lines().nth(line) {
            decode(&line.chars().take(at).collect::<String>());
        }
    }
}
