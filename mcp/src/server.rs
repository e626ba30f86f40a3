//! The door: `/mcp` over Streamable HTTP, for both eras of the protocol, behind a bearer token.
//!
//! Knows no tool. A request gets its caller here, from the token alone; possession of a session id proves nothing.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use db::{Caller, Db};
use domain::refusal::Refusal;
use domain::wire::Problem;
use http::header::{AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use rmcp::transport::streamable_http_server::session::SessionManager;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio_util::sync::CancellationToken;

use crate::handler::Handler;

/// Where the server is reached.
pub const PATH: &str = "/mcp";

const SESSION: &str = "mcp-session-id";

/// How long a legacy session lives without a request. An open stream does not count, and an agent can think for long.
const SESSION_LIFE: Duration = Duration::from_secs(12 * 60 * 60);

/// Who sent a request, as its token says.
#[derive(Debug, Clone)]
pub(crate) struct Identity(pub(crate) Caller);

#[derive(Clone)]
struct Gate {
    db: Db,
    shutdown: CancellationToken,
    sessions: Arc<LocalSessionManager>,
    /// Who began each legacy session: nobody else may use it.
    owners: Arc<Mutex<HashMap<String, Caller>>>,
}

/// The MCP server at [`PATH`], to be merged into the program's router. `shutdown` ends open streams and sessions; what is asked after
/// that is answered with 503, which tells the bridge to ask the next server.
pub fn router(db: Db, shutdown: CancellationToken) -> Router {
    let mut sessions = LocalSessionManager::default();
    sessions.session_config.keep_alive = Some(SESSION_LIFE);
    let sessions = Arc::new(sessions);
    // No web page is a client: a request that names an origin is refused. The allowed hosts are the loopback ones by default.
    let config = StreamableHttpServerConfig::default()
        .enforce_origin_validation()
        .with_cancellation_token(shutdown.clone())
        // Also where sessions exist: a request of the modern era is answered with one JSON document.
        .with_json_response(true);
    let handler = Handler::new(db.clone());
    let service = StreamableHttpService::new(move || Ok(handler.clone()), Arc::clone(&sessions), config);
    let gate = Gate { db, shutdown, sessions, owners: Arc::default() };
    Router::new().route_service(PATH, service).route_layer(from_fn_with_state(gate, identify))
}

async fn identify(State(gate): State<Gate>, mut request: Request, next: Next) -> Response {
    if gate.shutdown.is_cancelled() {
        return unavailable();
    }
    let Some(token) = bearer(request.headers()) else { return unauthorized() };
    let caller = match gate.db.caller(token).await {
        Ok(Some(caller)) => caller,
        Ok(None) => return unauthorized(),
        Err(error) => {
            tracing::error!(%error, "a token could not be looked up");
            return problem(
                StatusCode::INTERNAL_SERVER_ERROR,
                "storage",
                error.to_string(),
                "Try again; if it stays so, see the server's log.".to_owned(),
            );
        }
    };
    let session = request.headers().get(SESSION).and_then(|id| id.to_str().ok()).map(str::to_owned);
    if session.as_ref().is_some_and(|session| !gate.may_use(session, &caller)) {
        return unknown_session();
    }
    let ends = session.filter(|_| request.method() == Method::DELETE);
    request.extensions_mut().insert(Identity(caller.clone()));
    let response = next.run(request).await;
    if gate.shutdown.is_cancelled() && response.status() == StatusCode::INTERNAL_SERVER_ERROR {
        // The transport cuts calls off when it is told to stop; what they did or did not do is settled by asking again.
        return unavailable();
    }
    if let Some(ended) = ends {
        gate.owners().remove(&ended);
    } else if let Some(begun) = response.headers().get(SESSION).and_then(|id| id.to_str().ok()) {
        gate.own(begun, caller).await;
    }
    response
}

impl Gate {
    fn owners(&self) -> std::sync::MutexGuard<'_, HashMap<String, Caller>> {
        self.owners.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn may_use(&self, session: &str, caller: &Caller) -> bool {
        self.owners().get(session).is_none_or(|owner| owner == caller)
    }

    /// Remembers who began a session, and forgets the sessions that ended by themselves.
    async fn own(&self, session: &str, caller: Caller) {
        self.owners().insert(session.to_owned(), caller);
        let known: Vec<String> = self.owners().keys().cloned().collect();
        for id in known {
            if matches!(self.sessions.has_session(&id.as_str().into()).await, Ok(false)) {
                self.owners().remove(&id);
            }
        }
    }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

fn unauthorized() -> Response {
    let refusal = Refusal::Unauthorized;
    let mut response = problem(StatusCode::UNAUTHORIZED, refusal.code(), refusal.to_string(), refusal.hint());
    response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    response
}

fn unknown_session() -> Response {
    problem(StatusCode::NOT_FOUND, "not-found", "there is no such session".to_owned(), "Begin a new session with initialize.".to_owned())
}

fn unavailable() -> Response {
    let hint = "Send the same request again in a second: a request that was carried out already is answered from memory.".to_owned();
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
