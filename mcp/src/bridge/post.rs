//! Sends one request of revision 2026-07-28, which needs no session, and reads its answer: one message or a stream of them.
//!
//! It uses hyper without a connection pool, because every agent has a bridge process and a pool would take most of its memory. One
//! connection is kept for the next call, because opening one costs the server as much as a call. It must not know when to retry.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use futures_util::StreamExt;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST};
use http::{HeaderValue, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use sse_stream::SseStream;
use tokio::task::AbortHandle;

use crate::connect::{BoardConnection, ConnectError, connect};
use crate::meta::{BRIDGE_FORMAT, BRIDGE_FORMAT_HEADER};
use crate::server::PATH;

/// The protocol revision of the requests.
pub(super) const VERSION: &str = "2026-07-28";

/// The database whose server is asked, and the headers of a request.
pub(super) struct Target<'a> {
    pub(super) db_path: &'a Path,
    pub(super) token: &'a str,
    pub(super) method: &'a str,
    /// The tool or resource.
    pub(super) name: Option<&'a str>,
}

#[derive(Debug, thiserror::Error)]
pub(super) enum PostError {
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// The server sent no complete answer.
    #[error("it did not answer: {problem}")]
    Connection { problem: String },
    /// The answer is not JSON, so part of it was lost.
    #[error("it did not answer like the board")]
    UnexpectedResponse,
    #[error("{status}")]
    Status { status: StatusCode, problem: Option<Box<domain::wire::Problem>> },
}

/// The connection of the last call, kept for the next one. Concurrent calls open others.
#[derive(Debug, Default)]
pub(super) struct IdleConnection(Mutex<Option<Connection>>);

impl IdleConnection {
    /// Sends `body` and returns the JSON-RPC message that answers it.
    ///
    /// If the server has closed the idle connection, `body` is sent again over a new one. The call id makes an agent's request take effect
    /// once; the human's is carried out each time that it arrives.
    ///
    /// # Errors
    /// When the answer is missing, unexpected or a refusal.
    pub(super) async fn post(&self, target: &Target<'_>, body: &Bytes) -> Result<Value, PostError> {
        let request = request(target, body)?;
        let idle = self.slot().take();
        let answer = match idle {
            Some(connection) => connection.exchange(request.clone()).await.ok(),
            None => None,
        };
        let (connection, response) = match answer {
            Some(answer) => answer,
            None => Connection::open(target.db_path).await?.exchange(request).await.map_err(connection_error)?,
        };
        let status = response.status();
        let answer = read_body(response).await?;
        // A server that is shutting down is left, because the next one listens on the same socket.
        *self.slot() = (status != StatusCode::SERVICE_UNAVAILABLE).then_some(connection);
        message(status, &answer)
    }

    fn slot(&self) -> MutexGuard<'_, Option<Connection>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The messages of an answer that stays open.
pub(super) struct Messages {
    stream: SseStream<Incoming>,
    _connection: Connection,
}

/// Sends `body` over a connection of its own and returns the messages that follow.
///
/// # Errors
/// When the answer is missing, unexpected or a refusal.
pub(super) async fn listen(target: &Target<'_>, body: &Bytes) -> Result<Messages, PostError> {
    let request = request(target, body)?;
    let connection = Connection::open(target.db_path).await?;
    let (connection, response) = connection.exchange(request).await.map_err(connection_error)?;
    let is_stream = response.headers().get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
    if is_stream {
        return Ok(Messages { stream: SseStream::new(response.into_body()), _connection: connection });
    }
    let status = response.status();
    // A response that is not a stream cannot deliver updates, even if it succeeds.
    message(status, &read_body(response).await?).and_then(|_| Err(PostError::UnexpectedResponse))
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

/// An open connection. Dropping it closes it and cancels its exchange.
#[derive(Debug)]
struct Connection {
    /// The value of the header `Host`.
    host: String,
    sender: SendRequest<Full<Bytes>>,
    task: AbortHandle,
}

impl Connection {
    async fn open(db_path: &Path) -> Result<Self, PostError> {
        let BoardConnection { stream, host } = connect(db_path).await?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await.map_err(connection_error)?;
        Ok(Self { host, sender, task: tokio::spawn(connection).abort_handle() })
    }

    /// Sends a request. The connection can be reused after the response's body was read completely.
    async fn exchange(mut self, mut request: Request<Full<Bytes>>) -> hyper::Result<(Self, Response<Incoming>)> {
        if let Ok(host) = HeaderValue::try_from(self.host.as_str()) {
            request.headers_mut().insert(HOST, host);
        }
        self.sender.ready().await?;
        let response = self.sender.send_request(request).await?;
        Ok((self, response))
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn message(status: StatusCode, answer: &[u8]) -> Result<Value, PostError> {
    let json = serde_json::from_slice::<Value>(answer);
    match json {
        // Errors of the protocol have an HTTP status, too.
        Ok(message) if message.get("jsonrpc").is_some() => Ok(message),
        _ if status.is_success() => Err(PostError::UnexpectedResponse),
        json => Err(PostError::Status { status, problem: json.ok().and_then(|problem| serde_json::from_value(problem).ok()) }),
    }
}

async fn read_body(response: Response<Incoming>) -> Result<Bytes, PostError> {
    Ok(response.into_body().collect().await.map_err(connection_error)?.to_bytes())
}

fn connection_error(problem: impl ToString) -> PostError {
    PostError::Connection { problem: problem.to_string() }
}

fn request(target: &Target<'_>, body: &Bytes) -> Result<Request<Full<Bytes>>, PostError> {
    let mut authorization = HeaderValue::try_from(format!("Bearer {}", target.token)).map_err(|_| connection_error("the token is not valid text"))?;
    authorization.set_sensitive(true);
    let mut request = Request::post(PATH)
        .header(AUTHORIZATION, authorization)
        .header(CONTENT_TYPE, "application/json")
        .header(ACCEPT, "application/json, text/event-stream")
        .header("mcp-protocol-version", VERSION)
        .header(BRIDGE_FORMAT_HEADER, BRIDGE_FORMAT)
        .header("mcp-method", target.method);
    if let Some(name) = target.name {
        request = request.header("mcp-name", name);
    }
    request.body(Full::new(body.clone())).map_err(connection_error)
}
