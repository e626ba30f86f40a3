//! Keeps a store up to date: requests the board, and applies the events of the live connection, also those that arrive while the board is
//! on its way.

use std::time::Duration;

use domain::board::reducer::OpenBoard;
use domain::event::live::LiveEvent;
use domain::id::ProjectId;
use domain::wire::BoardView;
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::Store;
use crate::client::{Client, Failure};
use crate::focus::preserving_focus;
use crate::lazy::FirstPage;
use crate::socket::{Live, Notice};

/// The delay before a failed request is repeated over a working connection.
const RETRY_DELAY: Duration = Duration::from_secs(1);

/// The board that is followed.
#[derive(Debug, Clone)]
enum Wanted {
    Project(ProjectId),
    All,
}

#[derive(Clone, Copy)]
struct Following {
    store: Store,
    client: Client,
    first_page: FirstPage,
    wanted: StoredValue<Wanted>,
    /// Whether the board was loaded before.
    loaded: RwSignal<bool>,
    /// Whether the project does not exist.
    missing: RwSignal<bool>,
    /// The events since the request for the board, while its answer is awaited.
    awaiting: StoredValue<Option<Vec<LiveEvent>>>,
}

/// The state of a followed board.
#[derive(Clone, Copy)]
pub(crate) struct BoardState {
    pub(crate) loaded: RwSignal<bool>,
    /// Whether the project does not exist.
    pub(crate) missing: RwSignal<bool>,
}

/// Follows `project` for as long as the current owner lives.
pub(crate) fn follow(store: Store, project: ProjectId) -> BoardState {
    Following::start(store, Wanted::Project(project))
}

/// Follows the open tasks of all projects for as long as the current owner lives.
pub(crate) fn follow_all(store: Store) -> BoardState {
    Following::start(store, Wanted::All)
}

impl Following {
    fn start(store: Store, wanted: Wanted) -> BoardState {
        let (client, live) = (Client::from_context(), Live::from_context());
        let (wanted, awaiting) = (StoredValue::new(wanted), StoredValue::new(None));
        let following = Self {
            store,
            client,
            first_page: FirstPage::from_context(),
            wanted,
            loaded: RwSignal::new(false),
            missing: RwSignal::new(false),
            awaiting,
        };
        live.follow(move |notice| following.receive(notice));
        if live.is_connected() {
            following.load();
        }
        BoardState { loaded: following.loaded, missing: following.missing }
    }

    fn receive(self, notice: &Notice) {
        match notice {
            Notice::Connected { resumed: true } if self.loaded.get_untracked() => {
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
            Notice::Event(event) if self.changes_the_projects(event) => self.load(),
            Notice::Event(event) => {
                let is_awaited = self.awaiting.try_update_value(|awaiting| awaiting.as_mut().map(|events| events.push((**event).clone())));
                if is_awaited.flatten().is_none() {
                    preserving_focus(|| self.store.apply(event));
                }
            }
        }
    }

    /// Whether the event tells that the project is gone.
    fn is_removed_by(self, event: &LiveEvent) -> bool {
        let own = |id: &ProjectId| self.wanted.try_with_value(|wanted| matches!(wanted, Wanted::Project(own) if own == id)) == Some(true);
        event.removed_project().is_some_and(own)
    }

    /// Whether the event changes which projects are on the board of all: cards of a project may appear or leave without events of their own.
    fn changes_the_projects(self, event: &LiveEvent) -> bool {
        let changes = matches!(event.kind(), "project_archived" | "project_restored" | "project_removed");
        changes && self.wanted.try_with_value(|wanted| matches!(wanted, Wanted::All)) == Some(true)
    }

    fn load(self) {
        self.awaiting.set_value(Some(Vec::new()));
        spawn_local(async move {
            let Some(wanted) = self.wanted.try_get_value() else { return };
            let answer = match &wanted {
                Wanted::Project(project) => self.client.board(project).await.map(Box::new).map(Answer::Project),
                Wanted::All => all_pages(self.client).await.map(Answer::All),
            };
            let Some(events) = self.awaiting.try_update_value(Option::take) else { return };
            let is_answered = !matches!(answer, Err(Failure::Unreachable(_)));
            match answer {
                Ok(answer) => {
                    match answer {
                        Answer::Project(board) => self.store.load(*board),
                        Answer::All(board) => self.store.load_all(board),
                    }
                    // The store skips those that the board already contains.
                    events.into_iter().flatten().for_each(|event| self.store.apply(&event));
                    self.loaded.set(true);
                }
                Err(Failure::Refused(_) | Failure::SignedOut) => self.missing.set(true),
                Err(Failure::Unreachable(_)) => set_timeout(
                    move || {
                        if self.wanted.try_get_value().is_some() {
                            self.load();
                        }
                    },
                    RETRY_DELAY,
                ),
            }
            if is_answered {
                self.first_page.set_drawn_after_paint();
            }
        });
    }
}

enum Answer {
    Project(Box<BoardView>),
    All(OpenBoard),
}

/// The open cards of all projects. The board is as old as its first page: later events are applied to all of it once more, in order.
async fn all_pages(client: Client) -> Result<OpenBoard, Failure> {
    let mut page = client.open_cards(None).await?;
    let (seq, mut cards) = (page.seq, std::mem::take(&mut page.items));
    while let Some(after) = page.next {
        page = client.open_cards(Some(after)).await?;
        cards.append(&mut page.items);
    }
    Ok(OpenBoard::new(cards, seq))
}
