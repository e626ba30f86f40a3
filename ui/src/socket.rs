//! The live connection: opens it, resumes after the last known event, and reconnects when it breaks.
//!
//! Must not interpret events, because the store does.

use std::time::Duration;

use domain::event::{Event, Seq};
use domain::id::ProjectId;
use domain::team::person::PersonEvent;
use domain::wire::{BoardView, Frame};
use futures_util::StreamExt;
use futures_util::future::{AbortHandle, abortable};
use gloo_net::websocket::Message;
use gloo_net::websocket::futures::WebSocket;
use gloo_timers::future::sleep;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::app::ServerStatus;
use crate::client::{Client, Failure};
use crate::focus::preserving_focus;
use crate::store::Store;

/// The state of the connection, as the top bar shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConnectionState {
    /// The board is being requested.
    Opening,
    /// Missed events are arriving.
    CatchingUp,
    Live,
    /// The connection broke; retries are under way.
    Lost,
    /// The project does not exist, or the browser must sign in first.
    Refused,
}

/// Time after which a quiet socket counts as live. The missed events may all belong to other projects.
const CATCH_UP_TIMEOUT: Duration = Duration::from_millis(400);

/// Keeps `store` up to date with `project` for as long as the current owner lives.
pub(crate) fn follow(store: Store, project: ProjectId) -> RwSignal<ConnectionState> {
    let link = RwSignal::new(ConnectionState::Opening);
    let (client, status) = (Client::from_context(), ServerStatus::from_context());
    let (task, handle) = abortable(run(store, project, link, client, status));
    on_cleanup(move || AbortHandle::abort(&handle));
    spawn_local(async move {
        let _aborted_with_the_page = task.await;
    });
    link
}

async fn run(store: Store, project: ProjectId, link: RwSignal<ConnectionState>, client: Client, status: ServerStatus) {
    let mut failures = 0;
    loop {
        let place = match store.place() {
            Some(place) => place,
            None => match client.board(&project).await {
                Ok(board) => load(store, board),
                Err(Failure::Refused(_) | Failure::SignedOut) => {
                    link.set(ConnectionState::Refused);
                    return;
                }
                Err(Failure::Unreachable(_)) => {
                    link.set(ConnectionState::Lost);
                    sleep(retry_delay(failures)).await;
                    failures += 1;
                    continue;
                }
            },
        };
        match listen(store, &project, place, link, status).await {
            End::Resync => {
                link.set(ConnectionState::CatchingUp);
                if let Ok(board) = client.board(&project).await {
                    load(store, board);
                    failures = 0;
                    continue;
                }
            }
            End::Closed { after_hello: true } => failures = 0,
            End::Closed { after_hello: false } => {}
        }
        link.set(ConnectionState::Lost);
        sleep(retry_delay(failures)).await;
        failures += 1;
        // A refused socket gives no reason, but a refused request does.
        if client.server().await == Err(Failure::SignedOut) {
            link.set(ConnectionState::Refused);
            return;
        }
    }
}

fn load(store: Store, view: BoardView) -> (Seq, String) {
    let place = (view.board.seq, view.board.epoch.clone());
    store.load(view);
    place
}

enum End {
    /// The client must request the board again.
    Resync,
    Closed {
        after_hello: bool,
    },
}

/// Reads one socket to its end.
async fn listen(store: Store, project: &ProjectId, (after, epoch): (Seq, String), link: RwSignal<ConnectionState>, status: ServerStatus) -> End {
    let Some(address) = address(project, after, &epoch) else { return End::Closed { after_hello: false } };
    let Ok(mut socket) = WebSocket::open(&address) else { return End::Closed { after_hello: false } };
    let mut newest = None;
    while let Some(Ok(message)) = socket.next().await {
        let Message::Text(text) = message else { continue };
        // A newer server may send frames that this page does not know.
        let Ok(frame) = serde_json::from_str::<Frame>(&text) else { continue };
        match frame {
            Frame::Hello { seq, .. } => {
                newest = Some(seq);
                store.wake_logs();
                link.set(if seq > after { ConnectionState::CatchingUp } else { ConnectionState::Live });
                set_timeout(move || settle(link), CATCH_UP_TIMEOUT);
            }
            Frame::Event { event } => {
                // A new role can be the reader's, and with it their rights.
                if matches!(event.event, Event::Parking(_) | Event::Pause(_) | Event::Person(PersonEvent::RoleChanged { .. })) {
                    status.refresh();
                }
                preserving_focus(|| store.apply(&event));
                if newest.is_some_and(|newest| event.seq >= newest) {
                    settle(link);
                }
            }
            Frame::Activity { run_id, line } => store.note_activity(run_id, line),
            Frame::Server {} => status.refresh(),
            Frame::Resync {} => return End::Resync,
        }
    }
    End::Closed { after_hello: newest.is_some() }
}

fn settle(link: RwSignal<ConnectionState>) {
    if link.try_get_untracked() == Some(ConnectionState::CatchingUp) {
        link.set(ConnectionState::Live);
    }
}

fn address(project: &ProjectId, after: Seq, epoch: &str) -> Option<String> {
    let location = window().location();
    let scheme = if location.protocol().ok()? == "https:" { "wss" } else { "ws" };
    Some(format!("{scheme}://{}/api/ws?project={project}&after={after}&epoch={epoch}", location.host().ok()?))
}

/// The delay before the next attempt. It starts short, because a restart is quick, and grows to five seconds.
fn retry_delay(failures: u32) -> Duration {
    Duration::from_millis((250 << failures.min(5)).min(5_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_delay_grows_up_to_a_limit() {
        let delays: Vec<u128> = (0..8).map(|failures| retry_delay(failures).as_millis()).collect();
        assert_eq!(delays, [250, 500, 1000, 2000, 4000, 5000, 5000, 5000]);
        assert_eq!(retry_delay(u32::MAX).as_millis(), 5000);
    }
}
