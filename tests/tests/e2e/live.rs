//! Two browsers look at one board: what is changed in one is seen in the other, and one that was away misses nothing.

use domain::board::reducer::{Board, BoardChange};
use domain::board::status::Status;
use domain::event::Seq;
use domain::id::ProjectId;
use domain::wire::TaskView;
use futures_util::StreamExt;
use futures_util::stream::{self, FuturesUnordered};
use serde_json::json;
use tests::relay::{Relay, card};
use tests::socket::Socket;

use crate::scene;

/// No agent works: every card is held by the person.
const NO_AGENTS: &str = r#"{"parts": []}"#;
const WRITES: usize = 1_000;
/// As many requests are under way at once.
const AT_ONCE: usize = 16;
const TASKS: usize = 20;

/// A page that shows the board and follows the log, as the interface does.
struct Browser {
    board: Board,
    /// Every event it was sent, in order.
    seen: Vec<Seq>,
}

impl Browser {
    async fn open(relay: &Relay, project: &ProjectId) -> Self {
        Self { board: relay.board(project).await.unwrap(), seen: Vec::new() }
    }

    async fn connect(&self, relay: &Relay) -> Socket {
        Socket::open(relay, &self.board.project.id, Some((self.board.seq, &self.board.epoch))).await.unwrap()
    }

    /// Follows until an event; says what it touched.
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

/// The board when the runner has said of every card why nobody works on it, and has nothing more to say.
async fn settled(relay: &Relay, project: &ProjectId) -> Board {
    relay.until(project, "the runner has judged every card", |board| board.cards.iter().all(|card| card.wait_reason.is_some())).await
}

#[tokio::test]
async fn a_card_moved_in_one_browser_moves_in_the_other() {
    let relay = scene::scripted(NO_AGENTS).await;
    let project = relay.project("Errands", None).await.unwrap().id;
    let view: TaskView = relay.post(&format!("/api/projects/{project}/tasks"), &json!({"title": "An errand"})).await.unwrap();
    let task = view.task.card.id;
    settled(&relay, &project).await;
    let mut other = Browser::open(&relay, &project).await;
    let mut socket = other.connect(&relay).await;
    let cancel = json!({"status": "cancelled", "reason": "obsolete"});
    let _: TaskView = relay.patch(&format!("/api/tasks/{task}"), &cancel).await.unwrap();
    let next = other.board.seq + 1;
    assert_eq!(other.follow(&mut socket, next).await, BoardChange::Card(task));
    assert_eq!(card(&other.board, "An errand").status, Status::Cancelled);
}

#[tokio::test]
async fn a_browser_that_comes_and_goes_misses_nothing_of_a_thousand_writes() {
    let relay = scene::scripted(NO_AGENTS).await;
    let project = relay.project("Errands", None).await.unwrap().id;
    for number in 0..TASKS {
        let new = json!({"title": format!("Errand {number}")});
        let _: TaskView = relay.post(&format!("/api/projects/{project}/tasks"), &new).await.unwrap();
    }
    let first = settled(&relay, &project).await;
    let last = first.seq + Seq::try_from(WRITES).unwrap();
    let mut steady = Browser::open(&relay, &project).await;
    let mut restless = Browser::open(&relay, &project).await;

    let writes = stream::iter(0..WRITES).for_each_concurrent(AT_ONCE, |number| write(&relay, &first, number));
    let stays = async {
        let mut socket = steady.connect(&relay).await;
        steady.follow(&mut socket, last).await;
    };
    let comes_and_goes = async {
        let mut left = 0;
        while restless.board.seq < last {
            let mut socket = restless.connect(&relay).await;
            // Gone after 1, 2, 4, … events, in the middle of what was sent.
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
    let board = relay.board(&project).await.unwrap();
    assert_eq!(steady.board, board, "the board made of events is the board that the server has");
    assert_eq!(restless.board, board);
    assert_eq!(board.cards.iter().map(|card| card.comments).sum::<u32>(), u32::try_from(WRITES / 2).unwrap());
}

/// One of many different writes, each of which is one event.
async fn write(relay: &Relay, board: &Board, number: usize) {
    let task = &board.cards[number % TASKS].id;
    // Half of the tasks get comments, half get new titles.
    if number.is_multiple_of(2) {
        let comment = json!({"content": format!("Comment {number}")});
        relay.request(reqwest::Method::POST, &format!("/api/tasks/{task}/comments")).json(&comment).send().await.unwrap().error_for_status().unwrap();
    } else {
        let title = json!({"title": format!("Renamed {number}")});
        relay.request(reqwest::Method::PATCH, &format!("/api/tasks/{task}")).json(&title).send().await.unwrap().error_for_status().unwrap();
    }
}

#[tokio::test]
async fn many_browsers_at_once_are_told_the_same() {
    let relay = scene::scripted(NO_AGENTS).await;
    let project = relay.project("Errands", None).await.unwrap().id;
    let mut browsers = Vec::new();
    for _ in 0..20 {
        let browser = Browser::open(&relay, &project).await;
        let socket = browser.connect(&relay).await;
        browsers.push((browser, socket));
    }
    for number in 0..10 {
        let _: TaskView = relay.post(&format!("/api/projects/{project}/tasks"), &json!({"title": format!("Errand {number}")})).await.unwrap();
    }
    let board = relay.board(&project).await.unwrap();
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
