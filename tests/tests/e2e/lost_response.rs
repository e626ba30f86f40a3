//! The server is killed between its commit and its response. The agent's call is repeated and takes effect once.
//!
//! A proxy chooses the moment. The test replaces the server's address in the file that bridges read; the proxy takes one response,
//! kills the server and returns half a response to the agent.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use domain::board::task::event::TaskEvent;
use domain::runs::failure::EndClass;
use domain::runs::output::OutputKind;
use futures_util::stream;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tests::server::{TestServer, card};
use tokio::net::UnixListener;

use crate::support::{self, complete, nothing_left};

const SCENARIO: &str = include_str!("../../scenarios/recovery.json");

/// When the server is killed during the call that creates the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum KillMoment {
    /// Before the server receives the request.
    BeforeRequest,
    /// After the server has executed the request, before its response is delivered.
    BeforeResponse,
}

#[tokio::test]
async fn lost_response_creates_the_plan_once() {
    plan_is_created_once(support::scripted(SCENARIO).await, KillMoment::BeforeResponse).await;
}

#[tokio::test]
async fn lost_response_creates_the_plan_once_for_the_real_agent() {
    let (server, _model) = support::real(SCENARIO).await;
    plan_is_created_once(server, KillMoment::BeforeResponse).await;
}

#[tokio::test]
async fn lost_request_creates_the_plan_once() {
    plan_is_created_once(support::scripted(SCENARIO).await, KillMoment::BeforeRequest).await;
}

async fn plan_is_created_once(mut server: TestServer, moment: KillMoment) {
    let proxy = Proxy::insert(&server, moment).await;
    for task in ["TASK-002", "TASK-003"] {
        support::open(&server, task);
    }
    // Reads the description of the interface, which an answer is checked with: later, the server may be killed already.
    let _: serde_json::Value = server.get("/api/projects").await.unwrap();
    let project = server.project("Letters", Some("Write alpha and beta.")).await.unwrap().id;
    tests::wait_for("the server is killed", || proxy.killed.load(Ordering::SeqCst)).await;
    server.kill().await.unwrap();
    server.serve().await.unwrap();

    let board = server.until(&project, "the project is complete", complete).await;
    let titles: Vec<&str> = board.cards.iter().map(|card| card.title.as_str()).collect();
    assert_eq!(titles, ["Letters", "Write alpha", "Write beta", "Check the result: Letters"], "exactly one set of children");
    let created = server.events(&project).await.unwrap().into_iter().filter(|envelope| envelope.event == TaskEvent::Created {}.into());
    assert_eq!(created.count(), 4, "no task was created and removed");

    let runs = server.runs(&card(&board, "Letters").id).await.unwrap();
    assert_eq!(runs.iter().map(|run| run.end_class).collect::<Vec<_>>(), [Some(EndClass::Finished)], "the planner's run was adopted");
    let output = server.output(&runs[0].id).await.unwrap();
    assert!(output.lines.iter().all(|line| line.kind != OutputKind::ToolError), "the agent noticed nothing: {:#?}", output.lines);
    let named = output.lines.iter().any(|line| line.text == "I made TASK-002 Write alpha.");
    assert!(named, "the answer that came in the end names what was made: {:#?}", output.lines);
    server.until(&project, "nothing is left", |_| nothing_left(&server)).await;
}

/// A proxy between the bridges and the server.
struct Proxy {
    moment: KillMoment,
    server: String,
    server_id: Pid,
    killed: AtomicBool,
}

impl Proxy {
    async fn insert(server: &TestServer, moment: KillMoment) -> Arc<Self> {
        let server_id = Pid::from_raw(i32::try_from(server.server_id().unwrap()).unwrap());
        let proxy = Arc::new(Self { moment, server: server.url.clone(), server_id, killed: AtomicBool::new(false) });
        let socket = server.root().join("data/sockets/vibe-relay.sock");
        std::fs::remove_file(&socket).unwrap();
        let listener = UnixListener::bind(socket).unwrap();
        let router = Router::new().fallback(forward).with_state(Arc::clone(&proxy));
        tokio::spawn(async { axum::serve(listener, router).await });
        proxy
    }

    fn kill(&self) {
        kill(self.server_id, Signal::SIGKILL).unwrap();
        self.killed.store(true, Ordering::SeqCst);
    }
}

async fn forward(State(proxy): State<Arc<Proxy>>, mut headers: HeaderMap, body: Bytes) -> Response {
    let creates_plan = String::from_utf8_lossy(&body).contains("create_subtasks");
    if creates_plan && proxy.moment == KillMoment::BeforeRequest {
        proxy.kill();
        return truncated_response();
    }
    headers.remove("host");
    let answer = reqwest::Client::new().post(format!("{}/mcp", proxy.server)).headers(headers).body(body).send().await.unwrap();
    let (status, answer) = (answer.status(), answer.bytes().await.unwrap());
    if creates_plan {
        assert!(String::from_utf8_lossy(&answer).contains("TASK-003"), "the plan was made");
        proxy.kill();
        return truncated_response();
    }
    let status = StatusCode::from_u16(status.as_u16()).unwrap();
    Response::builder().status(status).header("content-type", "application/json").body(Body::from(answer)).unwrap()
}

/// A truncated response, like that of a killed server.
fn truncated_response() -> Response {
    let pieces = [Ok(Bytes::from_static(b"{\"jsonrpc\"")), Err(std::io::Error::other("killed"))];
    Response::new(Body::from_stream(stream::iter(pieces)))
}
