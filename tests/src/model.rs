//! A Messages API server on loopback that plays a scenario, so that the real `claude` program runs without a model, an account or a
//! network. It must hold no memory of a conversation: what it answers follows from the request, so that a retried, resumed or repeated
//! request gets the same answer. Only the failures that a part asks for are counted.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use cli::scripted::player::{self, Step};
use cli::scripted::scenario::{Failure, Scenario};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

mod reply;
mod request;

pub use request::AgentId;

/// One request that the server got, so that a test can say what a model would have seen.
#[derive(Debug, Clone)]
pub struct RequestLog {
    pub method: Method,
    pub path: String,
    pub headers: HeaderMap,
    /// Null when the request had no JSON body.
    pub body: Value,
    /// The agent that asks; nothing for side requests such as titles, and for other paths.
    pub agent: Option<AgentId>,
}

impl RequestLog {
    /// Every text of the request, one piece a line: system prompt, messages, tool results.
    pub fn text(&self) -> String {
        request::texts(&self.body).join("\n")
    }
}

/// The running server; dropping it ends it.
#[derive(Debug)]
pub struct ScriptedModel {
    address: SocketAddr,
    shared: Arc<Shared>,
    server: JoinHandle<()>,
}

#[derive(Debug)]
struct Shared {
    scenario: Scenario,
    requests: Mutex<Vec<RequestLog>>,
    /// How often a part failed for a task.
    failures: Mutex<HashMap<(usize, String), u32>>,
}

impl ScriptedModel {
    /// Serves the scenario on a free port of loopback.
    ///
    /// # Errors
    /// No port could be bound.
    pub async fn start(scenario: Scenario) -> io::Result<Self> {
        let shared = Arc::new(Shared { scenario, requests: Mutex::default(), failures: Mutex::default() });
        let router = Router::new()
            .route("/v1/messages", post(messages))
            .route("/v1/messages/count_tokens", post(count_tokens))
            .fallback(anything_else)
            .with_state(shared.clone());
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let server = tokio::spawn(async move {
            // Ends only with its task.
            let _ = axum::serve(listener, router).await;
        });
        Ok(Self { address, shared, server })
    }

    /// What `ANTHROPIC_BASE_URL` is set to.
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Every request so far, oldest first.
    pub fn requests(&self) -> Vec<RequestLog> {
        locked(&self.shared.requests).clone()
    }

    /// The requests of the agents of one phase, oldest first.
    pub fn requests_of(&self, phase: &str) -> Vec<RequestLog> {
        let of_phase = |request: &RequestLog| request.agent.as_ref().is_some_and(|agent| agent.phase == phase);
        self.requests().into_iter().filter(of_phase).collect()
    }
}

impl Drop for ScriptedModel {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl Shared {
    fn log(&self, method: Method, uri: &Uri, headers: HeaderMap, body: &Value, agent: Option<AgentId>) {
        locked(&self.requests).push(RequestLog { method, path: uri.path().to_owned(), headers, body: body.clone(), agent });
    }

    /// The failure to play now, if the part still has one for this task.
    fn failure(&self, step: &Step, agent: &AgentId) -> Option<Failure> {
        let failure = step.failure?;
        let mut failures = locked(&self.failures);
        let played = failures.entry((step.part, agent.task_id.clone())).or_default();
        *played += 1;
        (*played <= failure.times).then_some(failure)
    }
}

/// A test that panicked holding the lock must not hide its own message behind another one.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn messages(State(shared): State<Arc<Shared>>, method: Method, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let conversation = request::conversation(&body);
    let agent = request::agent(&body, &conversation);
    shared.log(method, &uri, headers, &body, agent.clone());
    let Some(agent) = agent else {
        return reply::message(&body, &Step::text("OK"));
    };
    match player::next(&shared.scenario, &conversation) {
        Err(error) => reply::error(StatusCode::BAD_REQUEST, None, &error.to_string()),
        Ok(step) => {
            if let Some(failure) = shared.failure(&step, &agent) {
                let status = StatusCode::from_u16(failure.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
                return reply::error(status, failure.retry_after, &format!("scripted {}", failure.status));
            }
            tokio::time::sleep(step.pause).await;
            reply::message(&body, &step)
        }
    }
}

async fn count_tokens(State(shared): State<Arc<Shared>>, method: Method, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    shared.log(method, &uri, headers, &body, None);
    axum::Json(json!({"input_tokens": reply::input_tokens(&body)})).into_response()
}

/// Whatever else the program asks (`HEAD /api/hello`) gets an empty answer and is logged.
async fn anything_else(State(shared): State<Arc<Shared>>, method: Method, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    shared.log(method, &uri, headers, &serde_json::from_slice(&body).unwrap_or_default(), None);
    axum::Json(json!({})).into_response()
}
