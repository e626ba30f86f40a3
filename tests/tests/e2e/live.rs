//! Live updates: several clients follow one board, and a client that reconnects misses nothing.

use domain::board::reducer::{Board, BoardChange};
use domain::board::status::Status;
use domain::event::Seq;
use domain::id::ProjectId;
use domain::wire::TaskView;
use futures_util::StreamExt;
use futures_util::stream::{self, FuturesUnordered};
use serde_json::json;
use tests::server::{TestServer, card};
use tests::socket::Socket;

use crate::support;

/// No agent works, because every card is held.
const NO_AGENTS: &str = r#"{"parts": []}"#;
const WRITES: usize = 1_000;
/// The number of concurrent requests.
const AT_ONCE: usize = 16;
const TASKS: usize = 20;

/// A client that applies events to its board, as the UI does.
struct Browser {
    board: Board,
    /// The sequence numbers of all received events, in order.
    seen: Vec<Seq>,
}

impl Browser {
    async fn open(server: &TestServer, project: &ProjectId) -> Self {
        Self { board: server.board(project).await.unwrap(), seen: Vec::new() }
    }

    async fn connect(&self, server: &TestServer) -> Socket {
        Socket::open(server, &self.board.project.id, Some((self.board.seq, &self.board.epoch))).await.unwrap()
    }

    /// Applies events up to `to` and returns the last change.
    async fn follow(&mut self, socket: &mut Socket, to: Seq) -> BoardChange {
        let mut touched = BoardChange::None;
        while self.board.seq < to {
            let envelope = socket.event().await.unwrap().expect("the connection stays open");
            self.seen.push(envelope.seq);
            touched = self.board.apply(&envelope);
        }
        touched
    }
}

/// Waits until every card has a wait reason, because the runner then records no further events.
async fn settled(server: &TestServer, project: &ProjectId) -> Board {
    server.until(project, "the runner has judged every card", |board| board.cards.iter().all(|card| card.wait_reason.is_some())).await
}

#[tokio::test]
async fn move_in_one_client_reaches_the_other() {
    let server = support::scripted(NO_AGENTS).await;
    let project = server.project("Errands", None).await.unwrap().id;
    let view: TaskView = server.post(&format!("/api/projects/{project}/tasks"), &json!({"title": "An errand"})).await.unwrap();
    let task = view.task.card.id;
    settled(&server, &project).await;
    let mut other = Browser::open(&server, &project).await;
    let mut socket = other.connect(&server).await;
    let cancel = json!({"status": "cancelled", "reason": "obsolete"});
    let _: TaskView = server.patch(&format!("/api/tasks/{task}"), &cancel).await.unwrap();
    let next = other.board.seq + 1;
    assert_eq!(other.follow(&mut socket, next).await, BoardChange::Card(task));
    assert_eq!(card(&other.board, "An errand").status, Status::Cancelled);
}

#[tokio::test]
async fn reconnecting_client_misses_no_event() {
    let server = support::scripted(NO_AGENTS).await;
    let project = server.project("Errands", None).await.unwrap().id;
    for number in 0..TASKS {
        let new = json!({"title": format!("Errand {number}")});
        let _: TaskView = server.post(&format!("/api/projects/{project}/tasks"), &new).await.unwrap();
    }
    let first = settled(&server, &project).await;
    let last = first.seq + Seq::try_from(WRITES).unwrap();
    let mut steady = Browser::open(&server, &project).await;
    let mut restless = Browser::open(&server, &project).await;

    let writes = stream::iter(0..WRITES).for_each_concurrent(AT_ONCE, |number| write(&server, &first, number));
    let stays = async {
        let mut socket = steady.connect(&server).await;
        steady.follow(&mut socket, last).await;
    };
    let comes_and_goes = async {
        let mut left = 0;
        while restless.board.seq < last {
            let mut socket = restless.connect(&server).await;
            // Disconnects after 1, 2, 4, … events, in the middle of the stream.
            let until = (restless.board.seq + (1 << left)).min(last);
            restless.follow(&mut socket, until).await;
            left += 1;
        }
        left
    };
    let ((), (), left) = tokio::join!(writes, stays, comes_and_goes);
    assert!(left > 5, "it left only {left} times");

    let all: Vec<Seq> = (first.seq + 1..=last).collect();
    assert_eq!(steady.seen, all, "each event once and in order");
    assert_eq!(restless.seen, all, "each event once and in order, over {left} connections");
    let board = server.board(&project).await.unwrap();
    assert_eq!(steady.board, board, "the board made of events is the board that the server has");
    assert_eq!(restless.board, board);
    assert_eq!(board.cards.iter().map(|card| card.comments).sum::<u32>(), u32::try_from(WRITES / 2).unwrap());
}

/// Sends one write that records exactly one event.
async fn write(server: &TestServer, board: &Board, number: usize) {
    let task = &board.cards[number % TASKS].id;
    // Half of the writes are comments, half are new titles.
    if number.is_multiple_of(2) {
        let comment = json!({"content": format!("Comment {number}")});
        server
            .request(reqwest::Method::POST, &format!("/api/tasks/{task}/comments"))
            .json(&comment)
            .send()
            .await
            .unwrap()
            .error_for_status()
            .unwrap();
    } else {
        let title = json!({"title": format!("Renamed {number}")});
        server.request(reqwest::Method::PATCH, &format!("/api/tasks/{task}")).json(&title).send().await.unwrap().error_for_status().unwrap();
    }
}

#[tokio::test]
async fn twenty_clients_see_the_same_board() {
    let server = support::scripted(NO_AGENTS).await;
    let project = server.project("Errands", None).await.unwrap().id;
    let mut browsers = Vec::new();
    for _ in 0..20 {
        let browser = Browser::open(&server, &project).await;
        let socket = browser.connect(&server).await;
        browsers.push((browser, socket));
    }
    for number in 0..10 {
        let _: TaskView = server.post(&format!("/api/projects/{project}/tasks"), &json!({"title": format!("Errand {number}")})).await.unwrap();
    }
    let board = server.board(&project).await.unwrap();
    let mut followed: FuturesUnordered<_> = browsers
        .iter_mut()
        .map(|(browser, socket)| {
            let to = board.seq;
            async move {
                browser.follow(socket, to).await;
                browser.board.clone()
            }
        })
        .collect();
    while let Some(seen) = followed.next().await {
        assert_eq!(seen, board);
    }
}
