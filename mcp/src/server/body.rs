//! Reads the body of a request, checks its messages, and answers batches message by message.
//!
//! Knows HTTP and JSON-RPC. It must not know callers; the session is only asked for its protocol revision.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::{BoxError, Json};
use futures_util::StreamExt;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::request::Parts;
use http::{HeaderMap, StatusCode};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde_json::Value;
use sse_stream::SseStream;
use tokio::time::timeout;

use super::{MessageSize, failure};
use crate::message::{self, InvalidMessage};

/// The most bytes of a request.
pub(crate) const MAX_BODY: usize = 4 * 1024 * 1024;
/// How much more of a body that is too large is read before it is refused. A client that is cut off while it sends cannot read the answer.
const MAX_DISCARDED: usize = 16 * 1024 * 1024;
const DISCARD_TIMEOUT: Duration = Duration::from_secs(5);

/// The message or batch of a request, and its bytes.
pub(super) struct Messages {
    pub(super) value: Value,
    pub(super) bytes: Bytes,
}

/// Whether the client says that it sends JSON. The transport refuses everything else.
pub(super) fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("application/json")
}

/// Reads and checks the body, which is a single message or an array.
///
/// # Errors
/// When it is too large, cannot be read, or is an invalid message. The error is the answer.
pub(super) async fn read(body: Body) -> Result<Messages, Response> {
    let bytes = collect(body).await?;
    let value = message::parse(&bytes).map_err(|invalid| failure::invalid_message(&invalid))?;
    if !value.is_array() {
        message::check(&value).map_err(|invalid| failure::invalid_message(&invalid))?;
    }
    Ok(Messages { value, bytes })
}

async fn collect(mut body: Body) -> Result<Bytes, Response> {
    match Limited::new(&mut body, MAX_BODY).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if is_too_large(&error) => {
            let mut rest = Limited::new(body, MAX_DISCARDED);
            drop(timeout(DISCARD_TIMEOUT, async { while let Some(Ok(_)) = rest.frame().await {} }).await);
            Err(failure::too_large(MAX_BODY))
        }
        Err(error) => Err(failure::unreadable(&error)),
    }
}

/// Whether this limit or that of a layer outside was exceeded.
fn is_too_large(error: &BoxError) -> bool {
    let mut source: Option<&(dyn std::error::Error + 'static)> = Some(error.as_ref());
    while let Some(error) = source {
        if error.is::<LengthLimitError>() {
            return true;
        }
        source = error.source();
    }
    false
}

/// Sends the messages of a batch on one after another, and answers with an array of their responses.
pub(super) async fn answer_batch(messages: Vec<Value>, revision: Option<&str>, mut parts: Parts, next: Next) -> Response {
    if let Err(invalid) = message::check_batch(&messages, revision) {
        return failure::invalid_message(&invalid);
    }
    parts.headers.remove(CONTENT_LENGTH);
    let mut answers = Vec::new();
    for message in messages {
        if let Err(invalid) = message::check_in_batch(&message) {
            answers.push(invalid.to_json());
            continue;
        }
        let text = message.to_string();
        parts.extensions.insert(MessageSize::of(text.as_bytes()));
        let response = next.clone().run(Request::from_parts(parts.clone(), Body::from(text))).await;
        if !response.status().is_success() {
            return response;
        }
        if let Some(id) = message::request_id(&message) {
            answers.push(response_to(id, response).await);
        }
    }
    // A batch of notifications and responses has no answer.
    if answers.is_empty() { StatusCode::ACCEPTED.into_response() } else { Json(answers).into_response() }
}

/// Returns the JSON-RPC response to the request `id`, from a JSON document or an event stream.
async fn response_to(id: &Value, response: Response) -> Value {
    let is_response = |message: &Value| message.get("id") == Some(id) && message.get("method").is_none();
    if is_json(response.headers()) {
        let bytes = response.into_body().collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
        if let Some(message) = serde_json::from_slice(&bytes).ok().filter(is_response) {
            return message;
        }
    } else {
        let mut events = SseStream::new(response.into_body());
        while let Some(Ok(event)) = events.next().await {
            if let Some(message) = event.data.and_then(|data| serde_json::from_str(&data).ok()).filter(is_response) {
                return message;
            }
        }
    }
    InvalidMessage::unanswered(id.clone()).to_json()
}
