//! The shape of each line, without ids, times and durations.

use super::*;

fn stream() -> Stream {
    let session_id = Uuid::parse_str("3db98857-ff74-4721-ba77-62fa861005f9").unwrap();
    Stream { session_id, model: "scripted".to_owned(), cwd: "/repo".to_owned() }
}

fn turn() -> Turn {
    Turn { started: Instant::now(), index: 0, answers: 2, characters: 4_000 }
}

fn shape(mut line: Value) -> String {
    for (key, value) in line.as_object_mut().unwrap() {
        match key.as_str() {
            "uuid" => assert!(Uuid::parse_str(value.as_str().unwrap()).is_ok()),
            "timestamp" => assert!(value.as_str().unwrap().parse::<jiff::Timestamp>().is_ok()),
            "duration_ms" | "duration_api_ms" => assert!(value.is_u64()),
            "session_id" => assert_eq!(value, "3db98857-ff74-4721-ba77-62fa861005f9"),
            _ => continue,
        }
        *value = Value::Null;
    }
    line.to_string()
}

#[test]
fn lines_have_the_fields_of_claude_code() {
    let lines = [
        stream().init(&["Bash".to_owned()], Some(("vibe-relay", "connected"))),
        stream().replay("go", Some("3db98857-ff74-4721-ba77-62fa861005f9")),
        stream().assistant("msg_1", json!({"type": "text", "text": "hi"}), &turn()),
        stream().tool_result("toolu_1", &Outcome::error("Exit code 1")),
        stream().rate_limit(1_795_298_048),
        stream().api_retry(1, 10, 529),
    ];
    insta::assert_snapshot!(lines.map(shape).join("\n"), @r#"
    {"agents":[],"apiKeySource":"none","capabilities":[],"claude_code_version":"0.1.0 (vibe-relay scripted agent)","cwd":"/repo","mcp_servers":[{"name":"vibe-relay","source":"dynamic","status":"connected"}],"model":"scripted","output_style":"default","permissionMode":"bypassPermissions","plugins":[],"session_id":null,"skills":[],"slash_commands":[],"subtype":"init","tools":["Bash"],"type":"system","uuid":null}
    {"isReplay":true,"message":{"content":"go","role":"user"},"parent_tool_use_id":null,"session_id":null,"timestamp":null,"type":"user","uuid":null}
    {"message":{"content":[{"text":"hi","type":"text"}],"id":"msg_1","model":"scripted","role":"assistant","stop_reason":null,"stop_sequence":null,"type":"message","usage":{"cache_creation_input_tokens":0,"cache_read_input_tokens":7000,"input_tokens":0,"output_tokens":1,"service_tier":"standard"}},"parent_tool_use_id":null,"session_id":null,"timestamp":null,"type":"assistant","uuid":null}
    {"message":{"content":[{"content":"Exit code 1","is_error":true,"tool_use_id":"toolu_1","type":"tool_result"}],"role":"user"},"parent_tool_use_id":null,"session_id":null,"timestamp":null,"tool_use_result":"Error: Exit code 1","type":"user","uuid":null}
    {"rate_limit_info":{"isUsingOverage":false,"rateLimitType":"five_hour","resetsAt":1795298048,"status":"rejected"},"session_id":null,"type":"rate_limit_event","uuid":null}
    {"attempt":1,"error":"overloaded","error_status":529,"max_retries":10,"retry_delay_ms":0,"session_id":null,"subtype":"api_retry","type":"system","uuid":null}
    "#);
}

#[test]
fn result_shows_how_the_turn_ended() {
    let ends = [
        End::Completed { text: "Done.".to_owned() },
        End::ApiError { status: 400, message: "no part".to_owned() },
        End::NoSession { message: "No conversation found with session ID: 1".to_owned() },
    ];
    insta::assert_snapshot!(ends.map(|end| shape(stream().result(&end, &turn()))).join("\n"), @r#"
    {"api_error_status":null,"duration_api_ms":null,"duration_ms":null,"is_error":false,"modelUsage":{"scripted":{"cacheCreationInputTokens":0,"cacheReadInputTokens":7000,"contextWindow":200000,"costUSD":0,"inputTokens":0,"maxOutputTokens":32000,"outputTokens":2,"webSearchRequests":0}},"num_turns":2,"permission_denials":[],"result":"Done.","result_index":0,"session_id":null,"stop_reason":"end_turn","subtype":"success","terminal_reason":"completed","total_cost_usd":0,"type":"result","usage":{"cache_creation_input_tokens":0,"cache_read_input_tokens":7000,"input_tokens":0,"output_tokens":2,"service_tier":"standard"},"uuid":null}
    {"api_error_status":400,"api_error_type":"invalid_request_error","duration_api_ms":null,"duration_ms":null,"is_error":true,"modelUsage":{"scripted":{"cacheCreationInputTokens":0,"cacheReadInputTokens":7000,"contextWindow":200000,"costUSD":0,"inputTokens":0,"maxOutputTokens":32000,"outputTokens":2,"webSearchRequests":0}},"num_turns":2,"permission_denials":[],"result":"API Error: 400 no part","result_index":0,"session_id":null,"stop_reason":"stop_sequence","subtype":"success","terminal_reason":"api_error","total_cost_usd":0,"type":"result","usage":{"cache_creation_input_tokens":0,"cache_read_input_tokens":7000,"input_tokens":0,"output_tokens":2,"service_tier":"standard"},"uuid":null}
    {"api_error_status":null,"duration_api_ms":null,"duration_ms":null,"errors":["No conversation found with session ID: 1"],"is_error":true,"modelUsage":{"scripted":{"cacheCreationInputTokens":0,"cacheReadInputTokens":7000,"contextWindow":200000,"costUSD":0,"inputTokens":0,"maxOutputTokens":32000,"outputTokens":2,"webSearchRequests":0}},"num_turns":2,"permission_denials":[],"result_index":0,"session_id":null,"stop_reason":"end_turn","subtype":"error_during_execution","terminal_reason":"error","total_cost_usd":0,"type":"result","usage":{"cache_creation_input_tokens":0,"cache_read_input_tokens":7000,"input_tokens":0,"output_tokens":2,"service_tier":"standard"},"uuid":null}
    "#);
}
