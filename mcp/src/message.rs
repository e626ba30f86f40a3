//! Checks JSON-RPC messages before the SDK reads them, because it answers malformed ones without a JSON-RPC error, or not at all.
//!
//! Knows the shape of messages and the parameters of the methods served here. It must not know callers, tools or transports.

use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, ClientJsonRpcMessage, GetPromptRequestParams, InitializeRequestParams, PaginatedRequestParams, ReadResourceRequestParams,
    SubscribeRequestParams, SubscriptionsListenRequestParams, UnsubscribeRequestParams,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// The only protocol revision with JSON-RPC batches.
pub(crate) const BATCH_REVISION: &str = "2025-03-26";
/// The most messages in one batch.
const MAX_BATCH: usize = 100;

/// A message that is answered with a JSON-RPC error.
#[derive(Debug)]
pub(crate) struct InvalidMessage {
    /// The id of the request, or null when it is unknown.
    id: Value,
    pub(crate) error: ErrorData,
}

impl InvalidMessage {
    pub(crate) fn to_json(&self) -> Value {
        json!({"jsonrpc": "2.0", "id": self.id, "error": self.error})
    }

    /// The server gave no answer to the request `id`.
    pub(crate) fn unanswered(id: Value) -> Self {
        Self { id, error: ErrorData::internal_error("the server did not answer; check what the request did before you repeat it", None) }
    }

    /// The SDK cannot read a message that passed [`check`].
    pub(crate) fn unreadable(message: &Value, error: &serde_json::Error) -> Self {
        Self::request(request_id(message).cloned().unwrap_or_default(), format!("the message could not be read: {error}"))
    }

    pub(crate) fn too_long(limit: usize) -> Self {
        Self::request(Value::Null, format!("a message can have at most {limit} bytes"))
    }

    fn request(id: Value, problem: impl Into<String>) -> Self {
        Self { id, error: ErrorData::invalid_request(problem.into(), None) }
    }
}

/// Parses the bytes of one message or batch.
///
/// # Errors
/// When they are not valid JSON.
pub(crate) fn parse(bytes: &[u8]) -> Result<Value, InvalidMessage> {
    serde_json::from_slice(bytes)
        .map_err(|error| InvalidMessage { id: Value::Null, error: ErrorData::parse_error(format!("the message is not valid JSON: {error}"), None) })
}

/// Checks that a message is a valid request, notification or response, and that the parameters of a request fit its method.
///
/// # Errors
/// When the message or its parameters are invalid.
pub(crate) fn check(message: &Value) -> Result<(), InvalidMessage> {
    let Some(fields) = message.as_object() else {
        return Err(InvalidMessage::request(Value::Null, "a message must be a JSON object"));
    };
    let id = match fields.get("id") {
        Some(id) if id.is_string() || id.is_i64() => id.clone(),
        None => Value::Null,
        // The answer to a message that could not be read has no id.
        Some(Value::Null) if fields.contains_key("error") => Value::Null,
        Some(_) => return Err(InvalidMessage::request(Value::Null, "id must be a string or an integer")),
    };
    if fields.get("jsonrpc") != Some(&json!("2.0")) {
        return Err(InvalidMessage::request(id, "jsonrpc must be \"2.0\""));
    }
    match fields.get("method") {
        Some(Value::String(method)) => check_call(id, method, fields),
        Some(_) => Err(InvalidMessage::request(id, "method must be a string")),
        None if ClientJsonRpcMessage::deserialize(message).is_ok() => Ok(()),
        None => Err(InvalidMessage::request(id, "a message must have a method, a result or an error")),
    }
}

fn check_call(id: Value, method: &str, fields: &Map<String, Value>) -> Result<(), InvalidMessage> {
    if fields.contains_key("result") || fields.contains_key("error") {
        return Err(InvalidMessage::request(id, "a message with a method cannot have a result or an error"));
    }
    let invalid = |problem: String| {
        let error = ErrorData::invalid_params(format!("invalid params of {method}: {problem}"), None);
        Err(InvalidMessage { id: id.clone(), error })
    };
    let empty = Value::Object(Map::new());
    let parameters = fields.get("params").filter(|parameters| !parameters.is_null()).unwrap_or(&empty);
    if !parameters.is_object() {
        return invalid("they must be an object".to_owned());
    }
    if parameters.get("_meta").is_some_and(|meta| !meta.is_object()) {
        return invalid("_meta must be an object".to_owned());
    }
    // A notification has no id, so nobody would read an error about its parameters.
    if id.is_null() {
        return Ok(());
    }
    match check_parameters(method, parameters) {
        Ok(()) => Ok(()),
        Err(error) => invalid(error.to_string()),
    }
}

/// The SDK treats a request whose parameters do not fit as one of an unknown method.
fn check_parameters(method: &str, parameters: &Value) -> serde_json::Result<()> {
    match method {
        "initialize" => InitializeRequestParams::deserialize(parameters).map(drop),
        "tools/call" => CallToolRequestParams::deserialize(parameters).map(drop),
        "tools/list" | "resources/list" | "resources/templates/list" | "prompts/list" => PaginatedRequestParams::deserialize(parameters).map(drop),
        "prompts/get" => GetPromptRequestParams::deserialize(parameters).map(drop),
        "resources/read" => ReadResourceRequestParams::deserialize(parameters).map(drop),
        "resources/subscribe" => SubscribeRequestParams::deserialize(parameters).map(drop),
        "resources/unsubscribe" => UnsubscribeRequestParams::deserialize(parameters).map(drop),
        "subscriptions/listen" => SubscriptionsListenRequestParams::deserialize(parameters).map(drop),
        "logging/setLevel" => check_log_level(parameters),
        _ => Ok(()),
    }
}

#[expect(deprecated, reason = "only revisions before 2026-07-28 have log messages")]
fn check_log_level(parameters: &Value) -> serde_json::Result<()> {
    rmcp::model::SetLevelRequestParams::deserialize(parameters).map(drop)
}

/// Checks whether a client of `revision` may send this batch.
///
/// # Errors
/// When the revision has no batches, or the batch is empty or too long.
pub(crate) fn check_batch(messages: &[Value], revision: Option<&str>) -> Result<(), InvalidMessage> {
    if revision != Some(BATCH_REVISION) {
        let problem = format!("batches are only accepted in sessions of protocol revision {BATCH_REVISION}; send each message separately");
        return Err(InvalidMessage::request(Value::Null, problem));
    }
    if messages.is_empty() {
        return Err(InvalidMessage::request(Value::Null, "a batch must have at least one message"));
    }
    if messages.len() > MAX_BATCH {
        return Err(InvalidMessage::request(Value::Null, format!("a batch can have at most {MAX_BATCH} messages")));
    }
    Ok(())
}

/// Checks one message of a batch.
///
/// # Errors
/// When it is invalid, or not allowed in a batch.
pub(crate) fn check_in_batch(message: &Value) -> Result<(), InvalidMessage> {
    check(message)?;
    if message["method"] == "initialize" {
        return Err(InvalidMessage::request(message["id"].clone(), "initialize cannot be part of a batch"));
    }
    Ok(())
}

/// The id of a request; none for other messages.
pub(crate) fn request_id(message: &Value) -> Option<&Value> {
    message.get("id").filter(|_| message.get("method").is_some())
}

#[cfg(test)]
mod tests;
