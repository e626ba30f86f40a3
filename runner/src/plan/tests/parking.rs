//! Reasons that keep every agent from starting: what cards say of them, and how they end.

use std::collections::BTreeSet;
use std::time::Duration;

use domain::board::status::HeldBy;
use domain::board::status::Status::{InProgress, InReview};
use domain::runs::agent_kind::AgentKind::{Coder, Reviewer};
use domain::runs::parking::ParkReason;
use domain::runs::parking::ParkReason::{DiskFull, McpNotConnected, ProgramMissing, RateLimited, RootRefused, ServiceUnreachable, SignedOut};
use domain::time::Timestamp;

use super::scene::{Scene, at, noon, scene, task};

fn in_seconds(seconds: u64) -> Timestamp {
    noon().after(Duration::from_secs(seconds))
}

/// Boards whose parking is found again every few seconds would say so on every card, and in the log.
#[test]
fn cards_say_until_when_only_where_that_is_worth_waiting_for() {
    let why = |reason: ParkReason, until| scene([task(1)]).parked(reason, until).whys().remove(0);
    assert_eq!(why(RateLimited, at(14, 5)), "TASK-001: rate limited until 14:05 UTC");
    for reason in [SignedOut, ProgramMissing, RootRefused, McpNotConnected, ServiceUnreachable, DiskFull] {
        assert_eq!(why(reason, in_seconds(20)), format!("TASK-001: {}", reason.sentence()));
        assert_eq!(why(reason, in_seconds(20)), why(reason, in_seconds(25)), "it is no news that it is looked at later");
    }
}

#[test]
fn of_two_reasons_the_same_one_is_told_whichever_lasts_longer() {
    for (one, two) in [(5, 20), (20, 5)] {
        let board = scene([task(1)]).parked(ServiceUnreachable, in_seconds(one)).parked(SignedOut, in_seconds(two));
        assert_eq!(board.whys(), ["TASK-001: the agent program is not signed in"]);
    }
}

#[test]
fn what_a_clock_put_hours_ahead_is_over_when_it_is_set_right() {
    for reason in ParkReason::ALL.iter().copied().filter(|reason| *reason != RateLimited) {
        let board = scene([task(1)]).parked(reason, at(15, 0));
        assert_eq!(board.actions(), [format!("resume {reason}")]);
    }
    // A limit may last for days.
    assert!(scene([task(1)]).parked(RateLimited, at(15, 0)).actions().is_empty());
}

fn outage(reason: ParkReason) -> Scene {
    scene([task(1), task(2).status(InReview), task(3)]).parked(reason, in_seconds(0))
}

#[test]
fn one_agent_finds_out_for_all_whether_the_service_or_the_disk_is_back() {
    for reason in [ServiceUnreachable, DiskFull] {
        assert!(outage(reason).busy(&[1]).slots(9, 9).parked(RateLimited, at(13, 0)).actions().is_empty(), "nobody while another reason holds");
        let board = outage(reason).slots(9, 9);
        assert_eq!(board.actions(), ["start reviewer TASK-002 in in_review"]);
        let waiting = [format!("TASK-001: {}", reason.sentence()), format!("TASK-003: {}", reason.sentence())];
        assert_eq!(board.whys(), waiting);
        // About to be at work, then at work: the others wait on.
        assert!(board.busy(&[2]).actions().is_empty());
        let trial = scene([task(1), task(2).status(InReview).running(Reviewer)]).parked(reason, at(11, 0)).busy(&[2]).slots(9, 9);
        assert!(trial.actions().is_empty());
        assert_eq!(trial.whys(), [format!("TASK-001: {}", reason.sentence())]);
    }
}

/// What fails for one card alone, however often, must not keep all others waiting.
#[test]
fn whose_turn_it_is_to_find_out_changes() {
    let turn = |late| {
        let until = noon().before(Duration::from_millis(late));
        scene([task(1), task(2), task(3)]).parked(ServiceUnreachable, until).slots(9, 9).actions()
    };
    let turns: BTreeSet<Vec<String>> = (0..3).map(turn).collect();
    let coder = |id| vec![format!("start coder TASK-00{id} in backlog")];
    assert_eq!(turns, [1, 2, 3].map(coder).into());
}

/// It may wait in a long command, and say nothing about the service for an hour.
#[test]
fn an_agent_that_began_before_the_outage_is_not_waited_for() {
    let working = task(1).status(InProgress).running(Coder);
    let board = scene([working, task(2), task(3)]).parked(ServiceUnreachable, at(11, 30)).busy(&[1]).slots(9, 9);
    assert_eq!(board.actions(), ["start coder TASK-002 in backlog"]);
}

#[test]
fn a_reason_for_which_nobody_waits_is_forgotten() {
    let board = scene([task(1).held(HeldBy::Human)]).parked(ServiceUnreachable, noon()).parked(DiskFull, noon());
    assert_eq!(board.actions(), ["resume service_unreachable", "resume disk_full"]);
    assert!(scene([]).parked(ServiceUnreachable, in_seconds(5)).actions().is_empty(), "not before its time");
}
