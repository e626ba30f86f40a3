//! Tasks of oracles: they start before other work, count like any other agent, and wait for the same reasons.

use domain::board::status::Status::{InProgress, InReview};
use domain::runs::agent_kind::AgentKind::{Coder, Oracle, Planner};
use domain::runs::parking::ParkReason::RateLimited;

use super::scene::{at, scene, task};

#[test]
fn oracle_starts_first_because_someone_waits_for_it() {
    let board = scene([task(1), task(2).status(InReview), task(3).phase(Planner), task(4).phase(Oracle), task(5).phase(Oracle).status(InProgress)]);
    assert_eq!(board.slots(2, 9).actions(), ["start oracle TASK-004 in backlog", "start oracle TASK-005 in in_progress"]);
}

#[test]
fn oracle_counts_to_the_agents_of_the_machine() {
    let full = scene([task(1).status(InProgress).running(Coder), task(2).phase(Oracle)]).slots(1, 1);
    assert_eq!(
        (full.actions(), full.wait_reasons()),
        (vec!["adopt RUN-001 of TASK-001".to_owned()], vec!["TASK-002: no free slot: 1 agents running".to_owned()])
    );
    let answering = scene([task(1), task(2).phase(Oracle).status(InProgress).running(Oracle)]).slots(1, 1);
    assert_eq!(answering.wait_reasons(), ["TASK-001: no free slot: 1 agents running"]);
}

#[test]
fn oracle_waits_for_what_others_wait_for() {
    let board = scene([task(1).phase(Oracle), task(2).phase(Oracle).status(InProgress).retry_at(at(12, 1))]).slots(9, 9);
    assert_eq!(board.clone().paused(1).wait_reasons(), ["TASK-001: paused by a human", "TASK-002: paused by a human"]);
    assert_eq!(board.clone().archived(1).wait_reasons(), ["TASK-001: the project is archived", "TASK-002: the project is archived"]);
    let parked = board.clone().parked(RateLimited, at(12, 30));
    assert!(parked.actions().is_empty());
    assert!(parked.wait_reasons().contains(&"TASK-001: rate limited until 12:30 UTC".to_owned()), "{:?}", parked.wait_reasons());
    assert_eq!(board.actions(), ["start oracle TASK-001 in backlog"], "after a failure it waits");
    assert_eq!(board.schedule().next_tick_at, Some(at(12, 1)));
}
