//! The live event stream of one client: the events that it missed, then new ones, each once and in order.
//!
//! Every socket reads the log from its own position, so a slow client delays no other and buffers nothing in memory.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade, close_code};
use axum::response::Response;
use db::Db;
use domain::event::Seq;
use domain::id::ProjectId;
use domain::team::browser_session::SOCKET_PROTOCOL;
use domain::wire::{ActivityLines, Frame};
use serde::Deserialize;
use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior, interval_at, timeout};
use tokio_tungstenite::tungstenite::{self, error::CapacityError};
use utoipa::IntoParams;

use crate::guard::Credential;
use crate::serve::Streams;
use crate::state::AppState;

/// Events that are replayed. A client that is further behind reads the board again, which is less data.
const MAX_REPLAY: Seq = 5_000;
/// Events read from the log in one query.
const PAGE: u32 = 200;
/// The largest message from a client. Messages are ignored, so none needs to be large.
const INCOMING_LIMIT: usize = 4 * 1024;
const PING_INTERVAL: Duration = Duration::from_secs(20);
/// Pings without any response before the connection counts as lost.
const MAX_UNANSWERED_PINGS: u32 = 3;
/// The time for one message to be sent before the connection counts as lost.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);
/// The largest refused message that is read to its end, so that the client can read the close code.
const DRAIN_LIMIT: usize = 16 * 1024 * 1024;
/// The time to wait for the client to confirm the close.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(500);

/// The position that a client starts from.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct StreamRequest {
    /// The last event that the client has; only new events are sent if missing.
    after: Option<Seq>,
    /// The epoch of the log that `after` belongs to, from the board or an earlier `hello`.
    epoch: Option<String>,
    /// Only events of this project and of no project.
    project: Option<ProjectId>,
}

/// The reason why a stream ended.
enum End {
    /// The connection is lost, or the client reads nothing.
    ConnectionLost,
    /// The log could not be read.
    Failed(db::Error),
    /// The client sent a message of this many bytes, which is more than [`INCOMING_LIMIT`].
    TooLarge(usize),
    /// The client's token or session was revoked, or has expired.
    Revoked,
    /// The server is shutting down.
    Shutdown,
}

impl From<db::Error> for End {
    fn from(error: db::Error) -> Self {
        Self::Failed(error)
    }
}

/// Accepts the socket. It outlives the request, so the shutdown of the server waits for it.
pub(crate) fn accept(
    upgrade: WebSocketUpgrade,
    state: AppState,
    credential: Credential,
    streams: Option<Streams>,
    request: StreamRequest,
) -> Response {
    // A browser that offers subprotocols needs one of them in the answer. The other one is the session key.
    let upgrade = upgrade.protocols([SOCKET_PROTOCOL]).max_message_size(INCOMING_LIMIT).max_frame_size(INCOMING_LIMIT);
    // Taken before the upgrade, so that shutdown never misses an open socket.
    let tracked = streams.map(|streams| streams.0.token());
    upgrade.on_upgrade(async move |socket| {
        run(socket, state, credential, request).await;
        drop(tracked);
    })
}

async fn run(mut socket: WebSocket, state: AppState, credential: Credential, request: StreamRequest) {
    let end = tokio::select! {
        end = follow(&mut socket, &state, request) => end,
        () = revoked(&state.db, &credential) => End::Revoked,
        () = state.shutdown.cancelled() => End::Shutdown,
    };
    let (code, reason) = match &end {
        End::ConnectionLost => return,
        End::Shutdown => (close_code::AWAY, "the server is shutting down"),
        End::Revoked => (close_code::POLICY, "the token or session is no longer valid"),
        End::TooLarge(_) => (close_code::SIZE, "the message is too large"),
        End::Failed(error) => {
            tracing::error!(%error, "a WebSocket could not read the event log");
            (close_code::ERROR, "the event log could not be read")
        }
    };
    // Waiting buffers the rest of the message, so a huge one is cut off.
    let waits = !matches!(end, End::TooLarge(size) if size > DRAIN_LIMIT);
    let closing = async {
        socket.send(Message::Close(Some(CloseFrame { code, reason: reason.into() }))).await?;
        if !waits {
            return Ok(());
        }
        // Waits for the client's close frame, because closing at once could reset the connection before the client reads ours.
        while socket.recv().await.is_some_and(|message| message.is_ok()) {}
        Ok::<(), axum::Error>(())
    };
    // A client that does not confirm in time is disconnected.
    drop(timeout(CLOSE_TIMEOUT, closing).await);
}

/// Waits until the client's token or session is revoked, or has expired.
async fn revoked(db: &Db, credential: &Credential) {
    let mut revocations = db.token_revocations();
    // Asked after subscribing, so that no revocation is missed.
    while let Ok(holder) = credential.holder(db).await {
        if !db.may_have_ended(&mut revocations, holder.ends_at).await {
            return;
        }
    }
}

