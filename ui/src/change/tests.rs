//! The words about several changes, which changes a card offers, and the way back from each.

use domain::wire::Problem;

use super::*;
use crate::testing;

fn before(card: Card) -> Option<Before> {
    Some(Before { card, place: Some(NewPlace { before: Some(TaskId::new(9)), after: None }) })
}

fn refusal(detail: &str, hint: &str) -> Failure {
    Failure::Refused(Box::new(Problem::new(409, "", detail.to_owned(), hint.to_owned())))
}

fn to(status: Status) -> Change {
    Change::Patch(TaskPatch { status: Some(status), ..TaskPatch::default() })
}

#[test]
fn answers_about_several_tasks_become_one_report() {
    let mut outcome = Outcome::default();
    for number in [1, 2] {
        let step = (TaskId::new(number), to(Status::InProgress), before(testing::card(number, Status::Backlog)));
        assert!(outcome.record(step, Ok((Some(Status::InProgress), None))));
    }
    let refused = (TaskId::new(3), to(Status::InProgress), None);
    assert!(outcome.record(refused, Err(refusal("TASK-003 is blocked by TASK-009", "wait for it"))));
    assert!(outcome.record((TaskId::new(4), Change::Start, None), Err(refusal("it is finished", "reopen it"))));
    assert_eq!(outcome.heading(), "2 tasks moved to In progress");
    assert_eq!(outcome.details(), "TASK-003 is blocked by TASK-009. Wait for it.\nTASK-004: It is finished. Reopen it.");
    assert_eq!(outcome.undo, [1, 2].map(|number| (TaskId::new(number), to(Status::Backlog))));
    assert!(!outcome.record((TaskId::new(5), Change::Start, None), Err(Failure::Unreachable("Gone.".to_owned()))), "the others are not sent");
}

#[test]
fn answer_about_one_task_names_it() {
    let mut outcome = Outcome::default();
    outcome.record((TaskId::new(1), to(Status::Done), None), Ok((Some(Status::InReview), Some("the merge is queued".to_owned()))));
    assert_eq!(outcome.heading(), "TASK-001 moved to In review: the merge is queued");
    let mut outcome = Outcome::default();
    outcome.record((TaskId::new(1), Change::Start, None), Err(refusal("TASK-001 is finished", "reopen it")));
    assert_eq!((outcome.heading(), outcome.details()), ("TASK-001 is finished".to_owned(), "Reopen it.".to_owned()));
    for number in 2..9 {
        outcome.record((TaskId::new(number), Change::Start, None), Err(refusal("no", "")));
    }
    assert_eq!((outcome.heading().as_str(), outcome.details().lines().last()), ("8 tasks could not be changed", Some("4 more were refused.")));
}

#[test]
fn changes_are_undone_where_a_person_may() {
    let back = |change: Change, card: Card, status: Option<Status>| change.way_back(&before(card).unwrap(), status);
    let status = |from: Status, now: Status| back(to(now), testing::card(1, from), Some(now));
    assert_eq!(status(Status::Backlog, Status::InProgress), Some(to(Status::Backlog)));
    assert_eq!(status(Status::InProgress, Status::Cancelled), None, "a cancelled task only returns to the backlog");
    assert_eq!(status(Status::Backlog, Status::Cancelled), Some(to(Status::Backlog)));
    let waiting = testing::card(1, Status::Backlog);
    assert_eq!(back(Change::Start, waiting.clone(), None), Some(Change::Hold));
    assert_eq!(back(Change::priority(1), waiting.clone(), None), Some(Change::priority(0)));
    assert_eq!(back(Change::priority(0), waiting.clone(), None), None, "nothing changed");
    let place = NewPlace { before: None, after: Some(TaskId::new(4)) };
    assert_eq!(back(Change::Reorder(place), waiting, None), Some(Change::Reorder(before(testing::card(1, Status::Backlog)).unwrap().place.unwrap())));
}

#[test]
fn place_is_named_by_a_neighbour() {
    let column: Vec<TaskId> = [3, 1, 2].map(TaskId::new).into();
    assert_eq!(place_in(&column, &TaskId::new(3)), Some(NewPlace { before: Some(TaskId::new(1)), after: None }));
    assert_eq!(place_in(&column, &TaskId::new(2)), Some(NewPlace { before: None, after: Some(TaskId::new(1)) }));
    assert_eq!((place_in(&column[..1], &TaskId::new(3)), place_in(&column, &TaskId::new(7))), (None, None));
}

#[test]
fn card_offers_start_or_hold() {
    let free = testing::card(1, Status::Backlog);
    let held = Card { held_by: Some(HeldBy::Human), ..free.clone() };
    let offered = |card: &Card| [Change::Start, Change::Hold, Change::priority(1)].map(|change| change.is_offered(card));
    assert_eq!((offered(&free), offered(&held)), ([false, true, true], [true, false, true]));
    assert_eq!(offered(&testing::card(1, Status::Done)), [false; 3]);
}
