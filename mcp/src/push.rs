//! Decides which listeners are notified of a change. One task reads the event log for all of them.
//!
//! It must not know streams or protocol revisions: the owner of a [`Listener`] forwards its changes. Changes say what changed, not the new
//! value, and each is kept once until it is forwarded, so a slow listener delays nobody.

pub(crate) mod stream;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use db::{Caller, Db};
use domain::context::reader::Reader;
use domain::context::session::visibility;
use domain::context::session::{ContextSessionId, SessionEvent};
use domain::event::{Envelope, Event, Seq};
use domain::id::ProjectId;
use domain::team::agent::EVERYONE;
use domain::team::message::MessageEvent;
use domain::warroom::claim::ClaimEvent;
use rmcp::ErrorData;
use tokio::sync::Notify;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::resource::Uri;

/// How many events are read from the log at once.
const PAGE: u32 = 500;
/// The most resources that one client can follow. Each is read once to check whether the caller may.
const MAX_RESOURCES: usize = 64;
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
            let watched: BTreeSet<ContextSessionId> = listeners.iter().flat_map(|listener| listener.sessions()).collect();
            let added = events.iter().filter_map(|event| match &event.event {
                Event::Session(SessionEvent::MessageAdded { session, message, .. }) if watched.contains(session) => Some(*message),
                _ => None,
            });
            // The audience of a message can change until its event is read, when another agent gets the name of its sender.
            let audiences = db.session_audiences(&added.collect::<Vec<_>>()).await?;
            for listener in listeners {
                listener.apply_events(&events, &audiences);
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
    /// Its tools changed, because it acts as another caller now, or another agent waits for a file that it holds.
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
    /// The caller as shared context sees it.
    reader: Option<Reader>,
    resources: BTreeSet<Uri>,
    changes: PendingChanges,
}

impl Listener {
    /// Follows the inbox of this caller from now on. The human reads messages on the board's page.
    pub(crate) fn set_caller(&self, caller: &Caller) {
        let mut state = self.state();
        state.participant = match caller {
            Caller::Run(_) | Caller::Agent(_) => caller.project().cloned().zip(caller.name()),
            Caller::Person(_) | Caller::Runner | Caller::Invite(_) => None,
        };
        state.reader = caller.reader().ok();
        // Another caller may read other resources.
        state.resources.clear();
        state.changes.resources.clear();
    }

    /// Follows a resource that the caller may read.
    ///
    /// # Errors
    /// When it follows too many already.
    pub(crate) fn add_resource(&self, uri: Uri) -> Result<(), ErrorData> {
        let resources = &mut self.state().resources;
        if resources.len() >= MAX_RESOURCES && !resources.contains(&uri) {
            let problem = format!("a client can subscribe to at most {MAX_RESOURCES} resources; unsubscribe from one first");
            return Err(ErrorData::invalid_request(problem, None));
        }
        resources.insert(uri);
        Ok(())
    }

    /// Returns the context sessions that it follows.
    fn sessions(&self) -> Vec<ContextSessionId> {
        self.state().resources.iter().filter_map(Uri::session).cloned().collect()
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

    /// Adds what the events change. `audiences` are those of the messages that they add to sessions.
    fn apply_events(&self, events: &[Envelope], audiences: &BTreeMap<i64, String>) {
        let mut state = self.state();
        let State { participant, reader, resources, changes } = &mut *state;
        for event in events {
            if let Some(reader) = reader {
                changes.resources.extend(context_changes(event, reader, resources, audiences));
            }
            if participant.as_ref().is_some_and(|(project, name)| changes_inbox(event, project, name)) {
                changes.inbox = true;
                changes.resources.extend(resources.get(&Uri::Inbox).cloned());
            }
            changes.tools |= participant.as_ref().is_some_and(|(_, name)| changes_tools(event, name));
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

/// Returns the sessions and the memory among `resources` that an event changes for a reader. A message out of its reach changes none.
fn context_changes(event: &Envelope, reader: &Reader, resources: &BTreeSet<Uri>, audiences: &BTreeMap<i64, String>) -> Vec<Uri> {
    let project = event.project_id.as_ref();
    let of_session = |id: &ContextSessionId| -> Vec<Uri> { resources.iter().filter(|uri| uri.session() == Some(id)).cloned().collect() };
    match &event.event {
        Event::Session(SessionEvent::MessageAdded { session, message, .. }) => {
            let found = of_session(session);
            let is_in_reach = |word: &String| visibility::audiences(reader, project).iter().any(|own| own.as_text() == *word);
            if !found.is_empty() && audiences.get(message).is_some_and(is_in_reach) { found } else { Vec::new() }
        }
        Event::Session(SessionEvent::Closed { session }) if !visibility::audiences(reader, project).is_empty() => of_session(session),
        Event::Memory(change) if change.concerns(project, reader) => resources.get(&Uri::Memory(reader.name())).cloned().into_iter().collect(),
        _ => Vec::new(),
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

/// Whether the event adds tools to the list of a participant: one with which it passes on a file that another agent waits for. The holder may
/// work in another project on the same repository.
fn changes_tools(event: &Envelope, name: &str) -> bool {
    matches!(&event.event, Event::Claim(ClaimEvent::Queued { holder, .. }) if holder == name)
}

#[cfg(test)]
mod tests;
