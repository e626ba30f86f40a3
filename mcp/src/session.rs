//! MCP sessions of the revisions before 2026-07-28: who opened each, as whom it acts since it registered, and when it was last used.
//!
//! A session id proves nothing: every request also needs the token that opened the session. Nothing here survives the process.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use db::{Caller, ConnectionGuard, Db};
use domain::time::Timestamp;
use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::bearer::Bearer;
use crate::push::{Listener, Push};

/// How many sessions one token may hold at once. The guests of an invite token share theirs.
pub(crate) const MAX_SESSIONS: usize = 64;
/// A session without an open stream is idle after this long without a request. An agent can think for minutes between two calls.
pub(crate) const IDLE_AFTER: Duration = Duration::from_secs(10 * 60);

#[derive(Debug, Default)]
pub(crate) struct Sessions(Mutex<HashMap<String, Arc<Session>>>);

#[derive(Debug)]
pub(crate) struct Session {
    /// The token that each of its requests needs.
    opened_by: Bearer,
    /// The agent that it registered as with an invite token, until another one claims that name.
    registered_as: Mutex<Option<Bearer>>,
    /// The protocol revision that its client asked for.
    pub(crate) revision: String,
    last_used: Mutex<Instant>,
    pub(crate) listener: Arc<Listener>,
    /// Whether its client wants no log messages, not even alerts.
    pub(crate) logs_disabled: AtomicBool,
    has_forwarder: AtomicBool,
    streams: watch::Sender<usize>,
    connected: Mutex<Option<ConnectionGuard>>,
    pub(crate) ended: CancellationToken,
    _end: DropGuard,
}

/// Every session of the token is in use, so no other can be opened.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct AllInUse;

/// An open stream of a session.
#[derive(Debug)]
pub(crate) struct OpenStream(Arc<Session>);

impl Sessions {
    /// The session with this id, if one is known.
    pub(crate) fn get(&self, id: &str) -> Option<Arc<Session>> {
        self.all().get(id).cloned()
    }

    /// Ends the session of the token that is idle for longest, if the token holds too many for another one. Returns its id.
    ///
    /// # Errors
    /// When the token holds too many, and none is idle.
    pub(crate) fn evict_idle(&self, bearer: &Bearer, now: Instant) -> Result<Option<String>, AllInUse> {
        let all = self.all();
        let same: Vec<(&String, &Arc<Session>)> = all.iter().filter(|(_, session)| session.is_opened_by(bearer)).collect();
        if same.len() < MAX_SESSIONS {
            return Ok(None);
        }
        let idle = same.into_iter().filter(|(_, session)| session.is_idle(now));
        let Some(id) = idle.min_by_key(|(_, session)| *session.last_used()).map(|(id, _)| id.clone()) else { return Err(AllInUse) };
        drop(all);
        self.end(&id);
        Ok(Some(id))
    }

    /// Records who opened a session.
    pub(crate) fn open(&self, id: &str, opened_by: Bearer, revision: String, push: &Push, shutdown: &CancellationToken) {
        let ended = shutdown.child_token();
        let session = Session {
            registered_as: Mutex::default(),
            revision,
            last_used: Mutex::new(Instant::now()),
            listener: push.listener(&opened_by.caller),
            logs_disabled: AtomicBool::new(false),
            has_forwarder: AtomicBool::new(false),
            streams: watch::Sender::new(0),
            connected: Mutex::default(),
            _end: ended.clone().drop_guard(),
            ended,
            opened_by,
        };
        self.all().insert(id.to_owned(), Arc::new(session));
    }

    /// Ends a session. False when none has this id.
    pub(crate) fn end(&self, id: &str) -> bool {
        let session = self.all().remove(id);
        session.inspect(|session| session.ended.cancel()).is_some()
    }

    /// Every session's id, and whether the session has ended.
    pub(crate) fn ids(&self) -> Vec<(String, bool)> {
        self.all().iter().map(|(id, session)| (id.clone(), session.ended.is_cancelled())).collect()
    }

    fn all(&self) -> MutexGuard<'_, HashMap<String, Arc<Session>>> {
        lock(&self.0)
    }
}

impl Session {
    /// Whether the bearer opened it with the same token. Nobody else may use it.
    pub(crate) fn is_opened_by(&self, bearer: &Bearer) -> bool {
        self.opened_by == *bearer
    }

