//! Hands a session's notifications to the newest of its open event streams, and gives each event an id of its own.
//!
//! The SDK's session manager keeps sending to the stream that was opened first, also when it is closed and a later one is open.
//! This one reads the SDK's stream once per session and passes its messages on. It must not know callers or tokens.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use futures_util::{Stream, StreamExt, stream};
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, LocalSessionManagerError};
use rmcp::transport::streamable_http_server::session::{ServerSseMessage, SessionId, SessionManager};
use tokio::sync::{OnceCell, mpsc};
use tokio::time::timeout;

/// How many events of a session can be read again by a client that names the last one it has seen.
const MAX_RECENT: usize = 64;
/// How many events wait for a stream that its client does not read.
const STREAM_CAPACITY: usize = 16;
/// A stream that took no event for this long is closed, because it blocks the whole session.
const STALL_TIMEOUT: Duration = Duration::from_secs(5);

/// The SDK's session manager with event streams of our own.
#[derive(Debug)]
pub(crate) struct SessionStreams {
    inner: LocalSessionManager,
    events: Arc<Mutex<HashMap<SessionId, Arc<SessionEvents>>>>,
}

impl SessionStreams {
    /// Sessions end by themselves after `lifetime` without a request. An open stream does not count.
    pub(crate) fn new(lifetime: Duration) -> Self {
        let mut inner = LocalSessionManager::default();
        inner.session_config.keep_alive = Some(lifetime);
        Self { inner, events: Arc::default() }
    }

    /// Opens a stream of the session that begins after the event `after`, or with what no stream got so far.
    async fn open(
        &self,
        id: &SessionId,
        after: Option<u64>,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + use<>, LocalSessionManagerError> {
        let events = Arc::clone(lock(&self.events).entry(id.clone()).or_default());
        let started = events.started.get_or_try_init(|| async {
            let source = self.inner.create_standalone_stream(id).await?;
            tokio::spawn(forward(source.boxed(), Arc::downgrade(&events)));
            Ok(())
        });
        if let Err(error) = started.await {
            lock(&self.events).remove(id);
            return Err(error);
        }
        let mut receiver = events.open(after);
        Ok(stream::poll_fn(move |context| receiver.poll_recv(context)))
    }
}

/// Passes the session's messages on until the session ends.
async fn forward(mut source: impl Stream<Item = ServerSseMessage> + Send + Unpin, events: Weak<SessionEvents>) {
    while let Some(message) = source.next().await {
        let Some(events) = events.upgrade() else { return };
        if message.message.is_some() {
            events.deliver(message).await;
        }
    }
    if let Some(events) = events.upgrade() {
        lock(&events.state).streams.clear();
    }
}

/// The notifications of one session and its open streams.
#[derive(Debug, Default)]
struct SessionEvents {
    started: OnceCell<()>,
    state: Mutex<EventsState>,
}

#[derive(Debug, Default)]
struct EventsState {
    /// The newest last.
    streams: Vec<mpsc::Sender<ServerSseMessage>>,
    next_id: u64,
    recent: VecDeque<(u64, ServerSseMessage)>,
    /// The first event that no stream took.
    undelivered: Option<u64>,
}

impl SessionEvents {
    fn open(&self, after: Option<u64>) -> mpsc::Receiver<ServerSseMessage> {
        let mut state = lock(&self.state);
        let (sender, receiver) = mpsc::channel(MAX_RECENT + STREAM_CAPACITY);
        let first = after.map(|after| after.saturating_add(1)).or(state.undelivered);
        for (_, event) in state.recent.iter().filter(|(id, _)| first.is_some_and(|first| *id >= first)) {
            // The channel has room for all of them.
            drop(sender.try_send(event.clone()));
        }
        state.undelivered = None;
        state.streams.retain(|stream| !stream.is_closed());
        state.streams.push(sender);
        receiver
    }

    /// Gives an event to the newest stream that takes it; without one it is kept for the next stream.
    async fn deliver(&self, mut event: ServerSseMessage) {
        let id = {
            let mut state = lock(&self.state);
            let id = state.next_id;
            state.next_id += 1;
            event.event_id = Some(id.to_string());
            state.recent.push_back((id, event.clone()));
            while state.recent.len() > MAX_RECENT {
                state.recent.pop_front();
            }
            id
        };
        loop {
            let Some(stream) = self.newest_or_keep(id) else { return };
            if let Ok(Ok(())) = timeout(STALL_TIMEOUT, stream.send(event.clone())).await {
                return;
            }
            lock(&self.state).streams.retain(|other| !other.same_channel(&stream));
        }
    }

    fn newest_or_keep(&self, id: u64) -> Option<mpsc::Sender<ServerSseMessage>> {
        let mut state = lock(&self.state);
        state.streams.retain(|stream| !stream.is_closed());
        let newest = state.streams.last().cloned();
        if newest.is_none() {
            state.undelivered.get_or_insert(id);
        }
        newest
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl SessionManager for SessionStreams {
    type Error = LocalSessionManagerError;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        self.inner.create_session().await
    }

    async fn initialize_session(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<ServerJsonRpcMessage, Self::Error> {
        self.inner.initialize_session(id, message).await
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        self.inner.has_session(id).await
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        lock(&self.events).remove(id);
        self.inner.close_session(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.inner.create_stream(id, message).await
    }

    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<(), Self::Error> {
        self.inner.accept_message(id, message).await
    }

    async fn create_standalone_stream(&self, id: &SessionId) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.open(id, None).await
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        // The ids of the SDK's own streams, which answer one request each, have two parts.
        match last_event_id.parse::<u64>() {
            Ok(after) => Ok(self.open(id, Some(after)).await?.left_stream()),
            Err(_) => Ok(self.inner.resume(id, last_event_id).await?.right_stream()),
        }
    }
}

#[cfg(test)]
mod tests;
