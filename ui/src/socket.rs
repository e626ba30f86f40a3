//! The live connection of the page: one WebSocket for all projects, which resumes after the last known event and reconnects when it breaks.
//!
//! Must not interpret events: those who follow it do.

use std::rc::Rc;
use std::time::Duration;

use domain::event::Seq;
use domain::event::live::LiveEvent;
use domain::id::RunId;
use domain::time::Timestamp;
use futures_util::StreamExt;
use gloo_net::websocket::Message;
use gloo_net::websocket::futures::WebSocket;
use gloo_timers::future::sleep;
use leptos::prelude::*;
use leptos::task::spawn_local;
use serde::Deserialize;

use crate::app::ServerStatus;
use crate::client::Client;
use crate::time::now;

/// The state of the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConnectionState {
    Opening,
    /// Missed events are arriving.
    CatchingUp,
    Live,
    /// The connection broke; retries are under way.
    Lost,
    /// The browser must sign in first.
    SignedOut,
}

/// One thing that the connection reports.
pub(crate) enum Notice {
    /// The connection is open. Unless it resumed an earlier one, everything must be requested.
    Connected {
        resumed: bool,
    },
    Event(Box<LiveEvent>),
    /// The last output line of a running agent.
    Activity(RunId, String),
}

/// Kinds of events that change the status of the server. A new role can be the reader's, and with it their rights.
const CHANGES_THE_SERVER: [&str; 5] = ["agents_parked", "agents_resumed", "work_paused", "work_resumed", "person_role_changed"];

type Follower = Rc<dyn Fn(&Notice)>;

/// Time after which a quiet socket counts as live.
const CATCH_UP_TIMEOUT: Duration = Duration::from_millis(400);

#[derive(Clone, Copy)]
pub(crate) struct Live {
    pub(crate) state: RwSignal<ConnectionState>,
    /// Since when the server does not answer.
    pub(crate) lost_since: RwSignal<Option<Timestamp>>,
    client: Client,
    status: ServerStatus,
    followers: StoredValue<Vec<(u64, Follower)>, LocalStorage>,
    next_follower: StoredValue<u64>,
    /// The last known event, and the epoch of its log.
    place: StoredValue<Option<(Seq, String)>>,
}

impl Live {
    /// Opens the connection, and makes it available below the current owner.
    pub(crate) fn provide(client: Client, status: ServerStatus) -> Self {
        let live = Self {
            state: RwSignal::new(ConnectionState::Opening),
            lost_since: RwSignal::new(None),
            client,
            status,
            followers: StoredValue::new_local(Vec::new()),
            next_follower: StoredValue::new(0),
            place: StoredValue::new(None),
        };
        provide_context(live);
        spawn_local(live.run());
        live
    }

    pub(crate) fn from_context() -> Self {
        expect_context()
    }

    /// Whether the server answers. A page disables what it cannot do without the server.
    pub(crate) fn is_lost(self) -> bool {
        self.state.get() == ConnectionState::Lost
    }

    /// Whether notices have begun to arrive.
    pub(crate) fn is_connected(self) -> bool {
        matches!(self.state.get_untracked(), ConnectionState::CatchingUp | ConnectionState::Live)
    }

    /// Passes every notice to `follower` for as long as the current owner lives.
    pub(crate) fn follow(self, follower: impl Fn(&Notice) + 'static) {
        let number = self.next_follower.get_value();
        self.next_follower.set_value(number + 1);
        self.followers.update_value(|followers| followers.push((number, Rc::new(follower))));
        on_cleanup(move || {
            let _app_closed = self.followers.try_update_value(|followers| followers.retain(|(known, _)| *known != number));
        });
    }

    fn notify(self, notice: &Notice) {
        // A copy, because a follower may open a page with followers of its own.
        let followers = self.followers.get_value();
        followers.iter().for_each(|(_, follower)| follower(notice));
    }

    async fn run(self) {
        let mut failures = 0;
        loop {
            match self.listen().await {
                End::Resync => {
                    self.place.set_value(None);
                    continue;
                }
                End::Closed { after_hello: true } => failures = 0,
                End::Closed { after_hello: false } => {}
            }
            self.state.set(ConnectionState::Lost);
            if self.lost_since.with_untracked(Option::is_none) {
                self.lost_since.set(Some(now()));
            }
            sleep(retry_delay(failures)).await;
            failures += 1;
            // A refused socket gives no reason, but a refused request does.
            if self.client.asks_for_sign_in().await {
                self.state.set(ConnectionState::SignedOut);
                return;
            }
        }
    }

