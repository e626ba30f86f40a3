//! The rules of the plan, a table each: who starts, who waits and why, and what else is done.

mod parking;
mod property;
mod scene;
mod silence;

use std::time::Duration;

use domain::board::status::CancelReason::{Abandoned, Duplicate, Failed, Obsolete};
use domain::board::status::HeldBy;
use domain::board::status::Status::{Backlog, Done, InProgress, InReview};
use domain::board::wait_reason::WaitReason;
use domain::runs::agent_kind::AgentKind::{Coder, Orchestrator, Planner, Reviewer};
use domain::runs::parking::ParkReason;

use scene::{at, noon, scene, task};

#[test]
fn finishing_goes_before_beginning() {
    let board = scene([
        task(1),
        task(2).phase(Planner).status(InProgress),
        task(3).phase(Orchestrator).status(InProgress),
        task(4).status(InProgress),
        task(5).status(InReview),
    ]);
    assert_eq!(
        board.clone().slots(9, 1).actions(),
        [
            "start reviewer TASK-005 in in_review",
            "start coder TASK-004 in in_progress",
            "start orchestrator TASK-003 in in_progress",
            "start planner TASK-002 in in_progress",
            "start coder TASK-001 in backlog",
        ]
    );
    let board = board.slots(2, 1);
    assert_eq!(board.actions(), ["start reviewer TASK-005 in in_review", "start coder TASK-004 in in_progress"]);
    assert_eq!(board.whys(), ["TASK-003: no free slot: 2 at work", "TASK-002: no free slot: 2 at work", "TASK-001: no free slot: 2 at work"]);
}

#[test]
fn within_a_rank_priority_goes_first_then_age() {
    let board = scene([task(1000), task(999), task(3).priority(-1), task(2), task(7).priority(5)]).slots(9, 1);
    let order: Vec<String> = board.actions().iter().map(|action| action.replace("start coder ", "").replace(" in backlog", "")).collect();
    assert_eq!(order, ["TASK-007", "TASK-002", "TASK-999", "TASK-1000", "TASK-003"]);
}

#[test]
fn agents_of_every_phase_and_those_about_to_start_take_slots() {
    let working = [task(1).phase(Planner).status(InProgress).running(Planner), task(2).status(InReview).running(Reviewer)];
    let board = scene(working.into_iter().chain([task(3).status(InProgress), task(4), task(5)])).slots(4, 1).busy(&[1, 2, 3]);
    assert_eq!(board.actions(), ["start coder TASK-004 in backlog"]);
    assert_eq!(board.whys(), ["TASK-005: no free slot: 4 at work"]);
}

#[test]
fn merging_and_cleaning_take_no_slot() {
    let board = scene([task(1).approved(), task(2).status(Done).checkout(), task(3)]).slots(1, 1).busy(&[1, 2]);
    assert_eq!(board.actions(), ["start coder TASK-003 in backlog"]);
}

#[test]
fn more_runs_than_slots_start_nothing() {
    let board = scene([task(1).status(InProgress).running(Coder), task(2).status(InProgress).running(Coder), task(3)]).slots(1, 1).busy(&[1, 2]);
    assert!(board.actions().is_empty());
}

#[test]
fn one_reviewer_at_a_time() {
    let waiting = || task(2).status(InReview);
    let first = scene([task(1).status(InReview), waiting(), task(3)]).slots(3, 1);
    assert_eq!(first.actions(), ["start reviewer TASK-001 in in_review", "start coder TASK-003 in backlog"]);
    assert_eq!(first.whys(), ["TASK-002: waits for the reviewer at work"]);
    let at_work = scene([task(1).status(InReview).running(Reviewer), waiting()]).slots(3, 1).busy(&[1]);
    assert_eq!(at_work.whys(), ["TASK-002: waits for the reviewer at work"]);
    let about_to_start = scene([task(1).status(InReview), waiting()]).slots(3, 1).busy(&[1]);
    assert_eq!(about_to_start.whys(), ["TASK-002: waits for the reviewer at work"]);
    // Its card went back already, and the reviewer is not gone yet.
    let leaving = scene([task(1).status(InProgress).running(Reviewer), waiting()]).slots(3, 1).busy(&[1]);
    assert_eq!(leaving.whys(), ["TASK-002: waits for the reviewer at work"]);
    assert_eq!(scene([task(1).status(InReview), waiting()]).slots(3, 2).actions().len(), 2);
    // A coder whose card is in review already is no reviewer.
    let handed_in = scene([task(1).status(InReview).running(Coder), waiting()]).slots(3, 1).busy(&[1]);
    assert_eq!(handed_in.actions(), ["start reviewer TASK-002 in in_review"]);
}

