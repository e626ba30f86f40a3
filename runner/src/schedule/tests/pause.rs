//! Pauses by a person: nothing new starts, agents at work go on, and no timer runs.

use std::time::Duration;

use domain::board::attention::AttentionKind::AssigneeUnresponsive;
use domain::board::status::HeldBy;
use domain::board::status::Status::{Done, InProgress, InReview};
use domain::id::ProjectId;
use domain::runs::agent_kind::AgentKind::Coder;
use domain::runs::parking::ParkReason::ServiceUnreachable;

use super::scene::{at, noon, scene, task};

#[test]
fn paused_project_starts_and_merges_nothing() {
    let board = scene([
        task(1),
        task(2).status(InProgress).retry_at(at(12, 1)),
        task(3).status(InReview),
        task(4).approved(),
        task(5).after(&[1]),
        task(6).project(3),
    ]);
    let paused = board.paused(1).slots(9, 9);
    assert_eq!(paused.actions(), ["start coder TASK-006 in backlog"], "the other project goes on");
    let reasons: Vec<String> = (1..=5).map(|number| format!("TASK-00{number}: paused by a human")).collect();
    assert_eq!(paused.wait_reasons(), reasons);
    assert_eq!(paused.schedule().next_tick_at, None, "no timer runs");
}

#[test]
fn archived_project_starts_nothing_and_says_why() {
    let archived = scene([task(1), task(2).project(3)]).archived(1).slots(9, 9);
    assert_eq!(archived.actions(), ["start coder TASK-002 in backlog"]);
    assert_eq!(archived.wait_reasons(), ["TASK-001: the project is archived"]);
}

#[test]
fn pause_leaves_work_and_decisions_as_they_are() {
    let board = scene([task(1).status(InProgress).running(Coder), task(2).held(HeldBy::Human), task(3).flagged(), task(4).status(Done).checkout()]);
    let paused = board.clone().paused(1);
    assert_eq!((paused.actions(), paused.wait_reasons()), (board.actions(), board.wait_reasons()));
    assert_eq!(paused.actions(), ["adopt RUN-001 of TASK-001", "clean TASK-004"]);
}

#[test]
fn silence_of_an_assignee_does_not_count_in_a_pause() {
    let board = scene([task(1).status(InProgress).assigned_offline("mara", Some(at(11, 30)))]);
    assert_eq!(board.actions().len(), 1, "it is unresponsive without a pause");
    assert!(board.clone().paused(1).actions().is_empty());
    let resumed = board.resumed(1, at(11, 55));
    assert!(resumed.actions().is_empty());
    assert_eq!(resumed.schedule().next_tick_at, Some(at(12, 5)), "ten minutes after the pause");
    let flagged = scene([task(1).status(InProgress).assigned_offline("mara", Some(at(11, 30))).attention(AssigneeUnresponsive)]);
    assert!(flagged.paused(1).actions().is_empty(), "an earlier flag stays");
}

/// Otherwise all agents would start at once when the pause ends, into an outage that lasts.
#[test]
fn parking_outlasts_a_pause() {
    let parked = scene([task(1), task(2)]).parked(ServiceUnreachable, noon().before(Duration::from_secs(1)));
    assert!(parked.clone().paused(1).actions().is_empty());
    assert_eq!(parked.actions().len(), 1, "one probes after the pause");
}

#[test]
fn deleted_projects_are_removed_when_nothing_is_left_of_them() {
    let mut board = scene([task(1).status(Done)]);
    assert!(board.actions().is_empty());
    board.state.removable.push(ProjectId::new(2));
    assert_eq!(board.actions(), ["remove PROJ-002"]);
}
