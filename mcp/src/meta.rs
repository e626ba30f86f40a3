//! The keys of a request's `_meta` that mean something to us. Who calls is not among them: that is the token's to say.

use rmcp::model::RequestMetaObject;
use serde_json::Value;

/// Claude Code's own name of the tool call.
pub(crate) const TOOL_USE_ID: &str = "claudecode/toolUseId";
/// What the bridge calls a request, so that a repeated one has its effect once.
pub(crate) const CALL_ID: &str = "vibe-relay/callId";
/// The task that the bridge was started for.
pub(crate) const TASK_ID: &str = "vibe-relay/taskId";

/// The longest call id that is taken, in bytes; a longer one counts as none.
const CALL_ID_BYTES: usize = 200;

/// What the client calls this request. A bridge's name comes first, because no two calls have the same; clients that count anew in each turn
/// give one name to many.
pub(crate) fn call_id(meta: &RequestMetaObject) -> Option<&str> {
    text(meta, CALL_ID).or_else(|| text(meta, TOOL_USE_ID)).filter(|id| !id.is_empty() && id.len() <= CALL_ID_BYTES)
}

pub(crate) fn text<'a>(meta: &'a RequestMetaObject, key: &str) -> Option<&'a str> {
    meta.get(key).and_then(Value::as_str)
}
