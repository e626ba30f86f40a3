//! Wakes the watcher of a run when an event concerns that run. Each event is read once, however many watchers wait.
//!
//! It must not know what a watcher does then.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use db::Db;
use domain::event::{Envelope, Event, Seq};
use domain::id::{ProjectId, TaskId};
use domain::team::agent::EVERYONE;
use domain::team::message::MessageEvent;
use tokio::sync::Notify;

/// How many events are read at once.
const MAX_EVENTS: u32 = 512;

/// Wakes one watcher. A wake before the watcher waits is kept for it.
pub(crate) type WakeHandle = Arc<Notify>;

/// The watchers of live runs, by task: a task has one run at a time.
#[derive(Debug)]
pub(super) struct WakeRegistry {
    watchers: HashMap<TaskId, Watcher>,
    /// The last event that was dispatched.
    position: Seq,
}

#[derive(Debug)]
struct Watcher {
    /// The project whose broadcasts it receives.
    project: Option<ProjectId>,
    /// Gone with the watcher itself.
    handle: Weak<Notify>,
}

impl WakeRegistry {
    /// Starts after the event `position`.
    pub(super) fn new(position: Seq) -> Self {
        Self { watchers: HashMap::new(), position }
    }

    /// Adds the watcher of a task's run. It replaces an earlier one.
    pub(super) fn register(&mut self, task: &TaskId, project: Option<&ProjectId>) -> WakeHandle {
        self.watchers.retain(|_, watcher| watcher.handle.strong_count() > 0);
        let handle = WakeHandle::default();
        let watcher = Watcher { project: project.cloned(), handle: Arc::downgrade(&handle) };
        self.watchers.insert(task.clone(), watcher);
        handle
    }

    /// Reads the events since the last call and wakes the watchers that they concern.
    pub(super) async fn dispatch(&mut self, db: &Db) {
        let latest = db.latest();
        if self.watchers.is_empty() {
            self.position = latest;
        }
        while self.position < latest {
            match db.events_after(self.position, None, MAX_EVENTS).await {
                Ok(events) => {
                    events.iter().for_each(|event| self.wake(event));
                    self.position = events.last().map_or(latest, |event| event.seq);
                }
                Err(error) => {
                    tracing::error!(error = &error as &dyn std::error::Error, "new events could not be read; every watcher is woken");
                    self.watchers.values().for_each(Watcher::wake);
                    self.position = latest;
                }
            }
        }
    }

    fn wake(&self, envelope: &Envelope) {
        match &envelope.event {
            // Copies interrupt nobody.
            Event::Message(MessageEvent::Sent { is_cc: true, .. }) => {}
            Event::Message(MessageEvent::Sent { to, .. }) if to == EVERYONE => {
                let receives = |watcher: &&Watcher| watcher.project.is_none() || watcher.project == envelope.project_id;
                self.watchers.values().filter(receives).for_each(Watcher::wake);
            }
            Event::Message(MessageEvent::Sent { to, .. }) => self.wake_task(task_of_managed_agent(to).as_ref()),
            _ => self.wake_task(envelope.task_id.as_ref()),
        }
    }

    fn wake_task(&self, task: Option<&TaskId>) {
        if let Some(watcher) = task.and_then(|task| self.watchers.get(task)) {
            watcher.wake();
        }
    }
}

impl Watcher {
    fn wake(&self) {
        if let Some(handle) = self.handle.upgrade() {
            handle.notify_one();
        }
    }
}

/// Reads the task out of a managed agent's name, such as `coder-TASK-012`.
fn task_of_managed_agent(name: &str) -> Option<TaskId> {
    name.split_once('-')?.1.parse().ok()
}

#[cfg(test)]
mod tests;
