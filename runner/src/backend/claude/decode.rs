//! Claude Code's stream-json, line by line, as run events.
//!
//! Pure and total: a line of an unknown type and a line that is not JSON become [`RunEvent::Other`], because the format changes with
//! every release. Samples of the real program's output are in `samples/`.

use domain::runs::run_event::{
    PermissionKind, PermissionOption, RateLimitState, RequestUsage, RunEvent, SessionStarted, StopReason, ToolServer, TurnUsage, UsageScope,
};
use domain::runs::usage::{ModelInfo, Price, Tokens};
use serde_json::Value;

use super::error::{answer_error, turn_error};
use super::tool::{tool_call, tool_event};

/// A rough estimate for text and code.
const CHARACTERS_PER_TOKEN: u64 = 4;

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
        ("control_response", _) if value["response"]["request_id"].is_string() => vec![taken(&value["response"])],
        ("control_cancel_request", _) => vec![RunEvent::PermissionClosed { id: string(&value, "request_id") }],
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
    // An answer that the program made up itself used no tokens.
    if string(message, "model") != "<synthetic>" && message["usage"].is_object() {
        let request = request_usage(line);
        // A subagent has its own conversation.
        if request.is_main {
            events.push(RunEvent::Context { used: Some(request.tokens.total_input()), size: None });
        }
        events.push(RunEvent::Request(request));
    }
    events
}

/// The consumption of a request. Its count of output tokens is from the beginning of the answer, so the text of the block is counted too.
fn request_usage(line: &Value) -> RequestUsage {
    let (message, usage) = (&line["message"], &line["message"]["usage"]);
    let characters: usize = items(&message["content"]).iter().map(block_characters).sum();
    RequestUsage {
        id: string(message, "id"),
        model: string(message, "model"),
        is_main: line["parent_tool_use_id"].is_null(),
        tokens: Tokens {
            input: count(usage, "input_tokens"),
            output: count(usage, "output_tokens"),
            cache_read: count(usage, "cache_read_input_tokens"),
            cache_write: count(usage, "cache_creation_input_tokens"),
        },
        part: characters as u64 / CHARACTERS_PER_TOKEN,
    }
}

fn block_characters(block: &Value) -> usize {
    let text = ["text", "thinking"].iter().filter_map(|key| block[*key].as_str()).map(str::len).sum::<usize>();
    let input = if block["input"].is_object() { block["input"].to_string().len() } else { 0 };
    text + input
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
        _ if string(line, "terminal_reason").starts_with("aborted") => StopReason::Cancelled,
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
    let by_model = since_last.unwrap_or(&line["modelUsage"]).as_object();
    let models: Vec<&Value> = by_model.into_iter().flat_map(|models| models.values()).collect();
    let info = |(model, usage): (&String, &Value)| {
        let price = usage["costUSD"].as_f64().and_then(|cost| Price::of(model_tokens(usage), micro_usd(cost)));
        let info = ModelInfo { price, context_window: usage["contextWindow"].as_i64() };
        (info != ModelInfo::default()).then(|| (model.clone(), info))
    };
    let cost: f64 = models.iter().filter_map(|usage| usage["costUSD"].as_f64()).sum();
    let tokens = models.iter().fold(Tokens::default(), |sum, usage| sum.plus(model_tokens(usage)));
    let usage = TurnUsage {
        scope: UsageScope::Turn,
        input: tokens.input,
        output: tokens.output,
        cache_read: tokens.cache_read,
        cache_write: tokens.cache_write,
        thinking: line["usage"]["output_tokens_details"]["thinking_tokens"].as_u64(),
        requests: count(line, "num_turns"),
        cost_micro_usd: Some(micro_usd(cost)),
        models: by_model.into_iter().flatten().filter_map(info).collect(),
    };
    let main = models.iter().max_by_key(|usage| model_tokens(usage).total_input());
    (usage, main.and_then(|usage| usage["contextWindow"].as_u64()))
}

fn model_tokens(usage: &Value) -> Tokens {
    Tokens {
        input: count(usage, "inputTokens"),
        output: count(usage, "outputTokens"),
        cache_read: count(usage, "cacheReadInputTokens"),
        cache_write: count(usage, "cacheCreationInputTokens"),
    }
}

fn micro_usd(usd: f64) -> i64 {
    (usd * 1e6).round() as i64
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

/// The program confirms our requests, and repeats our answers to its own, which have a behavior.
fn taken(response: &Value) -> RunEvent {
    let id = string(response, "request_id");
    if response["response"]["behavior"].is_null() { RunEvent::InterruptTaken { id } } else { RunEvent::PermissionClosed { id } }
}

fn permission(line: &Value) -> RunEvent {
    let option = |id: &str, kind| PermissionOption { id: id.to_owned(), kind };
    let request = &line["request"];
    RunEvent::PermissionAsked {
        id: string(line, "request_id"),
        call: tool_call(string(request, "tool_use_id"), &string(request, "tool_name"), &request["input"]),
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
