//! What the browser knows of one project: the board as the shared reducer makes it, cut into signals so that an event draws again
//! only the card it touched.
//!
//! Must not talk to the server; `socket` feeds it.

use std::collections::HashMap;

use domain::board::{Board, Touched};
use domain::event::{Envelope, Seq};
use domain::id::{RunId, TaskId};
use domain::project::Project;
use domain::task::{Card, Status};
use leptos::prelude::*;

use crate::news::{Topic, outdated};

/// Sums over all cards.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) cards: usize,
    pub(crate) done: usize,
    /// Coders' tasks whose work is in the project branch.
    pub(crate) merged: usize,
    pub(crate) running: usize,
    pub(crate) needs_you: usize,
    pub(crate) cost_micro_usd: i64,
}

/// One project's board in signals.
#[derive(Clone, Copy)]
pub(crate) struct Store {
    board: StoredValue<Option<Board>>,
    cards: StoredValue<HashMap<TaskId, ArcRwSignal<Card>>>,
    columns: StoredValue<Vec<(Status, RwSignal<Vec<TaskId>>)>>,
    activity: StoredValue<HashMap<RunId, ArcRwSignal<String>>>,
    /// Counts up when a list beside the board has become old.
    news: StoredValue<Vec<(Topic, RwSignal<u32>)>>,
    /// The project, once the board was read.
    pub(crate) project: RwSignal<Option<Project>>,
    /// The tasks of a plan that waits for approval.
    pub(crate) plan: RwSignal<Vec<TaskId>>,
    pub(crate) totals: RwSignal<Totals>,
    /// Told whenever any card changed.
    revision: Trigger,
}

impl Store {
    /// An empty store that lives as long as the current owner, available to everything below it.
    pub(crate) fn provide() -> Self {
        let store = Self {
            board: StoredValue::new(None),
            cards: StoredValue::new(HashMap::new()),
            columns: StoredValue::new(Status::ALL.iter().map(|status| (*status, RwSignal::new(Vec::new()))).collect()),
            activity: StoredValue::new(HashMap::new()),
            news: StoredValue::new(Topic::ALL.map(|topic| (topic, RwSignal::new(0))).to_vec()),
            project: RwSignal::new(None),
            plan: RwSignal::new(Vec::new()),
            totals: RwSignal::new(Totals::default()),
            revision: Trigger::new(),
        };
        provide_context(store);
        store
    }

    pub(crate) fn here() -> Self {
        expect_context()
    }

    /// Where the known log ends, to ask for what comes after.
    pub(crate) fn place(self) -> Option<(Seq, String)> {
        self.board.with_value(|board| board.as_ref().map(|board| (board.seq, board.epoch.clone())))
    }

    /// Takes a board as it was read from the server, in place of the known one.
    pub(crate) fn load(self, board: Board) {
        self.cards.update_value(|cards| {
            cards.retain(|id, _| board.card(id).is_some());
            for card in &board.cards {
                set_card(cards, card);
            }
        });
        self.project.set(Some(board.project.clone()));
        self.board.set_value(Some(board));
        self.derive();
        // What happened before is in no event that will come.
        self.tell(&Topic::ALL);
    }

    /// Takes in one event.
    pub(crate) fn apply(self, envelope: &Envelope) {
        let is_news = |board: &Board| envelope.seq > board.seq && envelope.project_id.as_ref() == Some(&board.project.id);
        let news = self.board.with_value(|board| board.as_ref().is_some_and(is_news));
        let touched = self.board.try_update_value(|board| board.as_mut().map(|board| board.apply(envelope))).flatten();
        if news {
            self.tell(outdated(&envelope.event));
        }
        let Some(touched) = touched.filter(|touched| *touched != Touched::Nothing) else { return };
        if let Some(project) = envelope.project.clone() {
            self.project.set(Some(project));
        }
        if let Touched::Card(id) = touched {
            let card = self.board.with_value(|board| board.as_ref().and_then(|board| board.card(&id).cloned()));
            if let Some(card) = card {
                self.cards.update_value(|cards| set_card(cards, &card));
            }
            self.derive();
        }
    }

    /// What counts up when the lists of a topic have become old; 0 as long as there is no board.
    pub(crate) fn news(self, topic: Topic) -> RwSignal<u32> {
        self.news.with_value(|news| news.iter().find(|(known, _)| *known == topic).map(|(_, signal)| *signal)).unwrap_or_default()
    }

