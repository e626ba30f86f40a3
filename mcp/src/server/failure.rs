//! The answers of the MCP endpoint to requests that reach no tool: problem documents, and JSON-RPC errors.
//!
//! Each says what failed and what to do next. It must not decide when a request fails.

use axum::Json;
use axum::response::{IntoResponse, Response};
use domain::refusal::{Category, GeneralRefusal, Refusal};
use domain::team::agent::TOKEN_COMMAND;
use domain::wire::Problem;
use http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderValue, StatusCode};
use rmcp::model::ErrorCode;

use crate::message::InvalidMessage;
use crate::meta::BRIDGE_FORMAT;
use crate::session::{IDLE_AFTER, MAX_SESSIONS};

pub(super) fn invalid_message(invalid: &InvalidMessage) -> Response {
    // Only invalid parameters leave a request that clients can match with the answer, which they read when the status is a success.
    let status = if invalid.error.code == ErrorCode::INVALID_PARAMS { StatusCode::OK } else { StatusCode::BAD_REQUEST };
    (status, Json(invalid.to_json())).into_response()
}

pub(super) fn too_large(limit: usize) -> Response {
    let hint = "Shorten the request, or put long text into a file of the repository and name the file.".to_owned();
    problem(StatusCode::PAYLOAD_TOO_LARGE, "too-large", format!("the request is larger than {limit} bytes"), hint)
}

pub(crate) fn invalid_nonce() -> Response {
    let hint = "Send 64 hexadecimal digits, chosen at random.".to_owned();
    problem(StatusCode::BAD_REQUEST, "invalid", "the challenge is not a nonce".to_owned(), hint)
}

pub(super) fn other_bridge(format: &HeaderValue) -> Response {
    let format = format.to_str().unwrap_or("unknown");
    let detail = format!(
        "the bridge speaks format {format} and the board speaks format {BRIDGE_FORMAT}, because they belong to different versions of vibe-relay"
    );
    let hint = "End your turn and report it: your commits are safe. The human restarts `vibe-relay serve` after an upgrade, and then the \
                clients of other agents, so that both are of the installed version."
        .to_owned();
    problem(StatusCode::BAD_REQUEST, "bridge-version", detail, hint)
}

pub(super) fn unreadable(error: &impl ToString) -> Response {
    let hint = "Send the request again.".to_owned();
    problem(StatusCode::BAD_REQUEST, "invalid", format!("the request's body could not be read: {}", error.to_string()), hint)
}

/// The code for a token that was not accepted, as an extension of the response.
#[derive(Debug, Clone, Copy)]
pub(super) struct RefusedToken(pub(super) &'static str);

/// A token that was refused, or could not be looked up.
pub(super) fn identification(error: db::Error) -> Response {
    match error {
        db::Error::Refused(refusal) => refused_token(&refusal, refusal.hint()),
        error => storage(&error),
    }
}

fn refused_token(refusal: &Refusal, hint: String) -> Response {
    let is_unknown = refusal.category() == Category::Unauthorized;
    let status = if is_unknown { StatusCode::UNAUTHORIZED } else { StatusCode::FORBIDDEN };
    let mut response = problem(status, refusal.code(), refusal.to_string(), hint);
    if is_unknown {
        response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    response.extensions_mut().insert(RefusedToken(refusal.code()));
    response
}

fn storage(error: &db::Error) -> Response {
    tracing::error!(%error, "a token could not be looked up");
    let hint = "Try again. If it fails again, see the server's log.".to_owned();
    problem(StatusCode::INTERNAL_SERVER_ERROR, "storage", error.to_string(), hint)
}

pub(super) fn unauthorized() -> Response {
    let refusal = Refusal::from(GeneralRefusal::Unauthorized);
    // The refusal's own hint names the human's token, which an agent must not use.
    let hint = format!(
        "Ask the human for a token of your own: {TOKEN_COMMAND}. Connect with it, as `Authorization: Bearer` or in VIBE_RELAY_TOKEN of \
         `vibe-relay mcp`."
    );
    refused_token(&refusal, hint)
}

pub(super) fn unknown_session() -> Response {
    let hint = "Start a new session with initialize.".to_owned();
    problem(StatusCode::NOT_FOUND, "not-found", "the MCP session does not exist".to_owned(), hint)
}

pub(super) fn too_many_sessions() -> Response {
    let detail = format!("this token already has {MAX_SESSIONS} MCP sessions in use");
    let minutes = IDLE_AFTER.as_secs() / 60;
    let hint =
        format!("End one with DELETE, or try again later: a session without an open stream is replaced after {minutes} minutes without a request.");
    let mut response = problem(StatusCode::TOO_MANY_REQUESTS, "too-many-sessions", detail, hint);
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("60"));
    response
}

pub(super) fn unavailable() -> Response {
    let hint = "Send the same request again in a second. An agent's call with an id is carried out once; after any other call, check first \
                what it did."
        .to_owned();
    let mut response = problem(StatusCode::SERVICE_UNAVAILABLE, "shutting-down", "the server is shutting down".to_owned(), hint);
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
    response
}

fn problem(status: StatusCode, code: &str, detail: String, hint: String) -> Response {
    let body = Problem::new(status.as_u16(), code, detail, hint);
    let mut response = (status, Json(body)).into_response();
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
    response
}
