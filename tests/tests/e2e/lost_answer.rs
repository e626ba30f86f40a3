//! The server is killed between what it wrote and what it would have answered: the agent's call is repeated, and has its effect once.
//!
//! A man in the middle makes the moment: the file that tells bridges where the server is names a relay of this test, which takes one call's
//! answer, kills the server, and gives the agent half an answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use domain::event::Event;
use domain::runs::failure::EndClass;
use domain::runs::output::OutputKind;
use futures_util::stream;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use tests::relay::{Relay, card};
use tokio::net::TcpListener;

use crate::scene::{self, complete, nothing_left};

const SCENARIO: &str = include_str!("../../scenarios/recovery.json");

/// When the server dies in the call that makes the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moment {
    /// It never saw the request.
    BeforeTheRequest,
    /// It carried the request out, and nobody heard of it.
    BeforeTheAnswer,
}

#[tokio::test]
async fn a_plan_whose_answer_is_lost_is_made_once() {
    one_set_of_children(scene::scripted(SCENARIO).await, Moment::BeforeTheAnswer).await;
}

#[tokio::test]
async fn a_plan_whose_answer_is_lost_is_made_once_for_the_real_program() {
    let (relay, _model) = scene::real(SCENARIO).await;
    one_set_of_children(relay, Moment::BeforeTheAnswer).await;
}

#[tokio::test]
async fn a_plan_whose_request_is_lost_is_made_once() {
    one_set_of_children(scene::scripted(SCENARIO).await, Moment::BeforeTheRequest).await;
}

async fn one_set_of_children(mut relay: Relay, moment: Moment) {
    let middle = Middle::step_in(&relay, moment).await;
    for task in ["TASK-002", "TASK-003"] {
        scene::open(&relay, task);
    }
    let project = relay.project("Letters", Some("Write alpha and beta.")).await.unwrap().id;
    tests::wait_for("the server is killed", || middle.killed.load(Ordering::SeqCst)).await;
    relay.kill().await.unwrap();
    relay.serve().await.unwrap();

    let board = relay.until(&project, "the project is complete", complete).await;
    let titles: Vec<&str> = board.cards.iter().map(|card| card.title.as_str()).collect();
    assert_eq!(titles, ["Letters", "Write alpha", "Write beta", "Look at the whole: Letters"], "exactly one set of children");
    let created = relay.events(&project).await.unwrap().into_iter().filter(|envelope| envelope.event == Event::TaskCreated {});
    assert_eq!(created.count(), 4, "nothing was made and removed again");

    let runs = relay.runs(&card(&board, "Letters").id).await.unwrap();
    assert_eq!(runs.iter().map(|run| run.end_class).collect::<Vec<_>>(), [Some(EndClass::Finished)], "the planner's run was taken over");
    let output = relay.output(&runs[0].id).await.unwrap();
    assert!(output.lines.iter().all(|line| line.kind != OutputKind::ToolError), "the agent noticed nothing: {:#?}", output.lines);
    let named = output.lines.iter().any(|line| line.text == "I made TASK-002 Write alpha.");
    assert!(named, "the answer that came in the end names what was made: {:#?}", output.lines);
    relay.until(&project, "nothing is left", |_| nothing_left(&relay)).await;
}

/// Who stands between the bridges and the server.
struct Middle {
    moment: Moment,
    server: String,
    server_id: Pid,
    killed: AtomicBool,
}

impl Middle {
    async fn step_in(relay: &Relay, moment: Moment) -> Arc<Self> {
        let server_id = Pid::from_raw(i32::try_from(relay.server_id().unwrap()).unwrap());
        let middle = Arc::new(Self { moment, server: relay.url.clone(), server_id, killed: AtomicBool::new(false) });
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new().fallback(pass_on).with_state(Arc::clone(&middle));
        tokio::spawn(async { axum::serve(listener, router).await });

        let path = relay.place().join("data/server.json");
        let mut file: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        file["url"] = url.into();
        std::fs::write(&path, file.to_string()).unwrap();
        middle
    }

    fn kill(&self) {
        kill(self.server_id, Signal::SIGKILL).unwrap();
        self.killed.store(true, Ordering::SeqCst);
    }
}

async fn pass_on(State(middle): State<Arc<Middle>>, mut headers: HeaderMap, body: Bytes) -> Response {
    let makes_the_plan = String::from_utf8_lossy(&body).contains("create_subtasks");
    if makes_the_plan && middle.moment == Moment::BeforeTheRequest {
        middle.kill();
        return cut_off();
    }
    headers.remove("host");
    let answer = reqwest::Client::new().post(format!("{}/mcp", middle.server)).headers(headers).body(body).send().await.unwrap();
    let (status, answer) = (answer.status(), answer.bytes().await.unwrap());
    if makes_the_plan {
        assert!(String::from_utf8_lossy(&answer).contains("TASK-003"), "the plan was made");
        middle.kill();
        return cut_off();
    }
    let status = StatusCode::from_u16(status.as_u16()).unwrap();
    Response::builder().status(status).header("content-type", "application/json").body(Body::from(answer)).unwrap()
}

/// An answer that breaks off, as a dying server's does.
fn cut_off() -> Response {
    let pieces = [Ok(Bytes::from_static(b"{\"jsonrpc\"")), Err(std::io::Error::other("killed"))];
    Response::new(Body::from_stream(stream::iter(pieces)))
}