    /// Records that a request of it arrived or was answered.
    pub(crate) fn touch(&self) {
        *self.last_used() = Instant::now();
    }

    fn is_idle(&self, now: Instant) -> bool {
        *self.streams.borrow() == 0 && now.saturating_duration_since(*self.last_used()) >= IDLE_AFTER
    }

    /// Returns as whom the session acts: as the agent it registered as while it owns that name, otherwise as its opener. None when the
    /// opener's token is not valid any longer, which ends the session.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) async fn acting(&self, db: &Db) -> db::Result<Option<Bearer>> {
        Ok(self.acting_until(db).await?.map(|(acting, _)| acting))
    }

    /// The same, with the time at which the first of its tokens ends.
    async fn acting_until(&self, db: &Db) -> db::Result<Option<(Bearer, Option<Timestamp>)>> {
        let Some(opener) = self.opened_by.current(db).await? else {
            self.ended.cancel();
            return Ok(None);
        };
        let registered_as = self.registered_as().clone();
        if let Some(agent) = registered_as {
            if let Some((current, holder)) = agent.renamed(db).await? {
                if current != agent {
                    *self.registered_as() = Some(current.clone());
                    self.set_caller(db, &current.caller);
                }
                let agent = current;
                return Ok(Some((agent, opener.ends_at.into_iter().chain(holder.ends_at).min())));
            }
            self.revert_to_opener(db, &agent);
        }
        Ok(Some((self.opened_by.clone(), opener.ends_at)))
    }

    /// Makes the session act as the agent of the token that registering or refreshing returned.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) async fn registered(&self, db: &Db, token: &str) -> db::Result<()> {
        let Some(agent) = Bearer::of(db, token).await? else { return Ok(()) };
        *self.registered_as() = Some(agent.clone());
        self.set_caller(db, &agent.caller);
        Ok(())
    }

    fn revert_to_opener(&self, db: &Db, lost: &Bearer) {
        let mut registered_as = self.registered_as();
        if registered_as.as_ref() == Some(lost) {
            *registered_as = None;
            self.set_caller(db, &self.opened_by.caller);
        }
    }

    fn set_caller(&self, db: &Db, caller: &Caller) {
        self.listener.set_caller(caller);
        self.listener.notify(|changes| changes.tools = true);
        let mut connected = self.connected();
        if *self.streams.borrow() > 0 {
            *connected = db.connect(caller);
        }
    }

    /// Waits until its token is revoked or expires, or it ends otherwise.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) async fn wait_until_ended(&self, db: &Db) -> db::Result<()> {
        let mut revocations = db.token_revocations();
        while let Some((_, ends_at)) = self.acting_until(db).await? {
            tokio::select! {
                is_open = db.may_have_ended(&mut revocations, ends_at) => if !is_open { return Ok(()) },
                () = self.ended.cancelled() => return Ok(()),
            }
        }
        Ok(())
    }

    /// Marks that a task forwards changes to its client. Returns whether one did before.
    pub(crate) fn set_forwarder(&self) -> bool {
        self.has_forwarder.swap(true, Ordering::Relaxed)
    }

    /// Counts a stream as open, and the caller as connected, until the returned guard is dropped.
    pub(crate) fn open_stream(self: &Arc<Self>, db: &Db, caller: &Caller) -> OpenStream {
        let mut connected = self.connected();
        self.streams.send_modify(|open| *open += 1);
        *connected = db.connect(caller);
        OpenStream(Arc::clone(self))
    }

    /// Waits until a stream is open.
    pub(crate) async fn until_open(&self) {
        // The sender lives as long as the session does.
        drop(self.streams.subscribe().wait_for(|open| *open > 0).await);
    }

    pub(crate) fn wants_logs(&self) -> bool {
        !self.logs_disabled.load(Ordering::Relaxed)
    }

    fn last_used(&self) -> MutexGuard<'_, Instant> {
        lock(&self.last_used)
    }

    fn registered_as(&self) -> MutexGuard<'_, Option<Bearer>> {
        lock(&self.registered_as)
    }

    fn connected(&self) -> MutexGuard<'_, Option<ConnectionGuard>> {
        lock(&self.connected)
    }
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        self.0.touch();
        // The lock covers the count, because another stream may be opening at the same time.
        let mut connected = self.0.connected();
        self.0.streams.send_modify(|open| *open = open.saturating_sub(1));
        if *self.0.streams.borrow() == 0 {
            *connected = None;
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
