//! The browser's copy of one project, or of the open tasks of all: the board of the shared reducer, split into signals so that an event
//! redraws only its card.
//!
//! Must not talk to the server: `socket` passes events in, and pages of finished cards come from the columns.

use std::collections::HashMap;

use domain::board::card::Card;
use domain::board::flow::Flow;
use domain::board::order::start_order;
use domain::board::project::Project;
use domain::board::reducer::{BoardChange, OpenBoard, column};
use domain::board::status::Status;
use domain::event::live::LiveEvent;
use domain::id::{RunId, TaskId};
use domain::wire::{BoardView, CardPage, FinishedCards};
use leptos::prelude::*;

use crate::invalidation::{ListKind, stale_lists};

mod contents;
mod follow;
mod totals;

use contents::Contents;
pub(crate) use follow::{follow, follow_all};
pub(crate) use totals::Totals;

/// A board in signals.
#[derive(Clone, Copy)]
pub(crate) struct Store {
    board: StoredValue<Contents>,
    cards: StoredValue<HashMap<TaskId, ArcRwSignal<Card>>>,
    columns: StoredValue<Vec<(Status, RwSignal<Vec<TaskId>>)>>,
    activity: StoredValue<HashMap<RunId, ArcRwSignal<String>>>,
    /// A counter for each list, which grows when the list becomes stale.
    revisions: StoredValue<Vec<(ListKind, RwSignal<u32>)>>,
    /// The finished cards that are not loaded.
    unloaded: RwSignal<FinishedCards>,
    /// The project, once the board is loaded.
    pub(crate) project: RwSignal<Option<Project>>,
    /// The tasks of a plan that awaits approval.
    pub(crate) plan: RwSignal<Vec<TaskId>>,
    pub(crate) totals: RwSignal<Totals>,
    pub(crate) flow: RwSignal<Flow>,
    /// Notified whenever any card changes.
    any_card: Trigger,
}

impl Store {
    /// Creates an empty store and makes it available below the current owner.
    pub(crate) fn provide() -> Self {
        let store = Self {
            board: StoredValue::new(Contents::Empty),
            cards: StoredValue::new(HashMap::new()),
            columns: StoredValue::new(Status::ALL.iter().map(|status| (*status, RwSignal::new(Vec::new()))).collect()),
            activity: StoredValue::new(HashMap::new()),
            revisions: StoredValue::new(ListKind::ALL.map(|kind| (kind, RwSignal::new(0))).to_vec()),
            unloaded: RwSignal::new(FinishedCards::default()),
            project: RwSignal::new(None),
            plan: RwSignal::new(Vec::new()),
            totals: RwSignal::new(Totals::default()),
            flow: RwSignal::new(Flow::default()),
            any_card: Trigger::new(),
        };
        provide_context(store);
        store
    }

    pub(crate) fn from_context() -> Self {
        expect_context()
    }

    /// Replaces the board with one from the server.
    pub(crate) fn load(self, view: BoardView) {
        let BoardView { board, finished } = view;
        self.cards.update_value(|cards| {
            cards.retain(|id, _| board.card(id).is_some());
            for card in &board.cards {
                set_card(cards, card);
            }
        });
        set_if_changed(self.unloaded, finished.without(&board));
        self.project.set(Some(board.project.clone()));
        self.board.set_value(Contents::Project(Box::new(board)));
        self.derive(Status::ALL);
        // The board says nothing about events that came before it.
        self.invalidate(&ListKind::ALL);
    }

    /// Replaces the board with the open cards of all projects.
    pub(crate) fn load_all(self, board: OpenBoard) {
        self.cards.update_value(|cards| board.cards.iter().for_each(|card| set_card(cards, card)));
        self.board.set_value(Contents::All(board));
        self.derive(Status::ALL);
    }

    /// Applies one event.
    pub(crate) fn apply(self, event: &LiveEvent) {
        if self.board.with_value(|board| board.makes_lists_stale(event)) {
            self.invalidate(stale_lists(event.kind()));
        }
        let before = event.task_id.as_ref().and_then(|task| self.card_now(task));
        let touched = self.board.try_update_value(|board| board.apply(event));
        let Some(touched) = touched.filter(|touched| *touched != BoardChange::None) else { return };
        if let Some(project) = event.project.clone() {
            self.project.set(Some(project));
        }
        if let (BoardChange::Card(_), Some(card)) = (touched, &event.card) {
            self.cards.update_value(|cards| set_card(cards, card));
            if before.is_none() {
                self.take_from_unloaded(card, event);
            }
            if changes_goal(before.as_ref(), card) {
                self.invalidate(&[ListKind::Goals]);
            }
            self.derive(&stale_columns(before.as_ref(), card));
        }
    }

    /// A counter that grows when the lists of this kind become stale; 0 before the board is loaded.
    pub(crate) fn revision_of(self, kind: ListKind) -> RwSignal<u32> {
        self.revisions.with_value(|revisions| revisions.iter().find(|(known, _)| *known == kind).map(|(_, signal)| *signal)).unwrap_or_default()
    }

    /// A counter that grows when a list of one of these kinds becomes stale.
    pub(crate) fn revision_of_any(self, kinds: &[ListKind]) -> RwSignal<u32> {
        let own: Vec<_> = kinds.iter().map(|kind| self.revision_of(*kind)).collect();
        let revision = RwSignal::new(0_u32);
        Effect::new(move || revision.set(own.iter().fold(0_u32, |sum, own| sum.wrapping_add(own.get()))));
        revision
    }

    /// Marks every list as stale, because requests may have failed while the server was away.
    pub(crate) fn refetch_all(self) {
        self.invalidate(&ListKind::ALL);
    }

