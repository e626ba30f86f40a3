//! Tasks that a lead assigned to an agent.

use domain::board::status::HeldBy;
use domain::board::status::Status::{Done, InProgress, InReview};
use domain::board::wait_reason::WaitReason;
use domain::runs::agent_kind::AgentKind::{Coder, Planner};

use super::scene::{at, scene, task};

#[test]
fn assigned_tasks_start_no_managed_agent() {
    let board = scene([
        task(1).assigned("mara"),
        task(2).status(InProgress).assigned("platform/mara"),
        task(3).status(InReview).assigned("mara"),
        task(4).rejected(9).assigned("mara"),
        task(5).status(InProgress).retry_at(at(12, 5)).assigned("mara"),
        task(6).phase(Planner).assigned("mara"),
    ]);
    assert!(board.actions().is_empty(), "{:?}", board.actions());
    assert_eq!(
        board.wait_reasons(),
        [
            "TASK-001: assigned to mara",
            "TASK-002: assigned to platform/mara",
            "TASK-003: submitted by mara: waiting for a lead",
            "TASK-004: assigned to mara",
            "TASK-005: assigned to mara",
            "TASK-006: assigned to mara",
        ]
    );
    assert_eq!(board.schedule().next_tick_at, None, "assigned tasks are not retried");
}

#[test]
fn other_wait_reasons_come_before_assigned() {
    let board = scene([
        task(1).held(HeldBy::Human).assigned("mara"),
        task(2).status(InProgress).flagged().assigned("mara"),
        task(3).after(&[1]).assigned("mara"),
        task(4).status(Done).assigned("mara"),
        task(5).assigned("mara").why(WaitReason::Assigned { name: "mara".to_owned() }),
    ]);
    assert_eq!(board.wait_reasons(), ["TASK-001: held until someone presses Start", "TASK-002: needs you", "TASK-003: blocked by TASK-001"]);
    assert!(board.actions().is_empty());
}

/// Approved commits of any author are merged, and a run that started before the assignment is watched to its end.
#[test]
fn assigned_task_is_merged_and_its_run_adopted() {
    let board = scene([task(1).approved().assigned("mara"), task(2).status(InProgress).running(Coder).assigned("mara")]);
    assert_eq!(board.actions(), ["adopt RUN-002 of TASK-002", "merge TASK-001"]);
}
