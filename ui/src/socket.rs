//! The live connection: opens it, resumes after the last known event, and heals it when it breaks.
//!
//! Must not interpret events; the store does.

use std::time::Duration;

use domain::board::Board;
use domain::event::{Event, Seq};
use domain::id::ProjectId;
use domain::wire::Frame;
use futures_util::StreamExt;
use futures_util::future::{AbortHandle, abortable};
use gloo_net::websocket::Message;
use gloo_net::websocket::futures::WebSocket;
use gloo_timers::future::sleep;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::app::About;
use crate::client::{Client, Failure};
use crate::focus::kept;
use crate::store::Store;

/// What the person is told about the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Link {
    /// Nothing was read yet.
    Opening,
    /// What was missed is coming in.
    CatchingUp,
    Live,
    /// It broke and is tried again.
    Lost,
    /// The project does not exist, or the person has to sign in first.
    Refused,
}

/// How long a silent socket may be called catching up: nothing more is to come when the rest belongs to other projects.
const SETTLED: Duration = Duration::from_millis(400);

/// Keeps `store` up to date with `project` until the current owner goes.
pub(crate) fn follow(store: Store, project: ProjectId) -> RwSignal<Link> {
    let link = RwSignal::new(Link::Opening);
    let (client, about) = (Client::here(), About::here());
    let (task, handle) = abortable(run(store, project, link, client, about));
    on_cleanup(move || AbortHandle::abort(&handle));
    spawn_local(async move {
        let _aborted_when_the_page_is_left = task.await;
    });
    link
}

async fn run(store: Store, project: ProjectId, link: RwSignal<Link>, client: Client, about: About) {
    let mut failures = 0;
    loop {
        let place = match store.place() {
            Some(place) => place,
            None => match client.board(&project).await {
                Ok(board) => load(store, board),
                Err(Failure::Refused(_) | Failure::SignedOut) => {
                    link.set(Link::Refused);
                    return;
                }
                Err(Failure::Unreachable(_)) => {
                    link.set(Link::Lost);
                    sleep(pause(failures)).await;
                    failures += 1;
                    continue;
                }
            },
        };
        match listen(store, &project, place, link, about).await {
            End::Resync => {
                link.set(Link::CatchingUp);
                if let Ok(board) = client.board(&project).await {
                    load(store, board);
                    failures = 0;
                    continue;
                }
            }
            End::Closed { spoke: true } => failures = 0,
            End::Closed { spoke: false } => {}
        }
        link.set(Link::Lost);
        sleep(pause(failures)).await;
        failures += 1;
        // A socket does not say why it was refused; a request does.
        if client.server().await == Err(Failure::SignedOut) {
            link.set(Link::Refused);
            return;
        }
    }
}

fn load(store: Store, board: Board) -> (Seq, String) {
    let place = (board.seq, board.epoch.clone());
    store.load(board);
    place
}

enum End {
    /// The board must be read again.
    Resync,
    /// `spoke`: whether the server had said hello.
    Closed { spoke: bool },
}

/// Reads one socket to its end.
async fn listen(store: Store, project: &ProjectId, (after, epoch): (Seq, String), link: RwSignal<Link>, about: About) -> End {
    let Some(address) = address(project, after, &epoch) else { return End::Closed { spoke: false } };
    let Ok(mut socket) = WebSocket::open(&address) else { return End::Closed { spoke: false } };
    let mut newest = None;
    while let Some(Ok(message)) = socket.next().await {
        let Message::Text(text) = message else { continue };
        // A frame of a newer server that is not known here changes nothing that is shown.
        let Ok(frame) = serde_json::from_str::<Frame>(&text) else { continue };
        match frame {
            Frame::Hello { seq, .. } => {
                newest = Some(seq);
                store.wake_logs();
                link.set(if seq > after { Link::CatchingUp } else { Link::Live });
                set_timeout(move || settle(link), SETTLED);
            }
            Frame::Event { event } => {
                if matches!(event.event, Event::AgentsParked { .. } | Event::AgentsResumed { .. }) {
                    about.ask();
                }
                kept(|| store.apply(&event));
                if newest.is_some_and(|newest| event.seq >= newest) {
                    settle(link);
                }
            }
            Frame::Activity { run_id, line } => store.note_activity(run_id, line),
            Frame::Resync {} => return End::Resync,
        }
    }
    End::Closed { spoke: newest.is_some() }
}

fn settle(link: RwSignal<Link>) {
    if link.try_get_untracked() == Some(Link::CatchingUp) {
        link.set(Link::Live);
    }
}

fn address(project: &ProjectId, after: Seq, epoch: &str) -> Option<String> {
    let location = window().location();
    let scheme = if location.protocol().ok()? == "https:" { "wss" } else { "ws" };
    Some(format!("{scheme}://{}/api/ws?project={project}&after={after}&epoch={epoch}", location.host().ok()?))
}

/// How long to wait before the next try: quick at first, because a restart takes a moment, and at most five seconds.
fn pause(failures: u32) -> Duration {
    Duration::from_millis((250 << failures.min(5)).min(5_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tries_become_rarer_up_to_a_limit() {
        let pauses: Vec<u128> = (0..8).map(|failures| pause(failures).as_millis()).collect();
        assert_eq!(pauses, [250, 500, 1000, 2000, 4000, 5000, 5000, 5000]);
        assert_eq!(pause(u32::MAX).as_millis(), 5000);
    }
}
