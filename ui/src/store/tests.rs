//! Tests of the store: events, totals, pages of finished cards and stale lists.

use domain::actor::Actor;
use domain::board::status::HeldBy;
use domain::board::task::event::TaskEvent;
use domain::event::{Envelope, Event, Seq};
use domain::id::ProjectId;
use domain::team::message::MessageEvent;
use domain::time::Timestamp;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use domain::wire::FinishedColumn;

use super::*;
use crate::testing::{board, card};

/// An event of the first project as the live connection delivers it.
fn live(seq: Seq, event: impl Into<Event>, card: Option<Card>) -> LiveEvent {
    let envelope = Envelope {
        seq,
        at: Timestamp::from_milliseconds(0),
        project_id: Some(ProjectId::new(1)),
        task_id: card.as_ref().map(|card| card.id.clone()),
        run_id: None,
        actor: Actor::Owner,
        event: event.into(),
        card,
        project: None,
    };
    serde_json::from_value(serde_json::to_value(envelope).unwrap()).unwrap()
}

fn moved(seq: Seq, card: Card) -> LiveEvent {
    live(seq, TaskEvent::Released {}, Some(card))
}

/// Counts updates of a card's signal from now on.
fn updates(store: Store, number: u64) -> (Arc<AtomicUsize>, ImmediateEffect) {
    let count = Arc::new(AtomicUsize::new(0));
    let (counted, signal) = (count.clone(), store.card(&TaskId::new(number)).unwrap());
    let effect = ImmediateEffect::new(move || {
        signal.track();
        counted.fetch_add(1, Ordering::Relaxed);
    });
    count.store(0, Ordering::Relaxed);
    (count, effect)
}

fn ids(store: Store, status: Status) -> Vec<u64> {
    store.column(status).get_untracked().iter().map(TaskId::number).collect()
}

#[test]
fn event_updates_only_its_card_and_columns() {
    let owner = Owner::new();
    owner.set();
    let store = Store::provide();
    store.load(board(vec![card(1, Status::Backlog), card(2, Status::Backlog)]));

    store.apply(&moved(11, card(2, Status::InProgress)));
    assert_eq!(ids(store, Status::Backlog), [1]);
    assert_eq!(ids(store, Status::InProgress), [2]);
    assert_eq!(store.card_now(&TaskId::new(2)).unwrap().status, Status::InProgress);

    // Neither an unchanged card after a resync nor a known event updates a signal.
    let ((first, _first_follows), (second, _second_follows)) = (updates(store, 1), updates(store, 2));
    store.load(board(vec![card(1, Status::Backlog), card(2, Status::InProgress)]));
    store.apply(&moved(9, card(2, Status::Done)));
    assert_eq!((first.load(Ordering::Relaxed), second.load(Ordering::Relaxed)), (0, 0));
    store.apply(&moved(12, card(2, Status::Done)));
    assert_eq!((first.load(Ordering::Relaxed), second.load(Ordering::Relaxed)), (0, 1));
}

#[test]
fn totals_and_plan_follow_the_cards() {
    let owner = Owner::new();
    owner.set();
    let store = Store::provide();
    let held = Card { held_by: Some(HeldBy::Plan), ..card(2, Status::Backlog) };
    store.load(board(vec![card(1, Status::Done), held.clone(), card(3, Status::Cancelled)]));
    assert_eq!(store.plan.get_untracked(), [TaskId::new(2)]);
    assert_eq!(store.totals.get_untracked(), Totals { cards: 2, done: 1, cost_micro_usd: 30, ..Totals::default() });
    store.apply(&moved(11, Card { held_by: None, ..held }));
    assert!(store.plan.get_untracked().is_empty());
}

#[test]
fn activity_before_its_card_is_stored() {
    let owner = Owner::new();
    owner.set();
    let store = Store::provide();
    store.note_activity(RunId::new(7), "Edits src/lib.rs".to_owned());
    assert_eq!(store.activity_of(&RunId::new(7)).get_untracked(), "Edits src/lib.rs");
}

