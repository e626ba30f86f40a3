//! Sessions of the legacy era: who began each, as whom it acts since it registered, and whether a stream of it is open.
//!
//! A session is no proof of anything: the bearer that began it is needed with every request. Nothing here survives the process.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use db::{Caller, Connected, Db};
use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::push::{Listener, Push};

#[derive(Debug, Default)]
pub(crate) struct Sessions(Mutex<HashMap<String, Arc<Session>>>);

#[derive(Debug)]
pub(crate) struct Session {
    began: Caller,
    /// The token that it was given when it registered with a room's. It ends to count when another one takes its name up.
    own_token: Mutex<Option<String>>,
    pub(crate) listener: Arc<Listener>,
    /// Whether its client wants no log messages, be they ever so urgent.
    pub(crate) silent: AtomicBool,
    told: AtomicBool,
    streams: watch::Sender<usize>,
    connected: Mutex<Option<Connected>>,
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

    /// Remembers who began a session.
    pub(crate) fn begin(&self, id: &str, began: Caller, push: &Push, shutdown: &CancellationToken) {
        let ended = shutdown.child_token();
        let session = Session {
            own_token: Mutex::default(),
            listener: push.listener(&began),
            silent: AtomicBool::new(false),
            told: AtomicBool::new(false),
            streams: watch::Sender::new(0),
            connected: Mutex::default(),
            _end: ended.clone().drop_guard(),
            ended,
            began,
        };
        self.all().insert(id.to_owned(), Arc::new(session));
    }

    pub(crate) fn end(&self, id: &str) {
        if let Some(session) = self.all().remove(id) {
            session.ended.cancel();
        }
    }

    pub(crate) fn ids(&self) -> Vec<String> {
        self.all().keys().cloned().collect()
    }

    fn all(&self) -> MutexGuard<'_, HashMap<String, Arc<Session>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Session {
    /// Whether the bearer began it: nobody else may use it.
    pub(crate) fn is_of(&self, bearer: &Caller) -> bool {
        self.began == *bearer
    }

    /// As whom it acts: as the agent that it registered as, for as long as that one's name is its own, else as who began it.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) async fn caller(&self, db: &Db) -> db::Result<Caller> {
        let token = self.own_token.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let own = match token {
            Some(token) => db.caller(&token).await?,
            None => None,
        };
        Ok(own.unwrap_or_else(|| self.began.clone()))
    }

    /// From now on it acts as the bearer of the token that it was just given.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) async fn registered(&self, db: &Db, token: &str) -> db::Result<()> {
        *self.own_token.lock().unwrap_or_else(PoisonError::into_inner) = Some(token.to_owned());
        let caller = self.caller(db).await?;
        self.listener.is_now(&caller);
        self.listener.tell(|news| news.tools = true);
        let mut connected = self.connected();
        if *self.streams.borrow() > 0 {
            *connected = db.connect(&caller);
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

    fn connected(&self) -> MutexGuard<'_, Option<Connected>> {
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
