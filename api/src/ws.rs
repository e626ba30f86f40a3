//! The live log for one client: what it missed, then what happens, each event once and in order.
//!
//! Every socket reads the log by itself from its own place, so a slow one keeps nobody waiting and holds nothing in memory.

use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade, close_code};
use axum::response::Response;
use db::Db;
use domain::event::Seq;
use domain::id::ProjectId;
use domain::wire::Frame;
use serde::Deserialize;
use tokio::sync::broadcast::{self, error::RecvError};
use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior, interval_at, timeout};
use utoipa::IntoParams;

use crate::serve::Streams;
use crate::state::AppState;

/// A client that is further behind reads the board again, which is less than the events are.
const MOST_BEHIND: Seq = 5_000;
/// Events read from the log at once.
const PAGE: u32 = 200;
/// Clients say nothing that is listened to.
const INCOMING_LIMIT: usize = 4 * 1024;
const PING_EVERY: Duration = Duration::from_secs(20);
/// Pings without any answer before a client counts as gone.
const SILENT_PINGS: u32 = 3;
/// How long a client may take in nothing before it counts as gone.
const STUCK: Duration = Duration::from_secs(30);
const GOODBYE: Duration = Duration::from_millis(500);

/// Where a client wants to begin.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Begin {
    /// The last event that the client has; without it only what happens from now on is sent.
    after: Option<Seq>,
    /// The life of the log that `after` counts in, from the board or an earlier `hello`.
    epoch: Option<String>,
    /// Events of this project, and those of none, only.
    project: Option<ProjectId>,
}

/// Why a socket ended, as far as anything is to be done about it.
enum End {
    /// The client is gone, or does not take anything in.
    Gone,
    /// The log could not be read.
    Failed(db::Error),
    /// The server ends.
    Shutdown,
}

impl From<db::Error> for End {
    fn from(error: db::Error) -> Self {
        Self::Failed(error)
    }
}

/// Accepts the socket. It lives on after the request, so the server's end waits for it.
pub(crate) fn accept(upgrade: WebSocketUpgrade, state: AppState, streams: Option<Streams>, begin: Begin) -> Response {
    let upgrade = upgrade.max_message_size(INCOMING_LIMIT).max_frame_size(INCOMING_LIMIT);
    // Taken before the upgrade, so that there is no moment in which the socket is open and not waited for.
    let waited_for = streams.map(|streams| streams.0.token());
    upgrade.on_upgrade(async move |socket| {
        run(socket, state, begin).await;
        drop(waited_for);
    })
}

async fn run(mut socket: WebSocket, state: AppState, begin: Begin) {
    let end = tokio::select! {
        end = follow(&mut socket, &state, begin) => end,
        () = state.shutdown.cancelled() => End::Shutdown,
    };
    let (code, reason) = match end {
        End::Gone => return,
        End::Shutdown => (close_code::AWAY, "the server is ending"),
        End::Failed(error) => {
            tracing::error!(%error, "a WebSocket could not read the log");
            (close_code::ERROR, "the log could not be read")
        }
    };
    let goodbye = async {
        socket.send(Message::Close(Some(CloseFrame { code, reason: reason.into() }))).await?;
        // The client's own goodbye; without waiting for it the connection may be reset before ours is read.
        while socket.recv().await.is_some_and(|message| message.is_ok()) {}
        Ok::<(), axum::Error>(())
    };
    // Whoever does not hear it in time is gone anyway.
    drop(timeout(GOODBYE, goodbye).await);
}

/// Sends until there is a reason to end.
async fn follow(socket: &mut WebSocket, state: &AppState, begin: Begin) -> End {
    // Subscribed before anything is looked at: what happens in between is then seen twice rather than never.
    let (mut activity, mut config) = (state.activity.subscribe(), state.config.clone());
    config.mark_unchanged();
    let mut log = Log { db: &state.db, news: state.db.subscribe(), last: 0, project: begin.project.clone() };
    let mut ping = interval_at(Instant::now() + PING_EVERY, PING_EVERY);
    ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut silent = 0;
    let greeted = log.greet(socket, &begin).await;
    if let Err(end) = greeted {
        return end;
    }
    loop {
        if let Err(end) = log.send_news(socket).await {
            return end;
        }
        let step = tokio::select! {
            // The writer is gone: the server ends.
            changed = log.news.changed() => changed.map_err(|_| End::Shutdown),
            line = activity_line(&mut activity) => send(socket, &line).await,
            Ok(()) = config.changed() => send(socket, &Frame::Server {}).await,
            heard = socket.recv() => {
                silent = 0;
                if matches!(heard, Some(Ok(_))) { Ok(()) } else { Err(End::Gone) }
            }
            _ = ping.tick() => {
                silent += 1;
                if silent > SILENT_PINGS { Err(End::Gone) } else { deliver(socket, Message::Ping(Default::default())).await }
            }
        };
        if let Err(end) = step {
            return end;
        }
    }
}

/// The log from one client's place on.
struct Log<'a> {
    db: &'a Db,
    news: watch::Receiver<Seq>,
    /// Everything up to here was sent, or is not for this client.
    last: Seq,
    project: Option<ProjectId>,
}

impl Log<'_> {
    async fn greet(&mut self, socket: &mut WebSocket, begin: &Begin) -> Result<(), End> {
        let seq = *self.news.borrow_and_update();
        send(socket, &Frame::Hello { epoch: self.db.epoch().to_owned(), seq }).await?;
        let same_life = begin.epoch.as_deref().is_none_or(|epoch| epoch == self.db.epoch());
        let wanted = begin.after.unwrap_or(seq);
        let has_all = self.db.has_events_after(wanted).await?;
        self.last = if same_life && has_all && wanted <= seq && seq - wanted <= MOST_BEHIND {
            wanted
        } else {
            send(socket, &Frame::Resync {}).await?;
            seq
        };
        Ok(())
    }

    /// Sends everything that was committed until now.
    async fn send_news(&mut self, socket: &mut WebSocket) -> Result<(), End> {
        loop {
            // Read before the log is: everything up to here is visible to the query below.
            let committed = *self.news.borrow_and_update();
            if committed <= self.last {
                return Ok(());
            }
            let page = self.db.events_after(self.last, self.project.as_ref(), PAGE).await?;
            let complete = page.len() < PAGE as usize;
            for envelope in page {
                self.last = envelope.seq;
                send(socket, &Frame::Event { event: Box::new(envelope) }).await?;
            }
            if complete {
                // The rest belongs to other projects.
                self.last = self.last.max(committed);
            }
        }
    }
}

/// The next line of a running agent. Lines that this client was too slow for are gone, which is right for lines that replace each other.
async fn activity_line(activity: &mut broadcast::Receiver<Frame>) -> Frame {
    loop {
        match activity.recv().await {
            Ok(frame) => return frame,
            Err(RecvError::Lagged(_)) => {}
            Err(RecvError::Closed) => std::future::pending().await,
        }
    }
}

async fn send(socket: &mut WebSocket, frame: &Frame) -> Result<(), End> {
    let text = serde_json::to_string(frame).map_err(db::Error::from)?;
    deliver(socket, Message::text(text)).await
}

async fn deliver(socket: &mut WebSocket, message: Message) -> Result<(), End> {
    match timeout(STUCK, socket.send(message)).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(_)) | Err(_) => Err(End::Gone),
    }
}