#[test]
fn what_a_person_keeps_or_must_settle_is_left_alone() {
    let board = scene([
        task(1).held(HeldBy::Human),
        task(2).held(HeldBy::Plan),
        task(3).status(InProgress).held(HeldBy::Stop),
        task(4).status(InReview).needs_person(),
        task(5).approved().held(HeldBy::Stop),
        task(6).approved().needs_person(),
    ]);
    assert!(board.actions().is_empty());
    assert_eq!(
        board.whys(),
        [
            "TASK-001: held by you: press Start",
            "TASK-002: held until you start the plan",
            "TASK-003: stopped by you: press Start or Retry",
            "TASK-004: needs you",
            "TASK-005: stopped by you: press Start or Retry",
            "TASK-006: needs you",
        ]
    );
}

#[test]
fn what_an_agent_from_outside_has_is_left_to_it() {
    let board = scene([
        task(1).assigned("mara"),
        task(2).status(InProgress).assigned("platform/mara"),
        task(3).status(InReview).assigned("mara"),
        task(4).sent_back(9).assigned("mara"),
        task(5).status(InProgress).retry_at(at(12, 5)).assigned("mara"),
        task(6).phase(Planner).assigned("mara"),
    ]);
    assert!(board.actions().is_empty(), "{:?}", board.actions());
    assert_eq!(
        board.whys(),
        [
            "TASK-001: assigned to mara",
            "TASK-002: assigned to platform/mara",
            "TASK-003: handed in by mara: waits for a lead's approval",
            "TASK-004: assigned to mara",
            "TASK-005: assigned to mara",
            "TASK-006: assigned to mara",
        ]
    );
    assert_eq!(board.plan().look_again, None, "nothing is tried again for it");
}

#[test]
fn that_a_task_is_assigned_is_said_only_when_nothing_else_keeps_it() {
    let board = scene([
        task(1).held(HeldBy::Human).assigned("mara"),
        task(2).status(InProgress).needs_person().assigned("mara"),
        task(3).after(&[1]).assigned("mara"),
        task(4).status(Done).assigned("mara"),
        task(5).assigned("mara").why(WaitReason::Assigned { name: "mara".to_owned() }),
    ]);
    assert_eq!(board.whys(), ["TASK-001: held by you: press Start", "TASK-002: needs you", "TASK-003: blocked by TASK-001"]);
    assert!(board.actions().is_empty());
}

/// A commit that was approved is merged, whoever wrote it; a run that began before the assignment is watched to its end.
#[test]
fn an_assigned_task_is_merged_and_its_run_watched() {
    let board = scene([task(1).approved().assigned("mara"), task(2).status(InProgress).running(Coder).assigned("mara")]);
    assert_eq!(board.actions(), ["adopt RUN-002 of TASK-002", "merge TASK-001"]);
}

#[test]
fn a_task_waits_for_what_it_builds_on() {
    let board = scene([
        task(1).status(Done),
        task(2).cancelled(Obsolete),
        task(3).cancelled(Duplicate),
        task(4).cancelled(Failed),
        task(5).cancelled(Abandoned),
        task(6).status(InReview).running(Reviewer),
        task(7).after(&[1, 2, 3]),
        task(8).after(&[1, 4, 5, 6]),
        task(9).after(&[404]),
    ])
    .busy(&[6]);
    assert_eq!(board.actions(), ["start coder TASK-007 in backlog"]);
    assert_eq!(board.whys(), ["TASK-008: blocked by TASK-004, TASK-005, TASK-006", "TASK-009: blocked by TASK-404"]);
}

