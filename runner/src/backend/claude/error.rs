//! Claude Code's error texts and statuses as error classes. Pure.

use domain::runs::run_event::{AgentError, ErrorClass};

const ROOT_REFUSED: &str = "cannot be used with root";
const NO_CONVERSATION: &str = "No conversation found";
const NOT_LOGGED_IN: &str = "Not logged in";
const NO_CREDIT: &str = "Credit balance is too low";
const CONNECTION_ERROR: &str = "Connection error";

/// The class of an error that ended the program before it reported the end of a turn.
pub fn classify_stderr(stderr: &str) -> Option<ErrorClass> {
    let has = |text: &str| stderr.contains(text);
    if has(ROOT_REFUSED) {
        Some(ErrorClass::RootRefused)
    } else if has(NO_CONVERSATION) || (has("Session ID") && has("already in use")) {
        Some(ErrorClass::SessionUnavailable)
    } else if has(NOT_LOGGED_IN) {
        Some(ErrorClass::Auth)
    } else {
        None
    }
}

/// The error of a turn that failed. `reason` is the program's word for what ended the turn.
pub(super) fn turn_error(status: Option<u16>, reason: Option<&str>, message: &str) -> AgentError {
    let class = match status {
        _ if message.contains(NO_CONVERSATION) => ErrorClass::SessionUnavailable,
        // The service reports it as a bad request.
        _ if message.contains(NO_CREDIT) => ErrorClass::Quota,
        Some(429) => ErrorClass::RateLimit,
        Some(401 | 403) => ErrorClass::Auth,
        _ if message.contains(NOT_LOGGED_IN) => ErrorClass::Auth,
        Some(500..) => ErrorClass::Overloaded,
        Some(_) => ErrorClass::BadRequest,
        None if reason == Some("api_error") || message.contains(CONNECTION_ERROR) => ErrorClass::Unreachable,
        None => ErrorClass::Unknown,
    };
    AgentError::new(class, status, message)
}

/// The error that the program shows in place of an answer of the model. `kind` is the program's word for it.
pub(super) fn answer_error(kind: &str, message: &str) -> AgentError {
    let class = match kind {
        "authentication_failed" => ErrorClass::Auth,
        "billing_error" => ErrorClass::Quota,
        "rate_limit" => ErrorClass::RateLimit,
        "invalid_request" => ErrorClass::BadRequest,
        "server_error" => ErrorClass::Overloaded,
        _ => ErrorClass::Unknown,
    };
    AgentError::new(class, None, message)
}
