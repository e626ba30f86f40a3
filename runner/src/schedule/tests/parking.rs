//! Parkings: the wait reasons that cards show, and how parkings end.

use std::collections::BTreeSet;
use std::time::Duration;

use domain::board::status::HeldBy;
use domain::board::status::Status::{InProgress, InReview};
use domain::runs::agent_kind::AgentKind::{Coder, Reviewer};
use domain::runs::parking::ParkReason;
use domain::runs::parking::ParkReason::{DiskFull, RateLimited, ServiceUnreachable, SignedOut};
use domain::time::Timestamp;

use super::scene::{Scene, at, noon, scene, task};

fn in_seconds(seconds: u64) -> Timestamp {
    noon().after(Duration::from_secs(seconds))
}

/// Otherwise a parking that is renewed every few seconds would change every card, and the log.
#[test]
fn only_rate_limits_show_an_end_time() {
    let reason_of = |reason: ParkReason, until| scene([task(1)]).parked(reason, until).wait_reasons().remove(0);
    assert_eq!(reason_of(RateLimited, at(14, 5)), "TASK-001: rate limited until 14:05 UTC");
    for reason in ParkReason::ALL.iter().copied().filter(|reason| *reason != RateLimited) {
        assert_eq!(reason_of(reason, in_seconds(20)), format!("TASK-001: {}", reason.sentence()));
        assert_eq!(reason_of(reason, in_seconds(20)), reason_of(reason, in_seconds(25)), "a later check changes nothing");
    }
}

#[test]
fn cards_show_the_same_one_of_two_parkings() {
    for (one, two) in [(5, 20), (20, 5)] {
        let board = scene([task(1)]).parked(ServiceUnreachable, in_seconds(one)).parked(SignedOut, in_seconds(two));
        assert_eq!(board.wait_reasons(), ["TASK-001: the agent program is not signed in"]);
    }
}

#[test]
fn implausibly_late_end_expires() {
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
fn single_probe_detects_recovery() {
    for reason in ParkReason::ALL.iter().copied() {
        let another = if reason == RateLimited { SignedOut } else { RateLimited };
        assert!(outage(reason).busy(&[1]).slots(9, 9).parked(another, in_seconds(600)).actions().is_empty(), "another parking blocks the probe");
        let board = outage(reason).slots(9, 9);
        assert_eq!(board.actions(), ["start reviewer TASK-002 in in_review"]);
        let says = |task: &str, until: Timestamp| match reason {
            RateLimited => format!("{task}: {} until {}", reason.sentence(), until.clock()),
            _ => format!("{task}: {}", reason.sentence()),
        };
        assert_eq!(board.wait_reasons(), [says("TASK-001", noon()), says("TASK-003", noon())]);
        // The others wait while the probe starts, and while it works.
        assert!(board.busy(&[2]).actions().is_empty());
        let probing = scene([task(1), task(2).status(InReview).running(Reviewer)]).parked(reason, at(11, 0)).busy(&[2]).slots(9, 9);
        assert!(probing.actions().is_empty());
        assert_eq!(probing.wait_reasons(), [says("TASK-001", at(11, 0))]);
    }
}

/// One card that keeps failing must not block the others.
#[test]
fn probe_rotates_between_cards() {
    let turn = |late| {
        let until = noon().before(Duration::from_millis(late));
        scene([task(1), task(2), task(3)]).parked(ServiceUnreachable, until).slots(9, 9).actions()
    };
    let turns: BTreeSet<Vec<String>> = (0..3).map(turn).collect();
    let coder = |id| vec![format!("start coder TASK-00{id} in backlog")];
    assert_eq!(turns, [1, 2, 3].map(coder).into());
}

/// It may be inside a long command and prove nothing about the service for an hour.
#[test]
fn run_from_before_the_outage_is_not_a_probe() {
    let working = task(1).status(InProgress).running(Coder);
    let board = scene([working, task(2), task(3)]).parked(ServiceUnreachable, at(11, 30)).busy(&[1]).slots(9, 9);
    assert_eq!(board.actions(), ["start coder TASK-002 in backlog"]);
}

#[test]
fn parking_without_candidates_is_lifted() {
    let board = scene([task(1).held(HeldBy::Human)]).parked(ServiceUnreachable, noon()).parked(DiskFull, noon());
    assert_eq!(board.actions(), ["resume service_unreachable", "resume disk_full"]);
    assert!(scene([]).parked(ServiceUnreachable, in_seconds(5)).actions().is_empty(), "not before it expires");
}

/// It is lifted as soon as the check passes, because no run has failed.
#[test]
fn parking_of_a_check_is_checked_again() {
    for reason in ParkReason::ALL.iter().copied() {
        assert_eq!(scene([task(1)]).parked_by_check(reason, noon()).actions(), [format!("resume {reason}")]);
    }
}
