//! Builds responses of the Messages API: a message as plain JSON or as a stream, or an error. It must not choose what to respond.

use std::time::{SystemTime, UNIX_EPOCH};

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use cli::scripted::player::Step;
use serde_json::{Value, json};
use uuid::Uuid;

/// A message of the scripted model, streamed if the request asks for a stream.
pub(super) fn message(request: &Value, step: &Step) -> Response {
    let message = message_of(request, step);
    if request["stream"] != true {
        return axum::Json(message).into_response();
    }
    let body: String =
        events(&message).iter().map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default())).collect();
    ([(header::CONTENT_TYPE, "text/event-stream; charset=utf-8")], body).into_response()
}

/// An error in the form of the Messages API. `retry_after` is in seconds.
pub(super) fn error(status: StatusCode, retry_after: Option<u64>, message: &str) -> Response {
    let kind = match status.as_u16() {
        401 => "authentication_error",
        404 => "not_found_error",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        500.. => "api_error",
        _ => "invalid_request_error",
    };
    let body = json!({"type": "error", "error": {"type": kind, "message": message}});
    let mut response = (status, axum::Json(body)).into_response();
    if let Some(seconds) = retry_after {
        let headers = response.headers_mut();
        headers.insert(header::RETRY_AFTER, seconds.into());
        if status == StatusCode::TOO_MANY_REQUESTS {
            // These headers report the limit of a subscription. The program ignores them when it uses an API key.
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
            headers.insert("anthropic-ratelimit-unified-status", HeaderValue::from_static("rejected"));
            headers.insert("anthropic-ratelimit-unified-reset", (now + seconds).into());
            headers.insert("anthropic-ratelimit-unified-representative-claim", HeaderValue::from_static("five_hour"));
        }
    }
    response
}

/// A rough count: four characters per token.
pub(super) fn input_tokens(request: &Value) -> usize {
    request.to_string().len() / 4
}

fn message_of(request: &Value, step: &Step) -> Value {
    let id = |prefix: &str| format!("{prefix}_{}", Uuid::new_v4().simple());
    let text = (!step.text.is_empty()).then(|| json!({"type": "text", "text": step.text}));
    let calls = step.calls.iter().map(|call| json!({"type": "tool_use", "id": id("toolu"), "name": call.tool, "input": call.input}));
    let content: Vec<Value> = text.into_iter().chain(calls).collect();
    json!({
        "id": id("msg"), "type": "message", "role": "assistant", "model": request["model"], "content": content,
        "stop_reason": if step.calls.is_empty() { "end_turn" } else { "tool_use" }, "stop_sequence": null,
        "usage": {
            "input_tokens": input_tokens(request), "output_tokens": 20,
            "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
        },
    })
}

/// The events of a stream that carries the message.
fn events(message: &Value) -> Vec<Value> {
    let mut start = message.clone();
    start["content"] = json!([]);
    start["stop_reason"] = Value::Null;
    let mut events = vec![json!({"type": "message_start", "message": start})];
    for (index, block) in message["content"].as_array().into_iter().flatten().enumerate() {
        let (empty, delta) = if block["type"] == "tool_use" {
            let mut empty = block.clone();
            empty["input"] = json!({});
            (empty, json!({"type": "input_json_delta", "partial_json": block["input"].to_string()}))
        } else {
            (json!({"type": "text", "text": ""}), json!({"type": "text_delta", "text": block["text"]}))
        };
        events.push(json!({"type": "content_block_start", "index": index, "content_block": empty}));
        events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    let delta = json!({"stop_reason": message["stop_reason"], "stop_sequence": null});
    events.push(json!({"type": "message_delta", "delta": delta, "usage": message["usage"]}));
    events.push(json!({"type": "message_stop"}));
    events
}