    /// Reads one socket to its end.
    async fn listen(self) -> End {
        let place = self.place.get_value();
        let Some(address) = address(place.as_ref()) else { return End::Closed { after_hello: false } };
        let Ok(mut socket) = WebSocket::open_with_protocols(&address, &self.client.socket_protocols()) else {
            return End::Closed { after_hello: false };
        };
        let mut newest = None;
        while let Some(Ok(message)) = socket.next().await {
            let Message::Text(text) = message else { continue };
            // A newer server may send frames that this page does not know.
            let Some(frame) = Received::parse(&text) else { continue };
            match frame {
                Received::Hello { seq, epoch } => {
                    newest = Some(seq);
                    self.lost_since.set(None);
                    let missed = place.as_ref().is_some_and(|(after, _)| seq > *after);
                    if place.is_none() {
                        self.place.set_value(Some((seq, epoch)));
                    }
                    self.state.set(if missed { ConnectionState::CatchingUp } else { ConnectionState::Live });
                    set_timeout(move || self.settle(), CATCH_UP_TIMEOUT);
                    self.status.refresh();
                    self.notify(&Notice::Connected { resumed: place.is_some() });
                }
                Received::Event(event) => self.receive(event, newest),
                Received::Activity(run_id, line) => self.notify(&Notice::Activity(run_id, line)),
                Received::Server => self.status.refresh(),
                Received::Resync => return End::Resync,
            }
        }
        End::Closed { after_hello: newest.is_some() }
    }

    fn receive(self, event: Box<LiveEvent>, newest: Option<Seq>) {
        if CHANGES_THE_SERVER.contains(&event.kind()) {
            self.status.refresh();
        }
        let seq = event.seq;
        self.place.update_value(|place| {
            if let Some((last, _)) = place {
                *last = seq;
            }
        });
        self.notify(&Notice::Event(event));
        if newest.is_some_and(|newest| seq >= newest) {
            self.settle();
        }
    }

    fn settle(self) {
        if self.state.get_untracked() == ConnectionState::CatchingUp {
            self.state.set(ConnectionState::Live);
        }
    }
}

/// A [`domain::wire::Frame`] with what a live board reads of an event.
#[derive(Debug, PartialEq)]
enum Received {
    Hello { seq: Seq, epoch: String },
    Event(Box<LiveEvent>),
    Activity(RunId, String),
    Server,
    Resync,
}

/// The fields of all frames.
#[derive(Deserialize)]
struct Fields {
    #[serde(rename = "type")]
    kind: String,
    seq: Option<Seq>,
    epoch: Option<String>,
    event: Option<Box<LiveEvent>>,
    run_id: Option<RunId>,
    line: Option<String>,
}

impl Received {
    fn parse(text: &str) -> Option<Self> {
        let fields: Fields = serde_json::from_str(text).ok()?;
        Some(match fields.kind.as_str() {
            "hello" => Self::Hello { seq: fields.seq?, epoch: fields.epoch? },
            "event" => Self::Event(fields.event?),
            "activity" => Self::Activity(fields.run_id?, fields.line?),
            "server" => Self::Server,
            "resync" => Self::Resync,
            _ => return None,
        })
    }
}

enum End {
    /// The client must request everything again.
    Resync,
    Closed {
        after_hello: bool,
    },
}

fn address(place: Option<&(Seq, String)>) -> Option<String> {
    let location = window().location();
    let scheme = if location.protocol().ok()? == "https:" { "wss" } else { "ws" };
    let query = place.map(|(after, epoch)| format!("?after={after}&epoch={epoch}")).unwrap_or_default();
    Some(format!("{scheme}://{}/api/ws{query}", location.host().ok()?))
}

/// The delay before the next attempt. It starts short, because a restart is quick, and grows to five seconds.
fn retry_delay(failures: u32) -> Duration {
    Duration::from_millis((250 << failures.min(5)).min(5_000))
}

#[cfg(test)]
mod tests {
    use domain::event::Event;
    use domain::wire::Frame;

    use super::*;

    #[test]
    fn every_frame_of_the_server_is_read() {
        let parse = |frame: &Frame| Received::parse(&serde_json::to_string(frame).unwrap()).unwrap();
        assert_eq!(parse(&Frame::Hello { epoch: "e".to_owned(), seq: 4 }), Received::Hello { seq: 4, epoch: "e".to_owned() });
        let line = Frame::Activity { run_id: RunId::new(1), line: "Edits a.rs".to_owned() };
        assert_eq!(parse(&line), Received::Activity(RunId::new(1), "Edits a.rs".to_owned()));
        assert_eq!((parse(&Frame::Server {}), parse(&Frame::Resync {})), (Received::Server, Received::Resync));
        let event = r#"{"type":"event","event":{"seq":5,"at":"2026-01-31T10:00:00.000Z","project_id":null,"task_id":null,"run_id":null,"actor":"human","event":{"kind":"work_paused"}}}"#;
        let Some(Received::Event(event)) = Received::parse(event) else { unreachable!("a frame with an event") };
        assert!(event.seq == 5 && CHANGES_THE_SERVER.contains(&event.kind()));
        assert_eq!(Received::parse(r#"{"type":"later"}"#), None, "a newer server sends it");
    }

    #[test]
    fn events_that_change_the_server_exist() {
        for kind in CHANGES_THE_SERVER {
            assert!(Event::kinds().contains(&kind), "{kind}");
        }
    }

    #[test]
    fn retry_delay_grows_up_to_a_limit() {
        let delays: Vec<u128> = (0..8).map(|failures| retry_delay(failures).as_millis()).collect();
        assert_eq!(delays, [250, 500, 1000, 2000, 4000, 5000, 5000, 5000]);
        assert_eq!(retry_delay(u32::MAX).as_millis(), 5000);
    }
}
