//! Calls one tool for our own programs that are not MCP clients, in the same way as the bridge.
//!
//! It must not know what the tool does.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use super::{Bridge, base_meta, result_of};

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The board refused it. The text ends with the next legal step.
    #[error("{0}")]
    Refused(String),
    /// The board did not answer, so the effect is unknown until the call is repeated with the same id.
    #[error("{0}")]
    NoAnswer(String),
}

/// Calls `tool` on the board of `db_path` as the owner of `token`, and returns the text of its result. It waits at most `wait` for a board
/// that restarts. An agent's call that is repeated with the same `call_id` takes effect once.
///
/// # Errors
/// When the board refuses the call, or does not answer.
pub async fn call_tool(db_path: &Path, token: &str, tool: &str, arguments: Value, call_id: &str, wait: Duration) -> Result<String, CallError> {
    let bridge = Bridge::new(db_path.to_owned(), None, None, token.to_owned(), true);
    let parameters = json!({"name": tool, "arguments": arguments, "_meta": base_meta(call_id)});
    let answer = bridge.call_server("tools/call", Some(tool), parameters, wait).await;
    let answer =
        answer.map_err(|unavailable| CallError::NoAnswer(format!("{}. {}", unavailable.to_string().trim_end_matches('.'), unavailable.hint())))?;
    let result = result_of(answer).map_err(|error| CallError::Refused(error.message.into_owned()))?;
    let blocks = result["content"].as_array().into_iter().flatten();
    let text = blocks.filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n");
    if result["isError"] == true { Err(CallError::Refused(text)) } else { Ok(text) }
}
