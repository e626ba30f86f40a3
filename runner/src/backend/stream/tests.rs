//! The parser against lines of the real program (2.1.330), trimmed, and against anything else.

use proptest::prelude::*;

use super::*;

fn items(sample: &str) -> Vec<RunLine> {
    sample.lines().flat_map(parse).collect()
}

fn show(sample: &str) -> String {
    items(sample).iter().map(|item| format!("{item:?}")).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_agents_words_and_tools() {
    insta::assert_snapshot!(show(include_str!("samples/assistant.jsonl")), @r#"
    Text { text: "hi" }
    Usage { model: "claude-opus-5-5", context_tokens: 12591 }
    Thinking { text: "hm" }
    Usage { model: "claude-opus-5-5", context_tokens: 12591 }
    ToolUse { id: "toolu_9830524bf0b8437fa1725168", name: "Bash", input: Object {"command": String("echo hi"), "description": String("x")} }
    Usage { model: "claude-opus-5-5", context_tokens: 12591 }
    "#);
    insta::assert_snapshot!(show(include_str!("samples/user.jsonl")), @r#"
    UserReplay { uuid: Some("d78c28f4-44d9-4686-932f-49036021d706"), text: "go" }
    Other { kind: "user/text" }
    ToolResult { id: "toolu_9830524bf0b8437fa1725168", is_error: false, text: "hi" }
    "#);
}

#[test]
fn the_programs_own_lines() {
    insta::assert_snapshot!(show(include_str!("samples/system.jsonl")), @r#"
    ApiRetry { attempt: 1, max: 10, delay_ms: 554, error_status: Some(529), error: "overloaded" }
    Other { kind: "system/background_tasks_changed" }
    Other { kind: "system/hook_response" }
    Other { kind: "system/hook_started" }
    Init(Init { session_id: "3db98857-ff74-4721-ba77-62fa861005f9", model: "claude-opus-5-5", mcp_servers: [McpServer { name: "exp", status: "connected" }], version: "2.1.330" })
    Other { kind: "system/model_fallback" }
    Other { kind: "system/notification" }
    Other { kind: "system/permission_denied" }
    Other { kind: "system/status" }
    Other { kind: "system/task_notification" }
    Other { kind: "system/task_progress" }
    Other { kind: "system/task_started" }
    Other { kind: "system/task_updated" }
    Other { kind: "system/thinking_tokens" }
    "#);
    insta::assert_snapshot!(show(include_str!("samples/rate_limit_event.jsonl")), @r#"RateLimit { status: "allowed_warning", resets_at_unix: Some(1795298048), kind: Some("five_hour"), utilization: Some(0.91) }"#);
}

#[test]
fn the_ends_of_turns() {
    insta::assert_snapshot!(show(include_str!("samples/result.jsonl")), @r#"
    Result(TurnResult { is_error: true, subtype: "error_during_execution", terminal_reason: Some("aborted_tools"), api_error_status: None, text: None, cost_micro_usd: 79935, turns: 6, tokens: Tokens { input: 12, output: 138, cache_read: 40887, cache_creation: 13790 }, context_window: Some(1000000), session_id: "89aec653-91b5-49e4-a084-8d5d95175621", errors: ["[ede_diagnostic] result_type=user last_content_type=n/a stop_reason=tool_use"] })
    Result(TurnResult { is_error: true, subtype: "error_max_budget_usd", terminal_reason: Some("budget_exhausted"), api_error_status: None, text: None, cost_micro_usd: 862330, turns: 1, tokens: Tokens { input: 200000, output: 32, cache_read: 0, cache_creation: 12338 }, context_window: Some(1000000), session_id: "5fe448f9-8748-438f-b33b-1b2221e0708b", errors: ["Reached maximum budget ($0.01)"] })
    Result(TurnResult { is_error: true, subtype: "error_max_turns", terminal_reason: Some("max_turns"), api_error_status: None, text: None, cost_micro_usd: 62292, turns: 2, tokens: Tokens { input: 3, output: 32, cache_read: 0, cache_creation: 12328 }, context_window: Some(1000000), session_id: "6414392e-1299-42e8-8f9d-6c5279aa4f25", errors: ["Reached maximum number of turns (1)"] })
    Result(TurnResult { is_error: true, subtype: "success", terminal_reason: Some("api_error"), api_error_status: Some(400), text: Some("API Error: 400 scripted 400"), cost_micro_usd: 0, turns: 1, tokens: Tokens { input: 0, output: 0, cache_read: 0, cache_creation: 0 }, context_window: None, session_id: "b6d73700-2b66-4fbc-97e5-fe4df8d13bcd", errors: [] })
    Result(TurnResult { is_error: false, subtype: "success", terminal_reason: Some("completed"), api_error_status: None, text: Some("fin"), cost_micro_usd: 82408, turns: 6, tokens: Tokens { input: 18, output: 184, cache_read: 64156, cache_creation: 13165 }, context_window: Some(1000000), session_id: "3db98857-ff74-4721-ba77-62fa861005f9", errors: [] })
    "#);
    insta::assert_snapshot!(show(include_str!("samples/failure.jsonl")), @r#"
    ApiError { error: "authentication_failed", text: "Not logged in · Please run /login" }
    Result(TurnResult { is_error: true, subtype: "success", terminal_reason: Some("api_error"), api_error_status: None, text: Some("Not logged in · Please run /login"), cost_micro_usd: 0, turns: 1, tokens: Tokens { input: 0, output: 0, cache_read: 0, cache_creation: 0 }, context_window: None, session_id: "5857717b-fbe9-4d14-b93d-805f2f2f840c", errors: [] })
    Result(TurnResult { is_error: true, subtype: "success", terminal_reason: Some("api_error"), api_error_status: None, text: Some("API Error: Connection refused — a firewall or proxy may be blocking it (ECONNREFUSED)"), cost_micro_usd: 0, turns: 1, tokens: Tokens { input: 0, output: 0, cache_read: 0, cache_creation: 0 }, context_window: None, session_id: "22222222-2222-4222-8222-222222222222", errors: [] })
    Result(TurnResult { is_error: true, subtype: "error_during_execution", terminal_reason: None, api_error_status: None, text: None, cost_micro_usd: 0, turns: 0, tokens: Tokens { input: 0, output: 0, cache_read: 0, cache_creation: 0 }, context_window: None, session_id: "33333333-2222-4222-8222-222222222222", errors: ["No conversation found with session ID: 33333333-2222-4222-8222-222222222222"] })
    "#);
}

#[test]
fn a_resumed_session_counts_its_own_turn_alone() {
    let [RunLine::Result(result)] = &items(include_str!("samples/resumed.jsonl"))[..] else { panic!("one result") };
    assert_eq!(result.cost_micro_usd, 6000);
    assert_eq!(result.tokens, Tokens { input: 1000, output: 100, ..Tokens::default() });
}

#[test]
fn what_is_not_used_is_told_by_its_kind() {
    let samples = [
        include_str!("samples/command_lifecycle.jsonl"),
        include_str!("samples/control_request.jsonl"),
        include_str!("samples/control_response.jsonl"),
        include_str!("samples/stream_event.jsonl"),
    ];
    let kinds = |item| match item {
        RunLine::Other { kind } => kind,
        other => panic!("{other:?}"),
    };
    let kinds: Vec<String> = samples.into_iter().flat_map(items).map(kinds).collect();
    insta::assert_snapshot!(kinds.join(" "), @"command_lifecycle control_request control_request control_response control_response stream_event stream_event stream_event stream_event stream_event stream_event");
}

#[test]
fn a_subagents_conversation_is_not_the_agents() {
    let line = r#"{"type":"assistant","message":{"model":"m","content":[],"usage":{"input_tokens":9}},"parent_tool_use_id":null}"#;
    assert_eq!(parse(line), [RunLine::Usage { model: "m".to_owned(), context_tokens: 9 }]);
    assert_eq!(parse(&line.replace("null", "\"toolu_1\"")), []);
}

#[test]
fn what_is_no_object_is_kept_as_it_is() {
    for text in ["npm warn deprecated", "[1]", "7", "{\"type\":", "null"] {
        assert_eq!(parse(text), [RunLine::Foreign { text: text.to_owned() }]);
    }
    assert_eq!(parse("  \r"), []);
    assert_eq!(parse("{}"), [RunLine::Other { kind: String::new() }]);
}

/// JSON of the right shape with values of the wrong one.
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
        parse(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn arbitrary_json_never_panics(value in odd_value()) {
        parse(&value.to_string());
    }

    #[test]
    fn a_sample_cut_anywhere_never_panics(line in 0usize..14, at in 0usize..400) {
        if let Some(line) = include_str!("samples/system.jsonl").lines().nth(line) {
            parse(&line.chars().take(at).collect::<String>());
        }
    }
}