/// Sends events until the stream ends.
async fn follow(socket: &mut WebSocket, state: &AppState, request: StreamRequest) -> End {
    // Subscribes before reading anything, so that a change in between is seen twice rather than never.
    let (mut activity, mut config) = (ActivityStream::new(state.activity.subscribe()), state.config.clone());
    config.mark_unchanged();
    let mut log = LogStream { db: &state.db, news: state.db.subscribe(), last: 0, project: request.project.clone() };
    let mut ping = interval_at(Instant::now() + PING_INTERVAL, PING_INTERVAL);
    ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut unanswered = 0;
    if let Err(end) = log.send_hello(socket, &request).await {
        return end;
    }
    loop {
        if let Err(end) = log.send_news(socket).await {
            return end;
        }
        let step = tokio::select! {
            // The store closed, so the server is shutting down.
            changed = log.news.changed() => changed.map_err(|_| End::Shutdown),
            Ok(()) = activity.lines.changed() => activity.send_news(socket).await,
            Ok(()) = config.changed() => send(socket, &Frame::Server {}).await,
            received = socket.recv() => {
                unanswered = 0;
                match received {
                    Some(Ok(_)) => Ok(()),
                    Some(Err(error)) => Err(too_large(&error).map_or(End::ConnectionLost, End::TooLarge)),
                    None => Err(End::ConnectionLost),
                }
            }
            _ = ping.tick() => {
                unanswered += 1;
                if unanswered > MAX_UNANSWERED_PINGS { Err(End::ConnectionLost) } else { deliver(socket, Message::Ping(Default::default())).await }
            }
        };
        if let Err(end) = step {
            return end;
        }
    }
}

/// The log from one client's position on.
struct LogStream<'a> {
    db: &'a Db,
    news: watch::Receiver<Seq>,
    /// The last event that was sent, or that is not for this client.
    last: Seq,
    project: Option<ProjectId>,
}

impl LogStream<'_> {
    async fn send_hello(&mut self, socket: &mut WebSocket, request: &StreamRequest) -> Result<(), End> {
        let seq = *self.news.borrow_and_update();
        send(socket, &Frame::Hello { epoch: self.db.epoch().to_owned(), seq }).await?;
        let same_epoch = request.epoch.as_deref().is_none_or(|epoch| epoch == self.db.epoch());
        let after = request.after.unwrap_or(seq);
        let all_kept = self.db.has_events_after(after).await?;
        self.last = if same_epoch && all_kept && after <= seq && seq - after <= MAX_REPLAY {
            after
        } else {
            send(socket, &Frame::Resync {}).await?;
            seq
        };
        Ok(())
    }

    /// Sends every event committed so far.
    async fn send_news(&mut self, socket: &mut WebSocket) -> Result<(), End> {
        loop {
            // Read before the query, which therefore sees everything up to here.
            let committed = *self.news.borrow_and_update();
            if committed <= self.last {
                return Ok(());
            }
            let page = self.db.events_after(self.last, self.project.as_ref(), PAGE).await?;
            // A commit is readable shortly before it is announced. A client ahead of the announced number would have to load the board again.
            let is_ahead = page.last().is_some_and(|envelope| envelope.seq > committed);
            let complete = is_ahead || page.len() < PAGE as usize;
            for envelope in page.into_iter().take_while(|envelope| envelope.seq <= committed) {
                self.last = envelope.seq;
                send(socket, &Frame::Event { event: Box::new(envelope) }).await?;
            }
            if complete {
                // The remaining events belong to other projects.
                self.last = self.last.max(committed);
            }
        }
    }
}

/// The last output lines of the agents at work, as one client knows them. A slow client misses lines, which is fine because each replaces the
/// one before. A new client gets the last line of each.
struct ActivityStream {
    lines: watch::Receiver<ActivityLines>,
    sent: ActivityLines,
}

impl ActivityStream {
    fn new(mut lines: watch::Receiver<ActivityLines>) -> Self {
        lines.mark_changed();
        Self { lines, sent: ActivityLines::new() }
    }

    /// Sends the lines that changed.
    async fn send_news(&mut self, socket: &mut WebSocket) -> Result<(), End> {
        let current = self.lines.borrow_and_update().clone();
        for (run_id, line) in &current {
            if self.sent.get(run_id).is_none_or(|sent| !Arc::ptr_eq(sent, line)) {
                send(socket, &Frame::Activity { run_id: run_id.clone(), line: line.to_string() }).await?;
            }
        }
        self.sent = current;
        Ok(())
    }
}

/// The size of the message, if `error` says that it was too large.
fn too_large(error: &axum::Error) -> Option<usize> {
    match std::error::Error::source(error)?.downcast_ref()? {
        tungstenite::Error::Capacity(CapacityError::MessageTooLong { size, .. }) => Some(*size),
        _ => None,
    }
}

async fn send(socket: &mut WebSocket, frame: &Frame) -> Result<(), End> {
    let text = serde_json::to_string(frame).map_err(db::Error::from)?;
    deliver(socket, Message::text(text)).await
}

async fn deliver(socket: &mut WebSocket, message: Message) -> Result<(), End> {
    match timeout(WRITE_TIMEOUT, socket.send(message)).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(_)) | Err(_) => Err(End::ConnectionLost),
    }
}
