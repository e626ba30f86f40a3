//! Turns the outcome of a call into a result for the model: what was done, or what was refused and the next legal step.
//!
//! An agent's mistake is always a tool-level error, because clients hide the text of protocol errors. It must not know any tool.

use db::Error;
use domain::refusal::{Refusal, RepositoryRefusal};
use repo::RepoError;
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Value, json};

use crate::notice::Notice;

/// The answer of a tool, as text for the model and as JSON for programs.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) text: String,
    /// Always an object.
    pub(crate) data: Value,
    /// A second text block, because the first is JSON.
    pub(crate) note: Option<String>,
}

impl Answer {
    pub(crate) fn new(text: impl Into<String>, data: Value) -> Self {
        Self { text: text.into(), data, note: None }
    }

    pub(crate) fn with_note(mut self, note: Option<String>) -> Self {
        self.note = note;
        self
    }
}

/// Why a tool failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The arguments do not fit the tool's schema.
    Arguments {
        field: Option<String>,
        problem: String,
    },
    Store(Error),
    /// A task of this program failed.
    Broken(String),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::Store(refusal.into())
    }
}

domain::from_refusals!(Failure);

impl From<RepoError> for Failure {
    fn from(error: RepoError) -> Self {
        RepositoryRefusal { code: error.code(), detail: error.to_string(), hint: error.hint() }.into()
    }
}

impl From<tokio::task::JoinError> for Failure {
    fn from(error: tokio::task::JoinError) -> Self {
        Self::Broken(error.to_string())
    }
}

/// Returns the result of `tool`.
pub(crate) fn result(tool: &str, outcome: Result<Answer, Failure>) -> CallToolResult {
    match outcome {
        Ok(answer) => {
            let blocks = [answer.text].into_iter().chain(answer.note).map(ContentBlock::text);
            let mut result = CallToolResult::success(blocks.collect());
            result.structured_content = Some(answer.data);
            result
        }
        Err(Failure::Arguments { field, problem }) => {
            let detail = match field {
                Some(field) => format!("the argument {field} is invalid: {problem}"),
                None => format!("the arguments are invalid: {problem}"),
            };
            error("invalid", &detail, &format!("Correct it and call {tool} again."), Value::Null)
        }
        Err(Failure::Store(Error::Refused(refusal))) => refused(&refusal),
        Err(Failure::Store(failure)) => failed(tool, &failure.to_string()),
        Err(Failure::Broken(failure)) => failed(tool, &failure),
    }
}

pub(crate) fn refused(refusal: &Refusal) -> CallToolResult {
    let allowed = refusal.allowed();
    let allowed = if allowed.is_empty() { Value::Null } else { json!(allowed) };
    let mut result = error(refusal.code(), &refusal.to_string(), &refusal.hint(), allowed);
    if let (Some(seconds), Some(data)) = (refusal.retry_after(), result.structured_content.as_mut()) {
        data["retry_after_seconds"] = seconds.into();
    }
    result
}

fn failed(tool: &str, failure: &str) -> CallToolResult {
    tracing::error!(tool, failure, "a tool failed");
    let hint = format!("Call {tool} once more. If it fails again, end your turn. Your files are safe.");
    error("storage", &format!("the board failed: {failure}"), &hint, Value::Null)
}

/// Returns a tool-level error with the next legal step.
pub(crate) fn error(code: &str, detail: &str, hint: &str, allowed: Value) -> CallToolResult {
    let mut result = CallToolResult::error(vec![ContentBlock::text(format!("{}.\nNext: {hint}", detail.trim_end_matches('.')))]);
    let mut data = json!({"code": code, "detail": detail, "hint": hint});
    if !allowed.is_null() {
        data["allowed"] = allowed;
    }
    result.structured_content = Some(data);
    result
}

/// Returns the code of a result that is an error.
pub(crate) fn code(result: &CallToolResult) -> Option<&str> {
    let code = result.structured_content.as_ref().and_then(|data| data.get("code")).and_then(Value::as_str);
    (result.is_error == Some(true)).then(|| code.unwrap_or("failed"))
}

/// Appends notices to a result.
pub(crate) fn add_notices(result: &mut CallToolResult, notices: &[Notice]) {
    if notices.is_empty() {
        return;
    }
    let lines: Vec<String> = notices.iter().map(|notice| format!("- {}", notice.sentence())).collect();
    result.content.push(ContentBlock::text(format!("notices:\n{}", lines.join("\n"))));
    if let Some(data) = result.structured_content.as_mut().and_then(Value::as_object_mut) {
        data.insert("notices".to_owned(), json!(notices));
    }
}
