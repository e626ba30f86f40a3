//! Serves `/mcp` over Streamable HTTP, in all revisions of the protocol, to requests with a bearer token.
//!
//! The caller of a request comes from its token alone; a session id proves nothing. It must not know any tool.

mod body;
pub(crate) mod failure;
mod origin;
mod streams;

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use db::{Act, Db};
use domain::audit::AuditKind;
use domain::config::live::LiveConfig;
use domain::wire::HOST_NAMES;
use futures_util::StreamExt;
use http::header::{AUTHORIZATION, ORIGIN};
use http::{HeaderMap, Method, StatusCode};
use http_body_util::{BodyStream, StreamBody};
use rmcp::transport::streamable_http_server::session::SessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::Value;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use self::streams::SessionStreams;
use crate::answered::Written;
use crate::bearer::Bearer;
use crate::handler::Handler;
use crate::meta::{BRIDGE_FORMAT, BRIDGE_FORMAT_HEADER};
use crate::proof::{self, Proof};
use crate::push::{Push, stream};
use crate::session::{Session, Sessions};

/// The path of the endpoint.
pub const PATH: &str = "/mcp";

const SESSION: &str = "mcp-session-id";

/// How long a session lives without a request. An open stream does not count, and an agent can think for long.
const SESSION_LIFETIME: Duration = Duration::from_secs(12 * 60 * 60);

/// The sender of a request, according to its token, and its session.
#[derive(Debug, Clone)]
pub(crate) struct Identity {
    /// The token of the request itself.
    pub(crate) bearer: Bearer,
    /// The token and caller it acts as: the bearer, or the agent its session registered as.
    pub(crate) acting: Bearer,
    pub(crate) session: Option<Arc<Session>>,
}

/// The bytes of a message.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct MessageSize(pub(crate) u32);

impl MessageSize {
    fn of(bytes: &[u8]) -> Self {
        Self(u32::try_from(bytes.len()).unwrap_or(u32::MAX))
    }
}

#[derive(Clone)]
struct McpState {
    db: Db,
    shutdown: CancellationToken,
    push: Arc<Push>,
    /// The transport's sessions, which end by themselves.
    transport: Arc<SessionStreams>,
    /// Our records of the same sessions.
    sessions: Arc<Sessions>,
}

/// Returns the MCP server at [`PATH`], to be merged into the program's router, with the route at which it proves itself to clients over TCP.
/// `shutdown` ends open streams and sessions; later requests are answered with 503, which tells the bridge to ask the next server.
///
/// # Panics
/// Outside of a Tokio runtime, because a task pushes changes to clients.
pub fn router(db: Db, live: watch::Receiver<LiveConfig>, proof: Proof, shutdown: CancellationToken) -> Router {
    let transport = Arc::new(SessionStreams::new(SESSION_LIFETIME));
    let config = StreamableHttpServerConfig::default()
        .with_allowed_hosts(HOST_NAMES)
        .enforce_origin_validation()
        .with_cancellation_token(shutdown.clone())
        // Its own first events would all have the id 0.
        .with_sse_retry(None)
        .with_max_request_body_bytes(body::MAX_BODY)
        // Requests of the 2026-07-28 revision are answered with one JSON document.
        .with_json_response(true);
    let push = Arc::new(Push::default());
    let handler = Handler::new(db.clone(), live, Arc::clone(&push), &shutdown);
    let service = StreamableHttpService::new(move || Ok(handler.clone()), Arc::clone(&transport), config);
    let state = McpState { db, shutdown, push, transport, sessions: Arc::default() };
    Router::new().route_service(PATH, service).route_layer(from_fn_with_state(state, authenticate)).merge(proof::router(proof))
}

async fn authenticate(State(state): State<McpState>, mut request: Request, next: Next) -> Response {
    if state.shutdown.is_cancelled() {
        return failure::unavailable();
    }
    if let Some(format) = request.headers().get(BRIDGE_FORMAT_HEADER).filter(|format| *format != BRIDGE_FORMAT) {
        return failure::other_bridge(format);
    }
    let identity = match state.identity(request.headers()).await {
        Ok(identity) => identity,
        Err(response) => {
            if let Some(failure::RefusedToken(code)) = response.extensions().get() {
                let act = Act::by_nobody(format!("{} {PATH}", request.method()));
                state.db.record_fact(AuditKind::Authentication, &act, None, None, code);
            }
            return response;
        }
    };
    if origin::is_own(request.headers()) {
        request.headers_mut().remove(ORIGIN);
    }
    let session = identity.session.clone();
    request.extensions_mut().insert(identity.clone());
    let written = Written::default();
    request.extensions_mut().insert(written.clone());
    if let Some(session) = &session {
        session.touch();
    }
    let response = match *request.method() {
        Method::POST if body::is_json(request.headers()) => match state.post(identity, request, next).await {
            Ok(response) | Err(response) => written.watch(response),
        },
        Method::GET => state.get(identity, request, next).await,
        Method::DELETE => state.delete(request, next).await,
        _ => next.run(request).await,
    };
    if let Some(session) = &session {
        session.touch();
    }
    if state.shutdown.is_cancelled() && response.status() == StatusCode::INTERNAL_SERVER_ERROR {
        // The transport interrupts calls when it stops. Repeating a call settles whether it was carried out.
        return failure::unavailable();
    }
    response
}

