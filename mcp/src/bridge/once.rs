//! One call of a tool by a program of ours that is no MCP client, over the same way as the bridge's calls.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use super::{Bridge, basics, result_of};

/// Why a tool did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The board's own words, with the next legal step.
    #[error("{0}")]
    Refused(String),
    /// Nothing is known about its effect, unless it is repeated under the same id.
    #[error("{0}")]
    NoAnswer(String),
}

/// Calls `tool` of the board of `db_path` in the name that `token` gives, and answers what the tool says. The board is waited for while it
/// restarts, for `wait` in all; an agent's call that is repeated under the same `call_id` has its effect once.
///
/// # Errors
/// When the board refuses, or is not there.
pub async fn call_tool(db_path: &Path, token: &str, tool: &str, arguments: Value, call_id: &str, wait: Duration) -> Result<String, CallError> {
    let bridge = Bridge::new(db_path.to_owned(), None, token.to_owned());
    let parameters = json!({"name": tool, "arguments": arguments, "_meta": basics(call_id)});
    let answer = bridge.ask("tools/call", Some(tool), parameters, wait).await;
    let answer = answer.map_err(|away| CallError::NoAnswer(format!("{away} {}", away.hint())))?;
    let result = result_of(answer).map_err(|error| CallError::Refused(error.message.into_owned()))?;
    let blocks = result["content"].as_array().into_iter().flatten();
    let text = blocks.filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n");
    if result["isError"] == true { Err(CallError::Refused(text)) } else { Ok(text) }
}
