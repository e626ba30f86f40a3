//! Claude Code's stream-json, line by line, as run events.
//!
//! Pure and total: a line of an unknown type and a line that is not JSON become [`RunEvent::Other`], because the format changes with
//! every release. Samples of the real program's output are in `samples/`.

use domain::runs::run_event::{
    PermissionKind, PermissionOption, RateLimitState, RunEvent, SessionStarted, StopReason, ToolServer, TurnUsage, UsageScope,
};
use serde_json::Value;

use super::error::{answer_error, turn_error};
use super::tool::tool_event;

/// The events of one line of output, without its newline.
pub fn decode(line: &str) -> Vec<RunEvent> {
    let line = line.trim();
    if line.is_empty() {
        return Vec::new();
    }
    let other = |plain| vec![RunEvent::Other { raw: line.to_owned(), plain }];
    let Ok(value @ Value::Object(_)) = serde_json::from_str::<Value>(line) else { return other(true) };
    match (string(&value, "type").as_str(), string(&value, "subtype").as_str()) {
        // It is printed before every turn, not only at the start of the session.
        ("system", "init") => vec![RunEvent::SessionStarted(session(&value)), RunEvent::TurnStarted {}],
        ("system", "api_retry") => vec![retrying(&value)],
        ("assistant", _) => answer(&value, line),
        ("user", _) => user_message(&value, line),
        ("result", _) => turn_end(&value),
        ("rate_limit_event", _) => rate_limit(&value["rate_limit_info"]).map_or_else(|| other(false), |event| vec![event]),
        ("control_request", _) if value["request"]["subtype"] == "can_use_tool" => vec![permission(&value)],
        _ => other(false),
    }
}

fn session(line: &Value) -> SessionStarted {
    let servers = items(&line["mcp_servers"]).iter().map(|server| {
        let status = string(server, "status");
        ToolServer { name: string(server, "name"), connected: status == "connected", status }
    });
    SessionStarted {
        id: string(line, "session_id"),
        model: string(line, "model"),
        agent: "Claude Code".to_owned(),
        version: line["claude_code_version"].as_str().map(str::to_owned),
        resumable: true,
        tool_servers: servers.collect(),
    }
}

fn retrying(line: &Value) -> RunEvent {
    RunEvent::Retrying {
        status: number(line, "error_status"),
        attempt: number(line, "attempt").unwrap_or_default(),
        limit: number(line, "max_retries"),
        delay_ms: count(line, "retry_delay_ms"),
        message: string(line, "error"),
    }
}

fn answer(line: &Value, raw: &str) -> Vec<RunEvent> {
    let message = &line["message"];
    if let Some(kind) = line["error"].as_str() {
        return vec![RunEvent::Failed(answer_error(kind, &content_text(&message["content"])))];
    }
    let block_event = |block: &Value| match string(block, "type").as_str() {
        "text" => RunEvent::Text { text: string(block, "text") },
        "thinking" => RunEvent::Thinking { text: string(block, "thinking") },
        "tool_use" => tool_event(string(block, "id"), &string(block, "name"), &block["input"]),
        _ => RunEvent::Other { raw: raw.to_owned(), plain: false },
    };
    let mut events: Vec<RunEvent> = items(&message["content"]).iter().map(block_event).collect();
    // A subagent has its own conversation, and an answer that the program made up itself used no tokens.
    let usage = &message["usage"];
    if line["parent_tool_use_id"].is_null() && string(message, "model") != "<synthetic>" && usage.is_object() {
        let keys = ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"];
        let used = keys.iter().fold(0u64, |sum, key| sum.saturating_add(count(usage, key)));
        events.push(RunEvent::Context { used: Some(used), size: None });
    }
    events
}

fn user_message(line: &Value, raw: &str) -> Vec<RunEvent> {
    let content = &line["message"]["content"];
    if line["isReplay"] == true {
        return vec![RunEvent::MessageAccepted { id: line["uuid"].as_str().map(str::to_owned), text: content_text(content) }];
    }
    let block_event = |block: &Value| match string(block, "type").as_str() {
        "tool_result" => {
            RunEvent::ToolEnded { id: string(block, "tool_use_id"), ok: block["is_error"] != true, output: content_text(&block["content"]) }
        }
        _ => RunEvent::Other { raw: raw.to_owned(), plain: false },
    };
    items(content).iter().map(block_event).collect()
}

