//! Sessions of the legacy era: who began each, as whom it acts since it registered, and whether a stream of it is open.
//!
//! A session is no proof of anything: the bearer that began it is needed with every request. Nothing here survives the process.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use db::{Caller, ConnectionGuard, Db};
use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::bearer::Bearer;
use crate::push::{Listener, Push};

/// How many sessions one token may hold at once: a room's many guests share theirs. The oldest ends for the next.
pub(crate) const MOST: usize = 64;

#[derive(Debug, Default)]
pub(crate) struct Sessions(Mutex<HashMap<String, Arc<Session>>>);

#[derive(Debug)]
pub(crate) struct Session {
    /// The token that began it, and needed with each of its requests.
    began: Bearer,
    /// As whom it registered with a room's token, until another one takes that name up.
    own: Mutex<Option<Bearer>>,
    /// When it began.
    since: Instant,
    pub(crate) listener: Arc<Listener>,
    /// Whether its client wants no log messages, be they ever so urgent.
    pub(crate) silent: AtomicBool,
    told: AtomicBool,
    streams: watch::Sender<usize>,
    connected: Mutex<Option<ConnectionGuard>>,
    pub(crate) ended: CancellationToken,
    _end: DropGuard,
}

/// An open stream of a session.
#[derive(Debug)]
pub(crate) struct Stream(Arc<Session>);

impl Sessions {
    /// The session with this id, if one is known.
    pub(crate) fn get(&self, id: &str) -> Option<Arc<Session>> {
        self.all().get(id).cloned()
    }

    /// Remembers who began a session. Answers those that ended for it: the oldest of too many of the same token.
    pub(crate) fn begin(&self, id: &str, began: Bearer, push: &Push, shutdown: &CancellationToken) -> Vec<String> {
        let ended = shutdown.child_token();
        let session = Session {
            own: Mutex::default(),
            since: Instant::now(),
            listener: push.listener(&began.caller),
            silent: AtomicBool::new(false),
            told: AtomicBool::new(false),
            streams: watch::Sender::new(0),
            connected: Mutex::default(),
            _end: ended.clone().drop_guard(),
            ended,
            began: began.clone(),
        };
        let mut all = self.all();
        let mut same: Vec<(Instant, String)> =
            all.iter().filter(|(_, session)| session.is_of(&began)).map(|(id, session)| (session.since, id.clone())).collect();
        same.sort_unstable();
        all.insert(id.to_owned(), Arc::new(session));
        drop(all);
        let over = (same.len() + 1).saturating_sub(MOST);
        same.into_iter().take(over).map(|(_, id)| id).inspect(|id| self.end(id)).collect()
    }

    pub(crate) fn end(&self, id: &str) {
        if let Some(session) = self.all().remove(id) {
            session.ended.cancel();
        }
    }

    /// Every session's id, and whether the session has ended.
    pub(crate) fn ids(&self) -> Vec<(String, bool)> {
        self.all().iter().map(|(id, session)| (id.clone(), session.ended.is_cancelled())).collect()
    }

    fn all(&self) -> MutexGuard<'_, HashMap<String, Arc<Session>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Session {
    /// Whether the bearer began it, with the same token: nobody else may use it.
    pub(crate) fn is_of(&self, bearer: &Bearer) -> bool {
        self.began == *bearer
    }

    /// As whom it acts: as the agent that it registered as, for as long as that one's name is its own, else as who began it. A session
    /// whose token is worth nothing any more acts as nobody, and ends.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) async fn caller(&self, db: &Db) -> db::Result<Option<Caller>> {
        if !self.began.is_current(db).await? {
            self.ended.cancel();
            return Ok(None);
        }
        let own = self.own().clone();
        match own {
            Some(own) if own.is_current(db).await? => return Ok(Some(own.caller)),
            Some(lost) => self.lose(db, &lost),
            None => {}
        }
        Ok(Some(self.began.caller.clone()))
    }

    /// From now on it acts as the bearer of the token that it was just given.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) async fn registered(&self, db: &Db, token: &str) -> db::Result<()> {
        let Some(own) = Bearer::of(db, token).await? else { return Ok(()) };
        *self.own() = Some(own.clone());
        self.is_now(db, &own.caller);
        Ok(())
    }

    /// Its name is another's now: it is again who began it.
    fn lose(&self, db: &Db, lost: &Bearer) {
        let mut own = self.own();
        if own.as_ref() == Some(lost) {
            *own = None;
            self.is_now(db, &self.began.caller);
        }
    }

    /// Listens, and counts as connected, in this caller's name.
    fn is_now(&self, db: &Db, caller: &Caller) {
        self.listener.is_now(caller);
        self.listener.tell(|news| news.tools = true);
        let mut connected = self.connected();
        if *self.streams.borrow() > 0 {
            *connected = db.connect(caller);
        }
    }

    /// Waits until its token is taken back, or it ends otherwise.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) async fn over(&self, db: &Db) -> db::Result<()> {
        let mut taken_back = db.token_revocations();
        while self.caller(db).await?.is_some() {
            tokio::select! {
                woken = taken_back.changed() => if woken.is_err() { return Ok(()) },
                () = self.ended.cancelled() => return Ok(()),
            }
        }
        Ok(())
    }

    /// Whether it has somebody already who passes news on to it. From now on it has.
    pub(crate) fn is_told(&self) -> bool {
        self.told.swap(true, Ordering::Relaxed)
    }

    /// Counts a stream as open, and the caller as connected, for as long as the answer is kept.
    pub(crate) fn open(self: &Arc<Self>, db: &Db, caller: &Caller) -> Stream {
        let mut connected = self.connected();
        self.streams.send_modify(|open| *open += 1);
        *connected = db.connect(caller);
        Stream(Arc::clone(self))
    }

    /// Waits until somebody would hear.
    pub(crate) async fn is_open(&self) {
        // The sender lives as long as the session does.
        drop(self.streams.subscribe().wait_for(|open| *open > 0).await);
    }

    pub(crate) fn wants_logs(&self) -> bool {
        !self.silent.load(Ordering::Relaxed)
    }

    fn own(&self) -> MutexGuard<'_, Option<Bearer>> {
        self.own.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn connected(&self) -> MutexGuard<'_, Option<ConnectionGuard>> {
        self.connected.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // Locked around the count: another stream may be opened this moment.
        let mut connected = self.0.connected();
        self.0.streams.send_modify(|open| *open = open.saturating_sub(1));
        if *self.0.streams.borrow() == 0 {
            *connected = None;
        }
    }
}
