//! The keys of a request's `_meta` that this server reads, and the header of the bridge.
//!
//! The caller is not among them, because only the token identifies it.

use rmcp::model::RequestMetaObject;
use serde_json::Value;

/// Claude Code's id of the tool call.
pub(crate) const TOOL_USE_ID: &str = "claudecode/toolUseId";
/// The bridge's id of a request, which makes repeated requests take effect once.
pub(crate) const CALL_ID: &str = "vibe-relay/callId";
/// The task that the bridge was started for.
pub(crate) const TASK_ID: &str = "vibe-relay/taskId";
/// The common `.git` folder of the repository in which the bridge was started. It chooses among projects, and proves nothing.
pub(crate) const GIT_DIR: &str = "vibe-relay/gitDir";

/// The header with the format of a bridge's requests.
pub(crate) const BRIDGE_FORMAT_HEADER: &str = "vibe-relay-bridge";
/// The format of this version. A change that an older bridge or server would misread needs the next number.
pub(crate) const BRIDGE_FORMAT: &str = "1";

/// The most bytes of a call id. A longer one is ignored.
const MAX_CALL_ID_BYTES: usize = 200;

/// Returns the client's id of the request. The bridge's id is preferred, because clients may restart their ids in each turn.
pub(crate) fn call_id(meta: &RequestMetaObject) -> Option<&str> {
    text(meta, CALL_ID).or_else(|| text(meta, TOOL_USE_ID)).filter(|id| !id.is_empty() && id.len() <= MAX_CALL_ID_BYTES)
}

pub(crate) fn text<'a>(meta: &'a RequestMetaObject, key: &str) -> Option<&'a str> {
    meta.get(key).and_then(Value::as_str)
}
