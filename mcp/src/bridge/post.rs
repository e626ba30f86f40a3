//! One POST of a self-contained request (the stateless era of the protocol), whose answer is one message or a stream of them.
//!
//! A bridge is a process for every agent, so this is hyper alone: a pooling client costs more memory than all else together. One
//! connection is kept for the next call, because a new one costs the server as much as a call does. Knows nothing of who is away and why.

use std::sync::{Mutex, MutexGuard, PoisonError};

use futures_util::StreamExt;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST};
use http::{HeaderValue, Request, Response, StatusCode, Uri};
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1::{SendRequest, handshake};
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

/// The connection that the last call went over, for the next one. Whoever calls meanwhile opens another.
#[derive(Debug, Default)]
pub(super) struct Kept(Mutex<Option<Connection>>);

impl Kept {
    /// Sends `body` and returns the JSON-RPC message that answers it.
    ///
    /// The server may have ended since the last call. Then `body` is sent a second time, over a new connection; by its call id an agent's is
    /// carried out once, however far the first one came. The person's is carried out each time that it arrives.
    ///
    /// # Errors
    /// When nothing, something else, or a refusal came back.
    pub(super) async fn post(&self, target: &Target<'_>, body: &Bytes) -> Result<Value, PostError> {
        let request = request(target, body)?;
        let kept = self.place().take().filter(|connection| connection.url == target.url);
        let answer = match kept {
            Some(connection) => connection.exchange(request.clone()).await.ok(),
            None => None,
        };
        let (connection, response) = match answer {
            Some(answer) => answer,
            None => Connection::open(target, &request).await?.exchange(request).await.map_err(|error| broken(target, error))?,
        };
        let status = response.status();
        let answer = whole(target, response).await?;
        *self.place() = Some(connection);
        message(target, status, &answer)
    }

    fn place(&self) -> MutexGuard<'_, Option<Connection>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The messages of an answer that does not end by itself.
pub(super) struct Messages {
    stream: SseStream<Incoming>,
    _connection: Connection,
}

/// Sends `body` over a connection of its own and returns the messages that follow.
///
/// # Errors
/// When nothing, something else, or a refusal came back.
pub(super) async fn listen(target: &Target<'_>, body: &Bytes) -> Result<Messages, PostError> {
    let request = request(target, body)?;
    let connection = Connection::open(target, &request).await?;
    let (connection, response) = connection.exchange(request).await.map_err(|error| broken(target, error))?;
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

/// An open connection, which ends when it is dropped, and with it an exchange that is not over.
#[derive(Debug)]
struct Connection {
    url: String,
    sender: SendRequest<Full<Bytes>>,
    task: AbortHandle,
}

impl Connection {
    async fn open(target: &Target<'_>, request: &Request<Full<Bytes>>) -> Result<Self, PostError> {
        let authority = request.headers().get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        let stream = TcpStream::connect(authority).await.map_err(|error| broken(target, error))?;
        // A request is complete when it is written; it must not wait for more.
        stream.set_nodelay(true).map_err(|error| broken(target, error))?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await.map_err(|error| broken(target, error))?;
        Ok(Self { url: target.url.to_owned(), sender, task: tokio::spawn(connection).abort_handle() })
    }

    /// The connection can be used again when the response's body was read to its end.
    async fn exchange(mut self, request: Request<Full<Bytes>>) -> hyper::Result<(Self, Response<Incoming>)> {
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

fn broken(target: &Target<'_>, problem: impl ToString) -> PostError {
    PostError::Connection { url: target.url.to_owned(), problem: problem.to_string() }
}

fn request(target: &Target<'_>, body: &Bytes) -> Result<Request<Full<Bytes>>, PostError> {
    let uri: Uri = target.url.parse().map_err(|error| broken(target, format!("it is no address ({error})")))?;
    let authority = uri.authority().ok_or_else(|| broken(target, "it is no address"))?;
    let mut authorization = HeaderValue::try_from(format!("Bearer {}", target.token)).map_err(|_| broken(target, "the token is no text"))?;
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
    request.body(Full::new(body.clone())).map_err(|error| broken(target, error))
}
