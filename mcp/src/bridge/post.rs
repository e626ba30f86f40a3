//! One POST of a self-contained request (the stateless era of the protocol) over a connection of its own, whose answer is one message or
//! a stream of them.
//!
//! A bridge is a process for every agent, so this is hyper alone: a pooling client costs more memory than all else together.

use futures_util::StreamExt;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST};
use http::{HeaderValue, Request, Response, StatusCode, Uri};
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use sse_stream::SseStream;
use tokio::net::TcpStream;
use tokio::task::AbortHandle;

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
    let (_connection, response) = exchange(target, body).await?;
    let status = response.status();
    message(target, status, &whole(target, response).await?)
}

/// The messages of an answer that does not end by itself.
pub(super) struct Messages {
    stream: SseStream<Incoming>,
    _connection: Connection,
}

/// Sends `body` and returns the messages that follow.
///
/// # Errors
/// When nothing, something else, or a refusal came back.
pub(super) async fn listen(target: &Target<'_>, body: String) -> Result<Messages, PostError> {
    let (connection, response) = exchange(target, body).await?;
    let is_stream = response.headers().get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
    if is_stream {
        return Ok(Messages { stream: SseStream::new(response.into_body()), _connection: connection });
    }
    let status = response.status();
    // What answers at once does not listen, be it ever so friendly.
    message(target, status, &whole(target, response).await?).and_then(|_| Err(PostError::Foreign { url: target.url.to_owned() }))
}

impl Messages {
    /// The next message; none when the stream ended or broke.
    pub(super) async fn next(&mut self) -> Option<Value> {
        loop {
            let event = self.stream.next().await?.ok()?;
            if let Some(message) = event.data.and_then(|data| serde_json::from_str(&data).ok()) {
                return Some(message);
            }
        }
    }
}

/// A connection that ends with its exchange; its errors reach the exchange too.
#[derive(Debug)]
struct Connection(AbortHandle);

impl Drop for Connection {
    fn drop(&mut self) {
        self.0.abort();
    }
}

fn message(target: &Target<'_>, status: StatusCode, answer: &[u8]) -> Result<Value, PostError> {
    let json = serde_json::from_slice::<Value>(answer);
    match json {
        // Refusals of the protocol come with a status of their own.
        Ok(message) if message.get("jsonrpc").is_some() => Ok(message),
        _ if status.is_success() => Err(PostError::Foreign { url: target.url.to_owned() }),
        json => Err(PostError::Status { status, problem: json.ok().and_then(|problem| serde_json::from_value(problem).ok()) }),
    }
}

async fn whole(target: &Target<'_>, response: Response<Incoming>) -> Result<Bytes, PostError> {
    Ok(response.into_body().collect().await.map_err(|error| broken(target, error))?.to_bytes())
}

async fn exchange(target: &Target<'_>, body: String) -> Result<(Connection, Response<Incoming>), PostError> {
    let request = request(target, body).map_err(|problem| broken(target, problem))?;
    let authority = request.headers().get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default().to_owned();
    let stream = TcpStream::connect(authority).await.map_err(|error| broken(target, error))?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(|error| broken(target, error))?;
    let connection = Connection(tokio::spawn(connection).abort_handle());
    let response = sender.send_request(request).await.map_err(|error| broken(target, error))?;
    Ok((connection, response))
}

fn broken(target: &Target<'_>, problem: impl ToString) -> PostError {
    PostError::Connection { url: target.url.to_owned(), problem: problem.to_string() }
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
