//! The door: `/mcp` over Streamable HTTP, for both eras of the protocol, behind a bearer token.
//!
//! Knows no tool. A request gets its caller here, from the token alone; possession of a session id proves nothing.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use db::{Caller, Db};
use domain::refusal::{Refusal, TOKEN_COMMAND};
use domain::wire::Problem;
use futures_util::StreamExt;
use http::header::{AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use http_body_util::{BodyStream, StreamBody};
use rmcp::transport::streamable_http_server::session::SessionManager;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio_util::sync::CancellationToken;

use crate::bearer::Bearer;
use crate::handler::Handler;
use crate::push::{Push, stream};
use crate::session::{Session, Sessions};

/// Where the server is reached.
pub const PATH: &str = "/mcp";

const SESSION: &str = "mcp-session-id";

/// How long a legacy session lives without a request. An open stream does not count, and an agent can think for long.
const SESSION_LIFE: Duration = Duration::from_secs(12 * 60 * 60);

/// Who sent a request, as its token says, and within which legacy session.
#[derive(Debug, Clone)]
pub(crate) struct Identity {
    /// The token that came with the request itself.
    pub(crate) bearer: Bearer,
    /// As whom it is carried out: the bearer, or who its session registered as.
    pub(crate) caller: Caller,
    pub(crate) session: Option<Arc<Session>>,
}

#[derive(Clone)]
struct Gate {
    db: Db,
    shutdown: CancellationToken,
    push: Arc<Push>,
    /// The transport's sessions, which end by themselves, and what we know of them.
    transport: Arc<LocalSessionManager>,
    sessions: Arc<Sessions>,
}

/// The MCP server at [`PATH`], to be merged into the program's router. `shutdown` ends open streams and sessions; what is asked after
/// that is answered with 503, which tells the bridge to ask the next server.
///
/// # Panics
/// Outside of a Tokio runtime: those who listen are told by a task.
pub fn router(db: Db, shutdown: CancellationToken) -> Router {
    let mut transport = LocalSessionManager::default();
    transport.session_config.keep_alive = Some(SESSION_LIFE);
    let transport = Arc::new(transport);
    // No web page is a client: a request that names an origin is refused. The allowed hosts are the loopback ones by default.
    let config = StreamableHttpServerConfig::default()
        .enforce_origin_validation()
        .with_cancellation_token(shutdown.clone())
        // Also where sessions exist: a request of the modern era is answered with one JSON document.
        .with_json_response(true);
    let push = Arc::new(Push::default());
    let handler = Handler::new(db.clone(), Arc::clone(&push), &shutdown);
    let service = StreamableHttpService::new(move || Ok(handler.clone()), Arc::clone(&transport), config);
    let gate = Gate { db, shutdown, push, transport, sessions: Arc::default() };
    Router::new().route_service(PATH, service).route_layer(from_fn_with_state(gate, identify))
}

async fn identify(State(gate): State<Gate>, mut request: Request, next: Next) -> Response {
    if gate.shutdown.is_cancelled() {
        return unavailable();
    }
    let Some(token) = bearer(request.headers()) else { return unauthorized() };
    let bearer = match Bearer::of(&gate.db, token).await {
        Ok(Some(bearer)) => bearer,
        Ok(None) => return unauthorized(),
        Err(error) => return storage(&error),
    };
    let id = session_id(request.headers()).map(str::to_owned);
    let session = id.as_deref().and_then(|id| gate.sessions.get(id));
    let caller = match &session {
        Some(session) if !session.is_of(&bearer) => return unknown_session(),
        Some(session) => match session.caller(&gate.db).await {
            Ok(Some(caller)) => caller,
            Ok(None) => return unauthorized(),
            Err(error) => return storage(&error),
        },
        None => bearer.caller.clone(),
    };
    let method = request.method().clone();
    request.extensions_mut().insert(Identity { bearer: bearer.clone(), caller: caller.clone(), session: session.clone() });
    let response = next.run(request).await;
    if gate.shutdown.is_cancelled() && response.status() == StatusCode::INTERNAL_SERVER_ERROR {
        // The transport cuts calls off when it is told to stop; what they did or did not do is settled by asking again.
        return unavailable();
    }
    match (method, id, session) {
        (Method::DELETE, Some(id), _) => gate.sessions.end(&id),
        (Method::GET, _, Some(session)) if response.status().is_success() => return gate.listen(&session, &caller, response).await,
        _ => {
            if let Some(begun) = session_id(response.headers()) {
                gate.begin(begun, bearer).await;
            }
        }
    }
    response
}

impl Gate {
    /// Remembers who began a session, and forgets the sessions that are over.
    async fn begin(&self, session: &str, bearer: Bearer) {
        let mut over = Vec::new();
        if self.sessions.get(session).is_none() {
            over = self.sessions.begin(session, bearer, &self.push, &self.shutdown);
        }
        for (id, ended) in self.sessions.ids() {
            if ended || matches!(self.transport.has_session(&id.as_str().into()).await, Ok(false)) {
                self.sessions.end(&id);
                over.push(id);
            }
        }
        for id in over {
            if let Err(error) = self.transport.close_session(&id.as_str().into()).await {
                tracing::debug!(%error, "a session was closed already");
            }
        }
    }

    /// The caller counts as connected for as long as the body of this answer, a stream, is open. It ends with the session, and when the
    /// session's token is taken back.
    async fn listen(&self, session: &Arc<Session>, caller: &Caller, response: Response) -> Response {
        let open = session.open(&self.db, caller);
        stream::opened(&self.db, caller, session).await;
        let (db, session) = (self.db.clone(), Arc::clone(session));
        let over = async move {
            if let Err(error) = session.over(&db).await {
                tracing::warn!(%error, "a stream ended, because nobody can say whose it is");
            }
        };
        response.map(|body| {
            let frames = BodyStream::new(body).map(move |frame| {
                let _kept = &open;
                frame
            });
            Body::new(StreamBody::new(frames.take_until(Box::pin(over))))
        })
    }
}

fn session_id(headers: &HeaderMap) -> Option<&str> {
    headers.get(SESSION)?.to_str().ok()
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

fn storage(error: &db::Error) -> Response {
    tracing::error!(%error, "a token could not be looked up");
    let hint = "Try again; if it stays so, see the server's log.".to_owned();
    problem(StatusCode::INTERNAL_SERVER_ERROR, "storage", error.to_string(), hint)
}

fn unauthorized() -> Response {
    let refusal = Refusal::Unauthorized;
    // The refusal's own hint is the person's: an agent must not be led to their token.
    let hint = format!(
        "Ask the person for a token of your own: {TOKEN_COMMAND}. Connect with it, as `Authorization: Bearer` or in VIBE_RELAY_TOKEN of \
         `vibe-relay mcp`."
    );
    let mut response = problem(StatusCode::UNAUTHORIZED, refusal.code(), refusal.to_string(), hint);
    response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    response
}

fn unknown_session() -> Response {
    problem(StatusCode::NOT_FOUND, "not-found", "there is no such session".to_owned(), "Begin a new session with initialize.".to_owned())
}

fn unavailable() -> Response {
    let hint = "Send the same request again in a second: an agent's call with an id is answered from memory if it was carried out already. With \
                any other, look first what it did."
        .to_owned();
    let mut response = problem(StatusCode::SERVICE_UNAVAILABLE, "shutting-down", "the server is shutting down".to_owned(), hint);
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
    response
}

fn problem(status: StatusCode, code: &str, detail: String, hint: String) -> Response {
    let body = Problem { status: status.as_u16(), code: code.to_owned(), detail, hint, from: None, to: None, allowed: Vec::new() };
    let mut response = (status, Json(body)).into_response();
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
    response
}