impl McpState {
    /// Identifies the caller. The error is the answer.
    async fn identity(&self, headers: &HeaderMap) -> Result<Identity, Response> {
        let token = bearer(headers).ok_or_else(failure::unauthorized)?;
        let bearer = Bearer::of(&self.db, token).await.map_err(failure::identification)?.ok_or_else(failure::unauthorized)?;
        let Some(session) = session_id(headers).and_then(|id| self.sessions.get(id)) else {
            return Ok(Identity { acting: bearer.clone(), bearer, session: None });
        };
        if !session.is_opened_by(&bearer) {
            return Err(failure::unknown_session());
        }
        let acting = session.acting(&self.db).await.map_err(failure::identification)?.ok_or_else(failure::unauthorized)?;
        Ok(Identity { bearer, acting, session: Some(session) })
    }

    /// Checks the messages of a request before the transport reads them, and records the session that `initialize` opens.
    async fn post(&self, identity: Identity, request: Request, next: Next) -> Result<Response, Response> {
        let (mut parts, body) = request.into_parts();
        let messages = body::read(body).await?;
        parts.extensions.insert(MessageSize::of(&messages.bytes));
        if let Value::Array(batch) = messages.value {
            let revision = identity.session.as_ref().map(|session| session.revision.as_str());
            return Ok(body::answer_batch(batch, revision, parts, next).await);
        }
        let revision = messages.value["params"]["protocolVersion"].as_str().unwrap_or_default();
        let opens_session = messages.value["method"] == "initialize" && session_id(&parts.headers).is_none();
        if opens_session {
            self.make_place(&identity.bearer).await?;
        }
        let response = next.run(Request::from_parts(parts, Body::from(messages.bytes))).await;
        if opens_session && let Some(id) = session_id(response.headers()) {
            self.sessions.open(id, identity.bearer, revision.to_owned(), &self.push, &self.shutdown);
        }
        Ok(response)
    }

    /// Opens a stream. The caller counts as connected until it closes. It ends with the session, and when the session's token is revoked.
    async fn get(&self, identity: Identity, request: Request, next: Next) -> Response {
        let response = next.run(request).await;
        let Some(session) = identity.session.filter(|_| response.status().is_success()) else { return response };
        let open = session.open_stream(&self.db, &identity.acting.caller);
        stream::opened(&self.db, &identity.acting.caller, &session).await;
        let db = self.db.clone();
        let ended = async move {
            if let Err(error) = session.wait_until_ended(&db).await {
                tracing::warn!(%error, "a stream was closed because its token could not be looked up");
            }
        };
        response.map(|body| {
            let frames = BodyStream::new(body).map(move |frame| {
                let _until_closed = &open;
                frame
            });
            Body::new(StreamBody::new(frames.take_until(Box::pin(ended))))
        })
    }

    /// Ends a session, with the statuses that the official SDKs know: 200, and 404 for a session that does not exist.
    async fn delete(&self, request: Request, next: Next) -> Response {
        let id = session_id(request.headers()).map(str::to_owned);
        let response = next.run(request).await;
        match id {
            Some(id) if response.status() == StatusCode::ACCEPTED => {
                if self.sessions.end(&id) {
                    StatusCode::OK.into_response()
                } else {
                    failure::unknown_session()
                }
            }
            _ => response,
        }
    }

    /// Forgets sessions that have ended, and ends an idle one of the token if it holds too many for another one.
    async fn make_place(&self, bearer: &Bearer) -> Result<(), Response> {
        for (id, ended) in self.sessions.ids() {
            if ended || matches!(self.transport.has_session(&id.as_str().into()).await, Ok(false)) {
                self.sessions.end(&id);
                self.close(&id).await;
            }
        }
        let evicted = self.sessions.evict_idle(bearer, Instant::now()).map_err(|_| failure::too_many_sessions())?;
        if let Some(id) = evicted {
            self.close(&id).await;
        }
        Ok(())
    }

    async fn close(&self, session: &str) {
        if let Err(error) = self.transport.close_session(&session.into()).await {
            tracing::debug!(%error, "a session was already closed");
        }
    }
}

fn session_id(headers: &HeaderMap) -> Option<&str> {
    headers.get(SESSION)?.to_str().ok()
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}