#[test]
fn team_event_of_this_project_invalidates_lists_once() {
    let owner = Owner::new();
    owner.set();
    let store = Store::provide();
    let revision = |kind| store.revision_of(kind).get_untracked();
    let message = || MessageEvent::Sent { message: 1, from: "mara".to_owned(), to: "all".to_owned(), is_cc: false };
    let sent = |seq, project| {
        let mut event = live(seq, message(), None);
        event.project_id = Some(ProjectId::new(project));
        event
    };
    assert_eq!(revision(ListKind::Messages), 0);
    store.load(board(Vec::new()));
    assert_eq!((revision(ListKind::Messages), revision(ListKind::Contracts)), (1, 1));
    for event in [sent(11, 1), sent(11, 1), sent(12, 2)] {
        store.apply(&event);
    }
    assert_eq!((revision(ListKind::Messages), revision(ListKind::Contracts)), (2, 1));
}

fn finished(total: u32, next: Option<&str>) -> FinishedCards {
    let done = FinishedColumn { total, merged: 0, cost_micro_usd: 100, next: next.map(str::to_owned) };
    FinishedCards { done, ..FinishedCards::default() }
}

fn move_to(seq: Seq, from: Status, card: Card) -> LiveEvent {
    live(seq, TaskEvent::Moved { from, to: card.status, reason: None }, Some(card))
}

#[test]
fn pages_of_finished_cards_are_added_until_the_last() {
    let owner = Owner::new();
    owner.set();
    let store = Store::provide();
    store.load(BoardView { finished: finished(4, Some("3")), ..board(vec![card(1, Status::Backlog), card(5, Status::Done)]) });
    assert_eq!((store.unloaded_count(Status::Done), store.next_page(Status::Done)), (3, Some("3".to_owned())));
    assert_eq!((store.totals.get_untracked().done, store.totals.get_untracked().cost_micro_usd), (4, 110));

    store.add_page(Status::Done, "9", CardPage { items: vec![card(4, Status::Done)], next: None });
    assert_eq!(ids(store, Status::Done), [5], "a page of an older board is dropped");
    store.add_page(Status::Done, "3", CardPage { items: vec![card(4, Status::Done), card(3, Status::Done)], next: Some("2".to_owned()) });
    assert_eq!(ids(store, Status::Done), [3, 4, 5]);
    assert_eq!((store.unloaded_count(Status::Done), store.totals.get_untracked().done), (1, 4));
    store.add_page(Status::Done, "2", CardPage { items: vec![card(2, Status::Done)], next: None });
    assert_eq!((store.unloaded_count(Status::Done), store.next_page(Status::Done)), (0, None));
    assert_eq!(store.totals.get_untracked().done, 4);
}

#[test]
fn event_about_an_unloaded_card_loads_it() {
    let owner = Owner::new();
    owner.set();
    let store = Store::provide();
    store.load(BoardView { finished: finished(3, Some("4")), ..board(vec![card(1, Status::Backlog)]) });
    let later = |card: Card| Card { updated_at: Timestamp::from_milliseconds(5), ..card };
    store.apply(&moved(11, later(card(2, Status::Done))));
    assert_eq!((ids(store, Status::Done), store.unloaded_count(Status::Done)), (vec![2], 2));
    store.apply(&move_to(12, Status::Done, card(3, Status::InProgress)));
    assert_eq!((ids(store, Status::InProgress), store.unloaded_count(Status::Done)), (vec![3], 1));
    store.apply(&move_to(13, Status::Backlog, later(card(1, Status::Done))));
    assert_eq!((ids(store, Status::Done), store.unloaded_count(Status::Done)), (vec![1, 2], 1));
    assert_eq!(store.totals.get_untracked().done, 3);
}

#[test]
fn goals_become_stale_with_their_tasks() {
    let owner = Owner::new();
    owner.set();
    let store = Store::provide();
    let of_goal = |status| Card { goal_id: Some(domain::id::GoalId::new(1)), ..card(1, status) };
    store.load(board(vec![of_goal(Status::Backlog), card(2, Status::Backlog)]));
    let revision = || store.revision_of(ListKind::Goals).get_untracked();
    store.apply(&moved(11, card(2, Status::InProgress)));
    store.apply(&moved(12, Card { comments: 1, ..of_goal(Status::Backlog) }));
    assert_eq!(revision(), 1);
    store.apply(&moved(13, of_goal(Status::InProgress)));
    assert_eq!(revision(), 2);
}