    /// Has every list read again: what was asked while nobody answered may have failed.
    pub(crate) fn read_again(self) {
        self.tell(&Topic::ALL);
    }

    fn tell(self, topics: &[Topic]) {
        for topic in topics {
            self.news(*topic).update(|count| *count = count.wrapping_add(1));
        }
    }

    /// Has open logs read what they may have missed without a connection.
    pub(crate) fn wake_logs(self) {
        let lines: Vec<_> = self.activity.with_value(|activity| activity.values().cloned().collect());
        for line in lines {
            line.notify();
        }
    }

    /// Takes in the last line of a running agent.
    pub(crate) fn note_activity(self, run: RunId, line: String) {
        self.activity_of(&run).set(line);
    }

    /// The last activity line of a run; empty before the first. Every frame notifies, also with the same line.
    pub(crate) fn activity_of(self, run: &RunId) -> ArcRwSignal<String> {
        let known = self.activity.with_value(|activity| activity.get(run).cloned());
        known.unwrap_or_else(|| {
            let line = ArcRwSignal::new(String::new());
            self.activity.update_value(|activity| {
                activity.insert(run.clone(), line.clone());
            });
            line
        })
    }

    /// The card of a task, if the project has it.
    pub(crate) fn card(self, id: &TaskId) -> Option<ArcRwSignal<Card>> {
        self.cards.with_value(|cards| cards.get(id).cloned())
    }

    /// The card as it is now, without following it.
    pub(crate) fn card_now(self, id: &TaskId) -> Option<Card> {
        self.card(id).map(|card| card.get_untracked())
    }

    /// The tasks of a column, in order.
    pub(crate) fn column(self, status: Status) -> RwSignal<Vec<TaskId>> {
        self.columns.with_value(|columns| columns.iter().find(|(known, _)| *known == status).map(|(_, ids)| *ids)).unwrap_or_default()
    }

    /// Every card, in the order of the ids, without following them.
    pub(crate) fn cards_now(self) -> Vec<Card> {
        self.with_cards(<[Card]>::to_vec)
    }

    /// Reads every card, in the order of the ids, and follows all of them.
    pub(crate) fn follow_cards<T>(self, read: impl FnOnce(&[Card]) -> T) -> T {
        self.revision.track();
        self.with_cards(read)
    }

    fn with_cards<T>(self, read: impl FnOnce(&[Card]) -> T) -> T {
        self.board.with_value(|board| read(board.as_ref().map(|board| board.cards.as_slice()).unwrap_or_default()))
    }

    /// Sets the signals that depend on several cards, and only those that changed.
    fn derive(self) {
        let ids = |cards: Vec<&Card>| cards.into_iter().map(|card| card.id.clone()).collect::<Vec<_>>();
        self.revision.notify();
        self.board.with_value(|board| {
            let Some(board) = board else { return };
            self.columns.with_value(|columns| {
                for (status, column) in columns {
                    set_if_changed(*column, ids(board.column(*status)));
                }
            });
            set_if_changed(self.plan, ids(board.plan()));
            set_if_changed(self.totals, totals(&board.cards));
        });
    }
}

fn set_card(cards: &mut HashMap<TaskId, ArcRwSignal<Card>>, card: &Card) {
    match cards.get(&card.id) {
        Some(known) if known.with_untracked(|known| known == card) => {}
        Some(known) => known.set(card.clone()),
        None => {
            cards.insert(card.id.clone(), ArcRwSignal::new(card.clone()));
        }
    }
}

fn set_if_changed<T: PartialEq + Send + Sync + 'static>(signal: RwSignal<T>, value: T) {
    if signal.with_untracked(|known| *known != value) {
        signal.set(value);
    }
}

fn totals(cards: &[Card]) -> Totals {
    Totals {
        cards: cards.iter().filter(|card| card.status.is_open() || card.satisfies_dependents()).count(),
        done: cards.iter().filter(|card| card.satisfies_dependents()).count(),
        merged: cards.iter().filter(|card| card.is_merged()).count(),
        running: cards.iter().filter(|card| card.run.is_some()).count(),
        needs_you: cards.iter().filter(|card| card.attention.is_some()).count(),
        cost_micro_usd: cards.iter().map(|card| card.cost_micro_usd).sum(),
    }
}

#[cfg(test)]
mod tests;
