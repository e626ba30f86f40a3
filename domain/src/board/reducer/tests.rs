//! The effect of single events on a board.

use super::*;
use crate::actor::Actor;
use crate::board::project::tests::{card, project};
use crate::board::task::event::TaskEvent;
use crate::runs::agent_kind::AgentKind;
use crate::time::Timestamp;

fn envelope(seq: Seq, card: Option<Card>, project: Option<Project>) -> Envelope {
    Envelope {
        seq,
        at: Timestamp::from_milliseconds(0),
        project_id: Some(self::project().id),
        task_id: card.as_ref().map(|card| card.id.clone()),
        run_id: None,
        actor: Actor::Runner,
        event: TaskEvent::Released {}.into(),
        card,
        project,
    }
}

fn board() -> Board {
    Board { project: project(), cards: Vec::new(), seq: 0, epoch: "epoch".to_owned() }
}

fn numbers(cards: &[&Card]) -> Vec<u64> {
    cards.iter().map(|card| card.id.number()).collect()
}

#[test]
fn cards_are_kept_in_id_order() {
    let mut board = board();
    for (seq, number) in [(1, 2), (2, 1000), (3, 1), (4, 999)] {
        let change = board.apply(&envelope(seq, Some(card(number, AgentKind::Coder, Status::Backlog)), None));
        assert_eq!(change, BoardChange::Card(TaskId::new(number)));
    }
    assert_eq!(numbers(&board.cards.iter().collect::<Vec<_>>()), [1, 2, 999, 1000]);
    let moved = card(999, AgentKind::Coder, Status::Done);
    board.apply(&envelope(5, Some(moved.clone()), None));
    assert_eq!((board.cards.len(), board.seq), (4, 5));
    assert_eq!(board.card(&TaskId::new(999)), Some(&moved));
    assert_eq!(board.card(&TaskId::new(3)), None);
}

#[test]
fn old_events_and_other_projects_change_nothing() {
    let mut board = board();
    board.apply(&envelope(7, Some(card(1, AgentKind::Coder, Status::Backlog)), None));
    let before = board.clone();
    assert_eq!(board.apply(&envelope(7, Some(card(1, AgentKind::Coder, Status::Done)), None)), BoardChange::None);
    assert_eq!(board.apply(&envelope(6, Some(card(2, AgentKind::Coder, Status::Done)), None)), BoardChange::None);
    assert_eq!(board, before);
    for project_id in [None, Some("PROJ-002".parse().unwrap())] {
        let other = Envelope { project_id, ..envelope(board.seq + 1, Some(card(2, AgentKind::Coder, Status::Done)), Some(project())) };
        assert_eq!(board.apply(&other), BoardChange::None);
    }
    assert_eq!(board, Board { seq: 9, ..before }, "the number of the last event advances");
}

#[test]
fn project_event_replaces_the_project() {
    let mut board = board();
    let renamed = Project { title: "Renamed".to_owned(), ..project() };
    assert_eq!(board.apply(&envelope(1, None, Some(renamed.clone()))), BoardChange::Project);
    assert_eq!(board.project, renamed);
    assert_eq!(board.apply(&envelope(2, None, None)), BoardChange::None);
}

#[test]
fn columns_sort_by_priority_or_finish_time() {
    let mut board = board();
    let backlog = |number, priority| Card { priority, ..card(number, AgentKind::Coder, Status::Backlog) };
    let done = |number, at| Card { updated_at: Timestamp::from_milliseconds(at), ..card(number, AgentKind::Coder, Status::Done) };
    board.cards = vec![backlog(1, 0), backlog(2, 5), backlog(3, 0), done(4, 10), done(5, 30), done(6, 20)];
    assert_eq!(numbers(&board.column(Status::Backlog)), [2, 1, 3]);
    assert_eq!(numbers(&board.column(Status::Done)), [5, 6, 4]);
    assert_eq!(numbers(&board.column(Status::InReview)), [0u64; 0]);
    let counts: Vec<usize> = board.counts().into_values().collect();
    assert_eq!(counts, [3, 0, 0, 3, 0], "every column is counted");
    board.cards[0].held_by = Some(HeldBy::Plan);
    board.cards[2].held_by = Some(HeldBy::Human);
    assert_eq!(numbers(&board.plan()), [1]);
}

#[test]
fn added_cards_keep_order_and_known_cards() {
    let mut board = board();
    board.cards = vec![card(1, AgentKind::Coder, Status::Backlog), card(4, AgentKind::Coder, Status::Done)];
    let added = board.add(vec![card(3, AgentKind::Coder, Status::Done), card(1, AgentKind::Coder, Status::Done)]);
    assert_eq!(numbers(&added.iter().collect::<Vec<_>>()), [3]);
    assert_eq!(numbers(&board.cards.iter().collect::<Vec<_>>()), [1, 3, 4]);
    assert_eq!(board.cards[0].status, Status::Backlog);
}

#[test]
fn board_of_all_projects_has_open_cards_only() {
    let open = |number| card(number, AgentKind::Coder, Status::Backlog);
    let mut board = OpenBoard::new(vec![open(4), open(2), open(4)], 3);
    assert_eq!(numbers(&board.cards.iter().collect::<Vec<_>>()), [2, 4], "a card of two pages is there once");
    assert_eq!(board.apply(&envelope(3, Some(open(9)), None)), BoardChange::None, "it is part of the pages");
    let other = Envelope { project_id: Some(crate::id::ProjectId::new(7)), ..envelope(4, Some(open(3)), None) };
    assert_eq!(board.apply(&other), BoardChange::Card(TaskId::new(3)));
    let done = card(2, AgentKind::Coder, Status::Done);
    assert_eq!(board.apply(&envelope(5, Some(done.clone()), None)), BoardChange::Card(TaskId::new(2)));
    assert_eq!(board.apply(&envelope(6, Some(done), None)), BoardChange::None);
    assert_eq!(board.apply(&envelope(7, Some(open(2)), None)), BoardChange::Card(TaskId::new(2)), "it was moved back");
    assert_eq!(numbers(&column(&board.cards, Status::Backlog)), [2, 3, 4]);
}
