//! Orders by trigger words: nothing starts where all agents were told to stop, and orders without an answer end.

use domain::board::status::Status::{Backlog, InProgress, InReview};
use domain::id::ProjectId;
use domain::runs::agent_kind::AgentKind::Coder;
use domain::warroom::trigger::TriggerWord;

use super::scene::{at, scene, task};

#[test]
fn order_to_stop_starts_nothing_and_lets_approved_work_be_merged() {
    let tasks = [
        task(1).status(Backlog),
        task(2).status(InProgress),
        task(3).status(InReview),
        task(4).approved(),
        task(5).status(InProgress).running(Coder),
        task(6).project(3),
    ];
    let mut board = scene(tasks).slots(9, 9).busy(&[5]);
    board.state.stop_orders.insert(ProjectId::new(1), (TriggerWord::Retreat, "lena".to_owned()));
    assert_eq!(board.actions(), ["merge TASK-004", "start coder TASK-006 in backlog"], "the other project goes on");
    let reason = "lena ordered retreat: nothing starts until the order is withdrawn";
    let mut expected: Vec<String> = [1, 2, 3].iter().map(|number| format!("TASK-00{number}: {reason}")).collect();
    expected.push("TASK-004: approved: waiting for the merge".to_owned());
    let mut reasons = board.wait_reasons();
    reasons.sort();
    assert_eq!(reasons, expected);
    board.state.stop_orders.clear();
    assert_eq!(board.actions().len(), 5);
}

#[test]
fn order_without_an_answer_ends_in_time() {
    let mut board = scene([task(1)]);
    board.state.due_triggers = vec![(7, at(12, 5))];
    assert_eq!(board.schedule().next_tick_at, Some(at(12, 5)));
    board.state.due_triggers = vec![(7, at(11, 59))];
    assert!(board.actions().contains(&"expire trigger 7".to_owned()), "{:?}", board.actions());
}

#[test]
fn tasks_of_a_zone_that_comes_first_start_first() {
    let mut board = scene([task(1).files(&["docs/"]), task(2).priority(5), task(3).files(&["src/audio/mix.rs"]), task(4).project(2)]).slots(9, 9);
    assert_eq!(board.actions()[0], "start coder TASK-002 in backlog");
    board.state.hot_zones.insert(ProjectId::new(1), vec!["src/audio/".parse().unwrap()]);
    assert_eq!(board.actions()[0], "start coder TASK-003 in backlog");
    assert_eq!(board.actions().len(), 4);
}
