//! One POST of a self-contained request (the stateless era of the protocol) over a connection of its own.
//!
//! A bridge is a process for every agent, so this is hyper alone: a pooling client costs more memory than all else together.

use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST};
use http::{HeaderValue, Request, StatusCode, Uri};
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;

use crate::server::PATH;

/// The revision that requests are written in.
pub(super) const VERSION: &str = "2026-07-28";

/// Where a request goes, and what its headers say about it.
pub(super) struct Target<'a> {
    pub(super) url: &'a str,
    pub(super) token: &'a str,
    pub(super) method: &'a str,
    /// The tool that is called.
    pub(super) name: Option<&'a str>,
}

#[derive(Debug, thiserror::Error)]
pub(super) enum PostError {
    /// There was no answer, or half of one.
    #[error("{url} gave no answer: {problem}")]
    Connection { url: String, problem: String },
    /// It answered with something else than JSON, so it is not our server, or not all of its answer arrived.
    #[error("{url} answered something else than the board does")]
    Foreign { url: String },
    #[error("{status}")]
    Status { status: StatusCode, problem: Option<domain::wire::Problem> },
}

/// Sends `body` and returns the JSON-RPC message that answers it.
///
/// # Errors
/// When nothing, something else, or a refusal came back.
pub(super) async fn post(target: &Target<'_>, body: String) -> Result<Value, PostError> {
    let (status, answer) = exchange(target, body).await.map_err(|problem| PostError::Connection { url: target.url.to_owned(), problem })?;
    let json = serde_json::from_slice::<Value>(&answer);
    match json {
        // Refusals of the protocol come with a status of their own.
        Ok(message) if message.get("jsonrpc").is_some() => Ok(message),
        _ if status.is_success() => Err(PostError::Foreign { url: target.url.to_owned() }),
        json => Err(PostError::Status { status, problem: json.ok().and_then(|problem| serde_json::from_value(problem).ok()) }),
    }
}

async fn exchange(target: &Target<'_>, body: String) -> Result<(StatusCode, Bytes), String> {
    let request = request(target, body)?;
    let authority = request.headers().get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default().to_owned();
    let stream = TcpStream::connect(authority).await.map_err(|error| error.to_string())?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(|error| error.to_string())?;
    // It ends with the exchange; its errors reach the exchange too.
    let connection = tokio::spawn(connection);
    let exchange = async {
        let response = sender.send_request(request).await.map_err(|error| error.to_string())?;
        let status = response.status();
        let answer = response.into_body().collect().await.map_err(|error| error.to_string())?.to_bytes();
        Ok((status, answer))
    };
    let outcome = exchange.await;
    connection.abort();
    outcome
}

fn request(target: &Target<'_>, body: String) -> Result<Request<Full<Bytes>>, String> {
    let uri: Uri = target.url.parse().map_err(|error| format!("it is no address ({error})"))?;
    let authority = uri.authority().ok_or_else(|| "it is no address".to_owned())?;
    let mut authorization = HeaderValue::try_from(format!("Bearer {}", target.token)).map_err(|_| "the token is no text".to_owned())?;
    authorization.set_sensitive(true);
    let mut request = Request::post(PATH)
        .header(HOST, authority.as_str())
        .header(AUTHORIZATION, authorization)
        .header(CONTENT_TYPE, "application/json")
        .header(ACCEPT, "application/json, text/event-stream")
        .header("mcp-protocol-version", VERSION)
        .header("mcp-method", target.method);
    if let Some(name) = target.name {
        request = request.header("mcp-name", name);
    }
    request.body(Full::new(Bytes::from(body))).map_err(|error| error.to_string())
}
