//! A Messages API server on loopback that plays a scenario for the real `claude` program, without a model, an account or a network. It must
//! not store conversations: each response follows from its request alone, because retried and resumed requests must get the same response.
//! It only counts the failures that a part asks for.

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

/// One recorded request. It shows what a model would have seen.
#[derive(Debug, Clone)]
pub struct RequestLog {
    pub method: Method,
    pub path: String,
    pub headers: HeaderMap,
    /// Null if the request had no JSON body.
    pub body: Value,
    /// The agent that sent the request. `None` for other paths and for side requests, such as those for titles.
    pub agent: Option<AgentId>,
}

impl RequestLog {
    /// All text of the request: system prompt, messages and tool results, joined by line breaks.
    pub fn text(&self) -> String {
        request::texts(&self.body).join("\n")
    }
}

/// The running server. Dropping it stops the server.
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
    /// How often each part has failed for each task.
    failures: Mutex<HashMap<(usize, String), u32>>,
}

impl ScriptedModel {
    /// Serves the scenario on a free port of the loopback interface.
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
            // Runs until the task is aborted.
            let _ = axum::serve(listener, router).await;
        });
        Ok(Self { address, shared, server })
    }

    /// The value for `ANTHROPIC_BASE_URL`.
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// All requests so far, oldest first.
    pub fn requests(&self) -> Vec<RequestLog> {
        lock(&self.shared.requests).clone()
    }

    /// The requests of agents of one kind, oldest first.
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
        lock(&self.requests).push(RequestLog { method, path: uri.path().to_owned(), headers, body: body.clone(), agent });
    }

    /// The failure to return now, if the part has one left for this task.
    fn failure(&self, step: &Step, agent: &AgentId) -> Option<Failure> {
        let failure = step.failure?;
        let mut failures = lock(&self.failures);
        let played = failures.entry((step.part, agent.task_id.clone())).or_default();
        *played += 1;
        (*played <= failure.times).then_some(failure)
    }
}

/// Ignores poisoning, because a second panic would hide the message of the first.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
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

/// Records any other request, for example `HEAD /api/hello`, and returns an empty response.
async fn anything_else(State(shared): State<Arc<Shared>>, method: Method, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    shared.log(method, &uri, headers, &serde_json::from_slice(&body).unwrap_or_default(), None);
    axum::Json(json!({})).into_response()
}
