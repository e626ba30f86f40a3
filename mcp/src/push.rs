//! Decides which listeners are notified of a change. One task reads the event log for all of them.
//!
//! It must not know streams or protocol revisions: the owner of a [`Listener`] forwards its changes. Changes say what changed, not the new
//! value, and each is kept once until it is forwarded, so a slow listener delays nobody.

pub(crate) mod stream;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use db::{Caller, Db};
use domain::event::{Envelope, Event, Seq};
use domain::id::ProjectId;
use domain::team::agent::EVERYONE;
use domain::team::message::MessageEvent;
use tokio::sync::Notify;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::resource::Uri;

/// How many events are read from the log at once.
const PAGE: u32 = 500;
/// The pause between two reads of the log, so that one read covers several commits. Agents must be notified within 10 ms.
const BATCH_DELAY: Duration = Duration::from_millis(2);

/// All listeners.
#[derive(Debug, Default)]
pub(crate) struct Push {
    listeners: Mutex<Vec<Weak<Listener>>>,
}

impl Push {
    /// Adds a listener, which is removed when the returned value is dropped.
    pub(crate) fn listener(&self, caller: &Caller) -> Arc<Listener> {
        let listener = Arc::new(Listener::default());
        listener.set_caller(caller);
        let mut listeners = self.listeners();
        listeners.retain(|listener| listener.strong_count() > 0);
        listeners.push(Arc::downgrade(&listener));
        listener
    }

    /// Starts the task that notifies listeners until `end`.
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
                    // The next commit triggers another attempt.
                    tracing::warn!(%error, "listeners could not be notified of changes");
                }
                sleep(BATCH_DELAY).await;
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
                listener.apply_events(&events);
            }
        }
    }

    fn listeners(&self) -> MutexGuard<'_, Vec<Weak<Listener>>> {
        self.listeners.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The changes that a listener has not forwarded yet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct PendingChanges {
    /// Its inbox changed, and with it the description of `check_inbox`.
    pub(crate) inbox: bool,
    /// Its tools changed, because it acts as another caller now.
    pub(crate) tools: bool,
    /// The changed resources among those it is subscribed to.
    pub(crate) resources: BTreeSet<Uri>,
}

/// A client that is notified of changes.
#[derive(Debug, Default)]
pub(crate) struct Listener {
    state: Mutex<State>,
    wake: Notify,
}

#[derive(Debug, Default)]
struct State {
    /// The participant whose inbox it follows; none before it registers.
    participant: Option<(ProjectId, String)>,
    resources: BTreeSet<Uri>,
    changes: PendingChanges,
}

impl Listener {
    /// Follows the inbox of this caller from now on. The human reads messages on the board's page.
    pub(crate) fn set_caller(&self, caller: &Caller) {
        self.state().participant = match caller {
            Caller::Run(_) | Caller::Agent(_) => caller.project().cloned().zip(caller.name()),
            Caller::Person(_) | Caller::Runner | Caller::Invite(_) => None,
        };
    }

    pub(crate) fn add_resource(&self, uri: Uri) {
        self.state().resources.insert(uri);
    }

    pub(crate) fn remove_resource(&self, uri: &Uri) {
        self.state().resources.remove(uri);
    }

    /// Adds a change and wakes the task that forwards it.
    pub(crate) fn notify(&self, change: impl FnOnce(&mut PendingChanges)) {
        change(&mut self.state().changes);
        self.wake.notify_one();
    }

    /// Waits for changes and takes them. Only one task may wait at a time.
    pub(crate) async fn changes(&self) -> PendingChanges {
        loop {
            let changes = std::mem::take(&mut self.state().changes);
            if changes != PendingChanges::default() {
                return changes;
            }
            self.wake.notified().await;
        }
    }

    fn apply_events(&self, events: &[Envelope]) {
        let mut state = self.state();
        let State { participant, resources, changes } = &mut *state;
        for event in events {
            if participant.as_ref().is_some_and(|(project, name)| changes_inbox(event, project, name)) {
                changes.inbox = true;
                changes.resources.extend(resources.get(&Uri::Inbox).cloned());
            }
            changes.resources.extend(Uri::changed_by(event).filter(|uri| resources.contains(uri)));
        }
        if *changes != PendingChanges::default() {
            self.wake.notify_one();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether the event changes what a participant has to read. A sender is not notified of its own broadcast.
fn changes_inbox(event: &Envelope, project: &ProjectId, name: &str) -> bool {
    event.project_id.as_ref() == Some(project)
        && match &event.event {
            Event::Message(MessageEvent::Sent { from, to, .. }) => to == name || (to == EVERYONE && from != name),
            Event::Message(MessageEvent::InboxDelivered { agent, .. }) => agent == name,
            _ => false,
        }
}

#[cfg(test)]
mod tests;