    fn invalidate(self, kinds: &[ListKind]) {
        for kind in kinds {
            self.revision_of(*kind).update(|count| *count = count.wrapping_add(1));
        }
    }

    /// Makes open logs read the entries that they may have missed without a connection.
    pub(crate) fn wake_logs(self) {
        let lines: Vec<_> = self.activity.with_value(|activity| activity.values().cloned().collect());
        for line in lines {
            line.notify();
        }
    }

    /// Stores the last output line of a running agent.
    pub(crate) fn note_activity(self, run: RunId, line: String) {
        self.activity_of(&run).set(line);
    }

    /// The last output line of a run, empty before the first.
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

    /// The card of a task, if it is loaded.
    pub(crate) fn card(self, id: &TaskId) -> Option<ArcRwSignal<Card>> {
        self.cards.with_value(|cards| cards.get(id).cloned())
    }

    /// The current card, without tracking it.
    pub(crate) fn card_now(self, id: &TaskId) -> Option<Card> {
        self.card(id).map(|card| card.get_untracked())
    }

    /// The loaded tasks of a column, in order.
    pub(crate) fn column(self, status: Status) -> RwSignal<Vec<TaskId>> {
        self.columns.with_value(|columns| columns.iter().find(|(known, _)| *known == status).map(|(_, ids)| *ids)).unwrap_or_default()
    }

    /// The number of cards in a column that are not loaded.
    pub(crate) fn unloaded_count(self, status: Status) -> usize {
        self.unloaded.with(|unloaded| unloaded.column(status).map_or(0, |column| usize::try_from(column.total).unwrap_or(usize::MAX)))
    }

    /// The cursor of the next page of a column, or none if all cards are loaded.
    pub(crate) fn next_page(self, status: Status) -> Option<String> {
        self.unloaded.with(|unloaded| unloaded.column(status).and_then(|column| column.next.clone()))
    }

    /// Adds the page of finished cards that was requested with the cursor `before`. A board that was loaded meanwhile has another cursor and
    /// drops the page.
    pub(crate) fn add_page(self, status: Status, before: &str, page: CardPage) {
        if untrack(|| self.next_page(status)).as_deref() != Some(before) {
            return;
        }
        self.add_cards(page.items);
        self.unloaded.update(|unloaded| {
            if let Some(column) = unloaded.column_mut(status) {
                column.advance(page.next);
            }
        });
        self.derive(&[status]);
    }

    /// Adds cards that the first answer left out.
    pub(crate) fn add_cards(self, cards: Vec<Card>) {
        let added = self.board.try_update_value(|board| board.add(cards)).unwrap_or_default();
        self.cards.update_value(|cards| added.iter().for_each(|card| set_card(cards, card)));
        self.unloaded.update(|unloaded| {
            for card in &added {
                if let Some(column) = unloaded.column_mut(card.status) {
                    column.subtract(card);
                }
            }
        });
        self.derive(&added.iter().map(|card| card.status).collect::<Vec<_>>());
    }

    /// The first `limit` loaded cards that `accepts`, in the order of ids, without tracking them.
    pub(crate) fn cards_where(self, accepts: impl FnMut(&&Card) -> bool, limit: usize) -> Vec<Card> {
        self.with_cards(|cards| cards.iter().filter(accepts).take(limit).cloned().collect())
    }

    /// Reads every loaded card, in the order of ids, and tracks all of them.
    pub(crate) fn follow_cards<T>(self, read: impl FnOnce(&[Card]) -> T) -> T {
        self.any_card.track();
        self.with_cards(read)
    }

    fn with_cards<T>(self, read: impl FnOnce(&[Card]) -> T) -> T {
        self.board.with_value(|board| read(board.cards()))
    }

    /// Removes a card from the unloaded ones when an event delivers it: a finished card, unless it is new, or one that leaves its column.
    fn take_from_unloaded(self, card: &Card, event: &LiveEvent) {
        if event.kind() == "task_created" {
            return;
        }
        let previous = event.moved_from().unwrap_or(card.status);
        self.unloaded.update(|unloaded| {
            if let Some(column) = unloaded.column_mut(previous) {
                column.subtract(&Card { status: previous, ..card.clone() });
            }
        });
    }

    /// Updates the signals that depend on several cards: the given columns, the plan and the totals.
    fn derive(self, columns: &[Status]) {
        let ids = |cards: Vec<&Card>| cards.into_iter().map(|card| card.id.clone()).collect::<Vec<_>>();
        self.any_card.notify();
        self.board.with_value(|board| {
            let cards = board.cards();
            for status in columns {
                set_if_changed(self.column(*status), ids(column(cards, *status)));
            }
            let Contents::Project(board) = board else { return };
            set_if_changed(self.plan, ids(board.plan()));
            let totals = self.unloaded.with_untracked(|unloaded| Totals::of(cards, unloaded));
            set_if_changed(self.totals, totals);
            set_if_changed(self.flow, Flow::of(cards));
        });
    }
}

/// The columns whose order an event can change.
fn stale_columns(before: Option<&Card>, card: &Card) -> Vec<Status> {
    match before {
        None => vec![card.status],
        Some(before) if before.status != card.status => vec![before.status, card.status],
        // Finished columns are sorted by their last change.
        Some(before) if start_order(before) != start_order(card) || !card.status.is_open() => vec![card.status],
        Some(_) => Vec::new(),
    }
}

/// Whether the change of a card affects the progress of a goal.
fn changes_goal(before: Option<&Card>, card: &Card) -> bool {
    let part = |card: &Card| (card.goal_id.clone(), card.status, card.cancel_reason, card.contributors.verified_by.is_some());
    let has_goal = card.goal_id.is_some() || before.is_some_and(|before| before.goal_id.is_some());
    has_goal && before.map(part) != Some(part(card))
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

#[cfg(test)]
mod tests;