/// The end of a turn. `is_error` decides whether it failed, because `subtype` may be "success" even then.
fn turn_end(line: &Value) -> Vec<RunEvent> {
    let (usage, size) = turn_usage(line);
    let mut events = vec![RunEvent::Usage(usage)];
    if size.is_some() {
        events.push(RunEvent::Context { used: None, size });
    }
    let subtype = string(line, "subtype");
    let reason = match subtype.as_str() {
        _ if line["is_error"] != true => StopReason::EndTurn,
        "error_max_turns" => StopReason::MaxTurnRequests,
        "error_max_budget_usd" => StopReason::Budget,
        _ => {
            let errors = items(&line["errors"]).iter().filter_map(Value::as_str).collect::<Vec<_>>().join("; ");
            let message = line["result"].as_str().or(Some(errors.as_str()).filter(|errors| !errors.is_empty())).unwrap_or(&subtype);
            events.push(RunEvent::Failed(turn_error(number(line, "api_error_status"), line["terminal_reason"].as_str(), message)));
            StopReason::Failed
        }
    };
    events.push(RunEvent::TurnEnded { reason });
    events
}

/// The consumption of the turn by all its models, and the context size of the model that read the most.
///
/// `total_cost_usd` is not used: it covers the whole session, including the earlier runs that it was resumed from.
fn turn_usage(line: &Value) -> (TurnUsage, Option<u64>) {
    // Older versions do not separate the turn from the session.
    let since_last = Some(&line["model_usage_since_last_result"]).filter(|usage| usage.is_object());
    let models: Vec<&Value> = since_last.unwrap_or(&line["modelUsage"]).as_object().into_iter().flat_map(|models| models.values()).collect();
    let total = |key: &str| models.iter().fold(0u64, |sum, usage| sum.saturating_add(count(usage, key)));
    let read_by = |usage: &Value| {
        ["inputTokens", "cacheReadInputTokens", "cacheCreationInputTokens"].iter().fold(0u64, |sum, key| sum.saturating_add(count(usage, key)))
    };
    let cost: f64 = models.iter().filter_map(|usage| usage["costUSD"].as_f64()).sum();
    let usage = TurnUsage {
        scope: UsageScope::Turn,
        input: total("inputTokens"),
        output: total("outputTokens"),
        cache_read: total("cacheReadInputTokens"),
        cache_write: total("cacheCreationInputTokens"),
        thinking: line["usage"]["output_tokens_details"]["thinking_tokens"].as_u64(),
        requests: count(line, "num_turns"),
        cost_micro_usd: Some((cost * 1e6).round() as i64),
    };
    let main = models.iter().max_by_key(|usage| read_by(usage));
    (usage, main.and_then(|usage| usage["contextWindow"].as_u64()))
}

fn rate_limit(info: &Value) -> Option<RunEvent> {
    let state = match info["status"].as_str()? {
        "allowed" => RateLimitState::Allowed,
        "allowed_warning" => RateLimitState::Warning,
        "rejected" => RateLimitState::Rejected,
        _ => return None,
    };
    Some(RunEvent::RateLimit {
        state,
        resets_at_unix: info["resetsAt"].as_i64(),
        window: info["rateLimitType"].as_str().map(str::to_owned),
        utilization: info["utilization"].as_f64(),
    })
}

fn permission(line: &Value) -> RunEvent {
    let option = |id: &str, kind| PermissionOption { id: id.to_owned(), kind };
    RunEvent::PermissionAsked {
        id: string(line, "request_id"),
        tool: string(&line["request"], "tool_name"),
        options: vec![option("allow", PermissionKind::AllowOnce), option("deny", PermissionKind::RejectOnce)],
    }
}

fn items(content: &Value) -> &[Value] {
    content.as_array().map_or(&[], Vec::as_slice)
}

/// The text of a content, which is a string or a list of blocks.
fn content_text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        _ => items(content).iter().filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n"),
    }
}

fn string(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_default().to_owned()
}

fn number<T: TryFrom<u64>>(value: &Value, key: &str) -> Option<T> {
    value[key].as_u64().and_then(|number| T::try_from(number).ok())
}

fn count(value: &Value, key: &str) -> u64 {
    value[key].as_u64().unwrap_or_default()
}

#[cfg(test)]
mod tests;
