//! An event reaches the card it is about, and nothing else.

use domain::actor::Actor;
use domain::board::project::{PlanApproval, ProjectStatus};
use domain::board::status::HeldBy;
use domain::event::Event;
use domain::id::ProjectId;
use domain::time::Timestamp;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::testing::card;

fn board(cards: Vec<Card>) -> Board {
    let project = Project {
        id: ProjectId::new(1),
        title: "Project".to_owned(),
        description: None,
        status: ProjectStatus::Active,
        repo_path: String::new(),
        git_dir: String::new(),
        base_branch: "main".to_owned(),
        integration_branch: "vibe-relay/PROJ-001".to_owned(),
        integration_head: None,
        landed_sha: None,
        plan_approval: PlanApproval::Auto,
        created_at: Timestamp::from_milliseconds(0),
        updated_at: Timestamp::from_milliseconds(0),
    };
    Board { project, cards, seq: 10, epoch: "e".to_owned() }
}

fn moved(seq: Seq, card: Card) -> Envelope {
    Envelope {
        seq,
        at: Timestamp::from_milliseconds(0),
        project_id: Some(ProjectId::new(1)),
        task_id: Some(card.id.clone()),
        run_id: None,
        actor: Actor::Human,
        event: Event::TaskReleased {},
        card: Some(card),
        project: None,
    }
}

/// How often the signal of a card was set since this was called.
fn draws(store: Store, number: u64) -> (Arc<AtomicUsize>, ImmediateEffect) {
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
fn an_event_touches_its_card_and_the_columns_between_which_it_moved() {
    let owner = Owner::new();
    owner.set();
    let store = Store::provide();
    store.load(board(vec![card(1, Status::Backlog), card(2, Status::Backlog)]));

    store.apply(&moved(11, card(2, Status::InProgress)));
    assert_eq!(ids(store, Status::Backlog), [1]);
    assert_eq!(ids(store, Status::InProgress), [2]);
    assert_eq!(store.card_now(&TaskId::new(2)).unwrap().status, Status::InProgress);
    assert_eq!(store.place(), Some((11, "e".to_owned())));

    // A card that comes again unchanged, as after a resync, is not drawn again; nor is an event known already.
    let ((first, _first_follows), (second, _second_follows)) = (draws(store, 1), draws(store, 2));
    store.load(board(vec![card(1, Status::Backlog), card(2, Status::InProgress)]));
    store.apply(&moved(9, card(2, Status::Done)));
    assert_eq!((first.load(Ordering::Relaxed), second.load(Ordering::Relaxed)), (0, 0));
    store.apply(&moved(12, card(2, Status::Done)));
    assert_eq!((first.load(Ordering::Relaxed), second.load(Ordering::Relaxed)), (0, 1));
}

#[test]
fn sums_and_the_waiting_plan_follow_the_cards() {
    let owner = Owner::new();
    owner.set();
    let store = Store::provide();
    let held = Card { held_by: Some(HeldBy::Plan), ..card(2, Status::Backlog) };
    store.load(board(vec![card(1, Status::Done), held.clone(), card(3, Status::Cancelled)]));
    assert_eq!(store.plan.get_untracked(), [TaskId::new(2)]);
    assert_eq!(store.totals.get_untracked(), Totals { cards: 2, done: 1, merged: 0, running: 0, needs_you: 0, cost_micro_usd: 30 });
    store.apply(&moved(11, Card { held_by: None, ..held }));
    assert!(store.plan.get_untracked().is_empty());
}

#[test]
fn an_activity_line_is_kept_for_the_card_that_asks_later() {
    let owner = Owner::new();
    owner.set();
    let store = Store::provide();
    store.note_activity(RunId::new(7), "Edits src/lib.rs".to_owned());
    assert_eq!(store.activity_of(&RunId::new(7)).get_untracked(), "Edits src/lib.rs");
}

#[test]
fn news_among_agents_is_told_once_and_only_of_this_project() {
    let owner = Owner::new();
    owner.set();
    let store = Store::provide();
    let told = |topic| store.news(topic).get_untracked();
    let sent = |seq, project| Envelope {
        project_id: Some(ProjectId::new(project)),
        event: Event::MessageSent { message: 1, from: "mara".to_owned(), to: "all".to_owned(), is_cc: false },
        card: None,
        ..moved(seq, card(1, Status::Backlog))
    };
    assert_eq!(told(Topic::Messages), 0);
    store.load(board(Vec::new()));
    assert_eq!((told(Topic::Messages), told(Topic::Contracts)), (1, 1));
    for envelope in [sent(11, 1), sent(11, 1), sent(12, 2)] {
        store.apply(&envelope);
    }
    assert_eq!((told(Topic::Messages), told(Topic::Contracts)), (2, 1));
}