#[test]
fn a_person_may_start_a_task_before_its_dependencies() {
    let board = scene([task(1).held(HeldBy::Human), task(2).status(InProgress).after(&[1])]);
    assert_eq!(board.actions(), ["start coder TASK-002 in in_progress"]);
}

#[test]
fn children_wait_until_their_plan_is_done() {
    let child = || task(2).parent(1);
    for open in [Backlog, InProgress] {
        let board = scene([task(1).phase(Planner).status(open).running(Planner), child()]).busy(&[1]);
        assert_eq!(board.whys(), ["TASK-002: waits for the plan TASK-001"], "{open}");
    }
    // Given up in the middle: half a plan does not begin.
    let given_up = scene([task(1).phase(Planner).cancelled(Obsolete), child()]);
    assert_eq!(given_up.whys(), ["TASK-002: waits for the plan TASK-001"]);
    assert_eq!(scene([task(1).phase(Planner).status(Done), child()]).actions(), ["start coder TASK-002 in backlog"]);
    // A parent that is no plan is nothing to wait for.
    assert_eq!(scene([task(1).held(HeldBy::Human), child()]).actions(), ["start coder TASK-002 in backlog"]);
}

#[test]
fn a_failed_task_is_tried_again_at_its_time() {
    let board = scene([task(1).status(InProgress).retry_at(at(12, 5)), task(2).retry_at(at(12, 3)), task(3).retry_at(noon())]);
    assert_eq!(board.actions(), ["start coder TASK-003 in backlog"]);
    assert_eq!(
        board.whys(),
        ["TASK-001: tried again at 12:05 UTC (the agent's process crashed)", "TASK-002: tried again at 12:03 UTC (the agent's process crashed)"]
    );
    assert_eq!(board.plan().look_again, Some(at(12, 3)));
    assert_eq!(scene([task(1)]).plan().look_again, None);
    // Reckoned by a clock that was hours ahead, and is not now.
    let set_back = scene([task(1).status(InProgress).retry_at(at(15, 0))]);
    assert_eq!(set_back.actions(), ["start coder TASK-001 in in_progress"]);
}

#[test]
fn a_parking_keeps_every_agent_from_starting() {
    let board = scene([
        task(1).phase(Planner).status(InProgress),
        task(2).status(InReview),
        task(3),
        task(4).held(HeldBy::Human),
        task(5).approved(),
        task(6).status(Done).checkout(),
    ])
    .parked(ParkReason::RateLimited, at(12, 30))
    .parked(ParkReason::SignedOut, noon().after(Duration::from_secs(20)));
    assert_eq!(board.actions(), ["clean TASK-006", "merge TASK-005"]);
    assert_eq!(
        board.whys(),
        [
            "TASK-004: held by you: press Start",
            "TASK-005: approved: waits to be merged",
            "TASK-002: rate limited until 12:30 UTC",
            "TASK-001: rate limited until 12:30 UTC",
            "TASK-003: rate limited until 12:30 UTC",
        ]
    );
    assert_eq!(board.plan().look_again, Some(noon().after(Duration::from_secs(20))));
}

/// Whether its cause is gone is looked at when it is resumed, and the plan after that starts agents.
#[test]
fn a_parking_whose_time_is_over_is_resumed_before_anything_starts() {
    let board = scene([task(1)]).parked(ParkReason::SignedOut, noon());
    assert_eq!(board.actions(), ["resume signed_out"]);
    assert_eq!(board.plan().look_again, None);
}

#[test]
fn one_merge_at_a_time_in_each_repository() {
    let approved = || [task(1).approved(), task(2).approved().project(2), task(3).approved().project(3), task(4).approved()];
    let board = scene(approved());
    assert_eq!(board.actions(), ["merge TASK-001", "merge TASK-003"]);
    assert_eq!(board.whys().len(), 4, "all of them wait: {:?}", board.whys());
    let under_way = scene(approved().map(|draft| draft.why(WaitReason::MergeQueued))).busy(&[2]);
    assert_eq!(under_way.actions(), ["merge TASK-003"]);
    assert!(under_way.whys().is_empty(), "nothing new is said: {:?}", under_way.whys());
}

