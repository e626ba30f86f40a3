//! The lines that the scripted agent prints: Claude Code's stream-json, field by field. Must not know why a line is printed.

use std::io::{self, Write};
use std::time::Instant;

use serde_json::{Value, json};
use uuid::Uuid;

use super::tool::Outcome;

/// The context window of the imitated model, in tokens.
const CONTEXT_WINDOW: u64 = 200_000;
/// The tokens of the system prompt and the tools.
const BASE_TOKENS: u64 = 6_000;

/// The fields that all lines of a process share.
#[derive(Debug, Clone)]
pub(super) struct Stream {
    pub(super) session_id: Uuid,
    pub(super) model: String,
    pub(super) cwd: String,
}

/// The totals of one user turn, for its `result` line.
#[derive(Debug)]
pub(super) struct Turn {
    pub(super) started: Instant,
    pub(super) index: u64,
    pub(super) answers: u64,
    /// The size of the conversation in characters; four count as one token.
    pub(super) characters: usize,
}

/// The end of a user turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum End {
    Completed {
        text: String,
    },
    ApiError {
        status: u16,
        message: String,
    },
    /// The human interrupted the turn.
    Interrupted,
    /// The session does not exist, so no turn was played.
    NoSession {
        message: String,
    },
}

impl End {
    pub(super) fn is_error(&self) -> bool {
        !matches!(self, Self::Completed { .. })
    }
}

impl Stream {
    pub(super) fn init(&self, tools: &[String], server: Option<(&str, &str)>) -> Value {
        let servers: Vec<Value> = server.iter().map(|(name, status)| json!({"name": name, "status": status, "source": "dynamic"})).collect();
        self.line(json!({
            "type": "system", "subtype": "init", "cwd": self.cwd, "tools": tools, "mcp_servers": servers, "model": self.model,
            "permissionMode": "bypassPermissions", "slash_commands": [], "apiKeySource": "none",
            "claude_code_version": concat!(env!("CARGO_PKG_VERSION"), " (vibe-relay scripted agent)"),
            "output_style": "default", "agents": [], "skills": [], "plugins": [], "capabilities": [],
        }))
    }

    /// A user message, echoed when it is read.
    pub(super) fn replay(&self, text: &str, uuid: Option<&str>) -> Value {
        let mut line = self.stamped(json!({
            "type": "user", "message": {"role": "user", "content": text}, "parent_tool_use_id": null, "isReplay": true,
        }));
        if let Some(uuid) = uuid {
            line["uuid"] = json!(uuid);
        }
        line
    }

    /// One content block of an answer; blocks of one answer share `message_id`.
    pub(super) fn assistant(&self, message_id: &str, block: Value, turn: &Turn) -> Value {
        self.stamped(json!({
            "type": "assistant", "parent_tool_use_id": null,
            "message": {
                "id": message_id, "type": "message", "role": "assistant", "model": self.model, "content": [block],
                "stop_reason": null, "stop_sequence": null, "usage": usage(turn, 1),
            },
        }))
    }

    pub(super) fn tool_result(&self, id: &str, outcome: &Outcome) -> Value {
        self.stamped(json!({
            "type": "user", "parent_tool_use_id": null,
            "message": {"role": "user", "content": [
                {"tool_use_id": id, "type": "tool_result", "content": outcome.text, "is_error": outcome.is_error},
            ]},
            "tool_use_result": outcome.structured,
        }))
    }

    pub(super) fn api_retry(&self, attempt: u32, max_retries: u32, status: u16) -> Value {
        self.line(json!({
            "type": "system", "subtype": "api_retry", "attempt": attempt, "max_retries": max_retries, "retry_delay_ms": 0,
            "error_status": status, "error": error_type(status).trim_end_matches("_error"),
        }))
    }

    /// `resets_at` in seconds since 1970.
    pub(super) fn rate_limit(&self, resets_at: i64) -> Value {
        self.line(json!({
            "type": "rate_limit_event",
            "rate_limit_info": {"status": "rejected", "resetsAt": resets_at, "rateLimitType": "five_hour", "isUsingOverage": false},
        }))
    }

    pub(super) fn result(&self, end: &End, turn: &Turn) -> Value {
        let milliseconds = u64::try_from(turn.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let (subtype, reason, stop) = match end {
            End::Completed { .. } => ("success", "completed", "end_turn"),
            End::ApiError { .. } => ("success", "api_error", "stop_sequence"),
            End::Interrupted => ("error_during_execution", "aborted_tools", "tool_use"),
            End::NoSession { .. } => ("error_during_execution", "error", "end_turn"),
        };
        let mut line = self.line(json!({
            "type": "result", "subtype": subtype, "is_error": end.is_error(), "terminal_reason": reason, "stop_reason": stop,
            "num_turns": turn.answers, "duration_ms": milliseconds, "duration_api_ms": milliseconds, "total_cost_usd": 0,
            "usage": usage(turn, turn.answers), "permission_denials": [], "api_error_status": null, "result_index": turn.index,
            "modelUsage": {self.model.as_str(): {
                "inputTokens": 0, "outputTokens": turn.answers, "cacheReadInputTokens": tokens(turn), "cacheCreationInputTokens": 0,
                "webSearchRequests": 0, "costUSD": 0, "contextWindow": CONTEXT_WINDOW, "maxOutputTokens": 32_000,
            }},
        }));
        match end {
            End::Completed { text } => line["result"] = json!(text),
            End::ApiError { status, message } => {
                line["api_error_status"] = json!(status);
                line["api_error_type"] = json!(error_type(*status));
                line["result"] = json!(format!("API Error: {status} {message}"));
            }
            End::Interrupted => {}
            End::NoSession { message } => line["errors"] = json!([message]),
        }
        line
    }

    /// The answer to an interrupt.
    pub(super) fn interrupted(request_id: &Value) -> Value {
        json!({"type": "control_response", "response": {"subtype": "success", "request_id": request_id, "response": {"still_queued": []}}})
    }

    /// The answer to an unsupported control request.
    pub(super) fn unsupported(request_id: &Value, subtype: &str) -> Value {
        json!({"type": "control_response", "response": {
            "subtype": "error", "request_id": request_id, "error_code": "unsupported_request",
            "error": format!("Unsupported control request subtype: {subtype}"),
        }})
    }

    fn line(&self, mut value: Value) -> Value {
        value["session_id"] = json!(self.session_id.to_string());
        value["uuid"] = json!(Uuid::new_v4().to_string());
        value
    }

    fn stamped(&self, value: Value) -> Value {
        let mut line = self.line(value);
        line["timestamp"] = json!(format!("{:.3}", jiff::Timestamp::now()));
        line
    }
}

fn tokens(turn: &Turn) -> u64 {
    BASE_TOKENS + u64::try_from(turn.characters / 4).unwrap_or(u64::MAX)
}

fn usage(turn: &Turn, output: u64) -> Value {
    json!({
        "input_tokens": 0, "cache_creation_input_tokens": 0, "cache_read_input_tokens": tokens(turn), "output_tokens": output,
        "service_tier": "standard",
    })
}

/// The error types of the Messages API.
fn error_type(status: u16) -> &'static str {
    match status {
        401 => "authentication_error",
        404 => "not_found_error",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        500.. => "api_error",
        _ => "invalid_request_error",
    }
}

/// Prints one line and flushes it.
///
/// # Errors
/// Standard output is closed.
pub(super) fn print(line: &Value) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    serde_json::to_writer(&mut stdout, line)?;
    stdout.write_all(b"\n")?;
    stdout.flush()
}

#[cfg(test)]
mod tests;
