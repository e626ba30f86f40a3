//! External assignees that stop responding: when their task is flagged, and when the flag is cleared.

use domain::board::attention::AttentionKind::{AssigneeUnresponsive, Conflict};
use domain::board::status::HeldBy;
use domain::board::status::Status::{Done, InProgress, InReview};
use domain::runs::agent_kind::AgentKind::Coder;

use super::scene::{Draft, at, noon, scene, task};

/// The actions for one task.
fn actions(draft: Draft) -> Vec<String> {
    scene([draft]).actions()
}

const UNRESPONSIVE: &str = "flag TASK-001, mara is unresponsive: Assigned to mara, unresponsive since 11:50 UTC. \
    Wake mara, assign another agent, or unassign the task and press Start.";

#[test]
fn assignee_is_flagged_after_ten_minutes() {
    for waiting in [task(1), task(1).status(InProgress)] {
        let board = scene([waiting.assigned_offline("mara", Some(at(11, 50)))]);
        assert_eq!(board.actions(), [UNRESPONSIVE]);
        assert_eq!(board.wait_reasons(), ["TASK-001: needs you"]);
    }
    let almost = scene([task(1).assigned_offline("mara", Some(at(11, 51))), task(2).assigned_offline("ole", Some(at(11, 59)))]);
    assert!(almost.actions().is_empty());
    assert_eq!(almost.wait_reasons(), ["TASK-001: assigned to mara", "TASK-002: assigned to ole"]);
    assert_eq!(almost.schedule().next_tick_at, Some(at(12, 1)), "a missing heartbeat is not an event");
}

#[test]
fn unknown_assignee_gets_ten_minutes_from_assignment() {
    let ahead = |minute| task(1).assigned_offline("mara", None).updated(at(11, minute));
    let detail = "Assigned to mara, not connected yet. Start mara, assign another agent, or unassign the task and press Start.";
    assert_eq!(actions(ahead(50)), [format!("flag TASK-001, mara is unresponsive: {detail}")]);
    assert!(actions(ahead(51)).is_empty());
    assert_eq!(scene([ahead(55)]).schedule().next_tick_at, Some(at(12, 5)));
    // The flag updates the task, but is not a heartbeat.
    assert!(actions(ahead(59).attention(AssigneeUnresponsive)).is_empty());
}

#[test]
fn connected_or_idle_assignee_is_not_flagged() {
    let unresponsive = |draft: Draft| draft.assigned_offline("mara", Some(at(3, 0)));
    let mut board = scene([
        unresponsive(task(1)).held(HeldBy::Human),
        unresponsive(task(2)).after(&[1]),
        unresponsive(task(3)).status(InReview),
        unresponsive(task(4)).status(Done),
        unresponsive(task(5)).status(InProgress).flagged(),
        unresponsive(task(6)).status(InProgress).attention(AssigneeUnresponsive),
        unresponsive(task(7)).status(InProgress).running(Coder),
        task(8).status(InProgress).assigned("mara"),
    ])
    .busy(&[7]);
    board.config.limits.run_minutes = None;
    assert!(board.actions().is_empty(), "{:?}", board.actions());
    assert_eq!(board.schedule().next_tick_at, None);
}

#[test]
fn flag_clears_when_assignee_responds_or_is_not_needed() {
    let flagged = |draft: Draft| draft.attention(AssigneeUnresponsive);
    let unresponsive = |draft: Draft| flagged(draft.assigned_offline("mara", Some(at(3, 0))));
    let board = scene([
        flagged(task(1).assigned("mara")),
        flagged(task(2).status(InProgress).assigned_offline("mara", Some(at(11, 58)))),
        unresponsive(task(3)).held(HeldBy::Stop),
        unresponsive(task(4)).after(&[3]),
        unresponsive(task(5)).approved(),
        flagged(task(6)),
        unresponsive(task(7)),
        task(8).assigned("mara").attention(Conflict),
    ]);
    assert_eq!(board.actions(), [1, 2, 3, 4, 5, 6].map(|number| format!("clear the assignee flag of TASK-{number:03}")));
    assert_eq!(board.wait_reasons().len(), 8, "until then all of them need attention: {:?}", board.wait_reasons());
}

/// Agents that were connected to the previous server may not be back yet.
#[test]
fn restart_changes_no_flags() {
    let unresponsive = || task(1).assigned_offline("mara", Some(at(3, 0)));
    for known in [unresponsive(), unresponsive().attention(AssigneeUnresponsive)] {
        let board = scene([known]).tracking_since(at(11, 55));
        assert!(board.actions().is_empty());
        assert_eq!(board.schedule().next_tick_at, Some(at(12, 5)));
    }
    assert_eq!(scene([unresponsive()]).tracking_since(at(11, 50)).actions().len(), 1);
    assert_eq!(
        scene([task(1).assigned("mara").attention(AssigneeUnresponsive)]).tracking_since(noon()).actions(),
        ["clear the assignee flag of TASK-001"]
    );
}

#[test]
fn handshake_completes_when_all_targets_are_unresponsive() {
    let board = scene([]).unanswered(2, noon()).unanswered(3, at(12, 4)).unanswered(4, at(11, 0));
    assert_eq!(board.actions(), ["complete handshake 2", "complete handshake 4"]);
    assert_eq!(board.schedule().next_tick_at, Some(at(12, 4)));
}