#[test]
fn an_approved_task_is_merged_when_its_reviewer_is_gone() {
    let board = scene([task(1).approved().running(Reviewer)]).busy(&[1]);
    assert!(board.actions().is_empty());
}

#[test]
fn a_checkout_is_cleaned_when_its_task_is_finished_and_nobody_works_in_it() {
    let board = scene([
        task(1).status(Done).checkout(),
        task(2).cancelled(Failed).checkout(),
        task(3).status(Done),
        task(4).status(InReview).checkout().held(HeldBy::Stop),
        task(5).status(Done).checkout(),
        task(6).cancelled(Obsolete).checkout().stopping(Coder),
    ])
    .busy(&[5, 6]);
    assert_eq!(board.actions(), ["clean TASK-001", "clean TASK-002"]);
}

#[test]
fn a_run_that_nobody_watches_is_taken_over() {
    let board = scene([
        task(1).status(InProgress).running(Coder),
        task(2).status(InProgress).running(Coder),
        task(3).status(Done).checkout().stopping(Coder),
        task(4),
    ])
    .busy(&[2]);
    assert_eq!(board.actions(), ["adopt RUN-001 of TASK-001", "adopt RUN-003 of TASK-003"]);
}

#[test]
fn a_task_that_was_sent_back_too_often_needs_a_person() {
    let board = scene([task(1).sent_back(3), task(2).sent_back(4), task(3).sent_back(9).status(InReview)]);
    assert_eq!(board.actions(), ["TASK-002 needs a person: stalled", "start reviewer TASK-003 in in_review", "start coder TASK-001 in in_progress"]);
    assert_eq!(board.whys(), ["TASK-002: needs you"]);
    // Said once.
    assert!(scene([task(2).sent_back(4).needs_person()]).actions().is_empty());
}

#[test]
fn a_reason_is_given_only_when_it_is_new() {
    let held = || WaitReason::Held { by: HeldBy::Human };
    let board = scene([
        task(1).held(HeldBy::Human).why(held()),
        task(2).held(HeldBy::Human),
        task(3).status(InProgress).running(Coder).why(held()),
        task(4).status(InProgress).stopping(Coder),
        task(5).status(InProgress).stopping(Coder).why(WaitReason::Stopping),
        task(6).status(InProgress).running(Coder),
        task(7).status(Done).why(held()),
    ])
    .busy(&[3, 4, 5, 6]);
    assert_eq!(board.whys(), ["TASK-002: held by you: press Start", "TASK-003: -", "TASK-004: stopping"]);
}

#[test]
fn nothing_is_planned_twice_for_a_task_under_way() {
    let board = scene([task(1), task(2).status(InReview), task(3).approved(), task(4).sent_back(9), task(5).status(Done).checkout()]);
    assert_eq!(board.actions().len(), 5);
    assert!(board.busy(&[1, 2, 3, 4, 5]).actions().is_empty());
}

#[test]
fn who_needs_the_project_branch_waits_where_the_person_is_asked_about_it() {
    let board = scene([
        task(1).approved().asks_about_branch(),
        task(2).approved(),
        task(3).status(InReview),
        task(4),
        task(5).assigned("mara"),
        task(6).held(HeldBy::Human),
        task(7).status(Done).checkout(),
        task(8).project(2),
        task(9).approved().project(2),
    ])
    .slots(9, 1);
    assert_eq!(board.actions(), ["clean TASK-007", "look at the branch of TASK-001", "merge TASK-009", "start coder TASK-008 in backlog"]);
    let asked = "the project branch was changed: waits for your word on TASK-001";
    assert_eq!(
        board.whys(),
        [
            "TASK-001: needs you".to_owned(),
            format!("TASK-002: {asked}"),
            format!("TASK-003: {asked}"),
            format!("TASK-004: {asked}"),
            "TASK-005: assigned to mara".to_owned(),
            "TASK-006: held by you: press Start".to_owned(),
            "TASK-009: approved: waits to be merged".to_owned(),
        ]
    );
}
