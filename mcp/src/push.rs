//! Push: who is to be told at once that something changed. One task reads the log for everybody who listens.
//!
//! Knows nothing of streams and eras: whoever holds a [`Listener`] passes its news on. News say what changed, never how it is now, and
//! what was not passed on yet is kept once, so a slow listener costs nobody else anything.

pub(crate) mod stream;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use db::{Caller, Db};
use domain::event::{Envelope, Event, Seq};
use domain::id::ProjectId;
use domain::team::agent::EVERYONE;
use tokio::sync::Notify;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::resource::Uri;

/// How many events are read from the log at once.
const PAGE: u32 = 500;
/// How long after a look into the log the next one waits: what is committed meanwhile is read at once. Short beside the 10 ms within which
/// an agent is to be told, long beside a commit.
const REST: Duration = Duration::from_millis(2);

/// Everybody who listens.
#[derive(Debug, Default)]
pub(crate) struct Push {
    listeners: Mutex<Vec<Weak<Listener>>>,
}

impl Push {
    /// Somebody who listens for as long as the answer is kept.
    pub(crate) fn listener(&self, caller: &Caller) -> Arc<Listener> {
        let listener = Arc::new(Listener::default());
        listener.is_now(caller);
        let mut listeners = self.listeners();
        listeners.retain(|listener| listener.strong_count() > 0);
        listeners.push(Arc::downgrade(&listener));
        listener
    }

    /// Tells everybody what is new, from now until `end`.
    pub(crate) fn start(self: &Arc<Self>, db: Db, end: CancellationToken) {
        let push = Arc::clone(self);
        let mut wake = db.subscribe();
        let mut seq = db.latest();
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    () = end.cancelled() => return,
                    woken = wake.changed() => if woken.is_err() { return },
                }
                if let Err(error) = push.catch_up(&db, &mut seq).await {
                    // The next commit wakes it again.
                    tracing::warn!(%error, "listeners could not be told what is new");
                }
                sleep(REST).await;
            }
        });
    }

    async fn catch_up(&self, db: &Db, seq: &mut Seq) -> db::Result<()> {
        loop {
            if self.listeners().iter().all(|listener| listener.strong_count() == 0) {
                *seq = db.latest();
                return Ok(());
            }
            let events = db.events_after(*seq, None, PAGE).await?;
            let Some(last) = events.last() else { return Ok(()) };
            *seq = last.seq;
            let listeners: Vec<Arc<Listener>> = self.listeners().iter().filter_map(Weak::upgrade).collect();
            for listener in listeners {
                listener.hear(&events);
            }
        }
    }

    fn listeners(&self) -> MutexGuard<'_, Vec<Weak<Listener>>> {
        self.listeners.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What changed for a listener since it was last asked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct News {
    /// Its inbox, and with it the description of a tool.
    pub(crate) inbox: bool,
    /// Its tools, because it is somebody else now.
    pub(crate) tools: bool,
    /// Which of the resources that it watches.
    pub(crate) resources: BTreeSet<Uri>,
}

/// Who is told, and of what.
#[derive(Debug, Default)]
pub(crate) struct Listener {
    state: Mutex<State>,
    wake: Notify,
}

#[derive(Debug, Default)]
struct State {
    /// In whose name it listens: nobody's until it registered.
    who: Option<(ProjectId, String)>,
    watched: BTreeSet<Uri>,
    news: News,
}

impl Listener {
    /// From now on it listens in this caller's name. The person reads messages on the board's own page.
    pub(crate) fn is_now(&self, caller: &Caller) {
        self.state().who = match caller {
            Caller::Run(_) | Caller::Agent(_) => caller.project().cloned().zip(caller.name()),
            Caller::Human | Caller::Runner | Caller::Invite(_) => None,
        };
    }

    pub(crate) fn watch(&self, uri: Uri) {
        self.state().watched.insert(uri);
    }

    pub(crate) fn forget(&self, uri: &Uri) {
        self.state().watched.remove(uri);
    }

    /// Adds to what it is told next.
    pub(crate) fn tell(&self, change: impl FnOnce(&mut News)) {
        change(&mut self.state().news);
        self.wake.notify_one();
    }

    /// Waits for news and takes them. One at a time may wait.
    pub(crate) async fn news(&self) -> News {
        loop {
            let news = std::mem::take(&mut self.state().news);
            if news != News::default() {
                return news;
            }
            self.wake.notified().await;
        }
    }

    fn hear(&self, events: &[Envelope]) {
        let mut state = self.state();
        let State { who, watched, news } = &mut *state;
        for event in events {
            if who.as_ref().is_some_and(|(project, name)| changes_inbox(event, project, name)) {
                news.inbox = true;
                news.resources.extend(watched.get(&Uri::Inbox).cloned());
            }
            news.resources.extend(Uri::changed_by(event).filter(|uri| watched.contains(uri)));
        }
        if *news != News::default() {
            self.wake.notify_one();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether somebody has more or less to read than before the event. A sender is not told of its own broadcast.
fn changes_inbox(event: &Envelope, project: &ProjectId, name: &str) -> bool {
    event.project_id.as_ref() == Some(project)
        && match &event.event {
            Event::MessageSent { from, to, .. } => to == name || (to == EVERYONE && from != name),
            Event::InboxDelivered { agent, .. } => agent == name,
            _ => false,
        }
}

#[cfg(test)]
mod tests;
