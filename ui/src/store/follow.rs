//! Keeps the store of a project up to date: requests its board, and applies the events of the live connection, also those that arrive
//! while the board is on its way.

use std::time::Duration;

use domain::board::project::ProjectEvent;
use domain::event::{Envelope, Event};
use domain::id::ProjectId;
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::Store;
use crate::client::{Client, Failure};
use crate::focus::preserving_focus;
use crate::socket::{Live, Notice};

/// The delay before a failed request is repeated over a working connection.
const RETRY_DELAY: Duration = Duration::from_secs(1);

#[derive(Clone, Copy)]
struct Following {
    store: Store,
    client: Client,
    project: StoredValue<ProjectId>,
    /// Whether the project does not exist.
    missing: RwSignal<bool>,
    /// The events since the request for the board, while its answer is awaited.
    awaiting: StoredValue<Option<Vec<Envelope>>>,
}

/// Follows `project` for as long as the current owner lives. The result says whether it does not exist.
pub(crate) fn follow(store: Store, project: ProjectId) -> RwSignal<bool> {
    let (client, live) = (Client::from_context(), Live::from_context());
    let following = Following { store, client, project: StoredValue::new(project), missing: RwSignal::new(false), awaiting: StoredValue::new(None) };
    live.follow(move |notice| following.receive(notice));
    if live.is_connected() {
        following.load();
    }
    following.missing
}

impl Following {
    fn receive(self, notice: &Notice) {
        match notice {
            Notice::Connected { resumed: true } if self.store.project.with_untracked(Option::is_some) => {
                // Requests may have failed while the server was away.
                self.store.wake_logs();
                self.store.refetch_all();
            }
            Notice::Connected { .. } => self.load(),
            Notice::Activity(run, line) => self.store.note_activity(run.clone(), line.clone()),
            Notice::Event(event) if self.is_removed_by(event) => {
                self.store.project.set(None);
                self.missing.set(true);
            }
            Notice::Event(event) => {
                let is_awaited = self.awaiting.try_update_value(|awaiting| awaiting.as_mut().map(|events| events.push((**event).clone())));
                if is_awaited.flatten().is_none() {
                    preserving_focus(|| self.store.apply(event));
                }
            }
        }
    }

    /// Whether the event tells that the project is gone.
    fn is_removed_by(self, event: &Envelope) -> bool {
        let own = |id: &ProjectId| self.project.try_with_value(|own| own == id) == Some(true);
        matches!(&event.event, Event::Project(ProjectEvent::Removed { project, .. }) if own(project))
    }

    fn load(self) {
        self.awaiting.set_value(Some(Vec::new()));
        spawn_local(async move {
            let Some(project) = self.project.try_get_value() else { return };
            let answer = self.client.board(&project).await;
            let Some(events) = self.awaiting.try_update_value(Option::take) else { return };
            match answer {
                Ok(board) => {
                    self.store.load(board);
                    // The store skips those that the board already contains.
                    events.into_iter().flatten().for_each(|event| self.store.apply(&event));
                }
                Err(Failure::Refused(_) | Failure::SignedOut) => self.missing.set(true),
                Err(Failure::Unreachable(_)) => set_timeout(
                    move || {
                        if self.project.try_get_value().is_some() {
                            self.load();
                        }
                    },
                    RETRY_DELAY,
                ),
            }
        });
    }
}
