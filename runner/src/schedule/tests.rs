//! The rules of the schedule, one table each: starts, wait reasons, and other actions.

mod assigned;
mod checks;
mod claims;
mod limits;
mod liveness;
mod night;
mod oracle;
mod overlap;
mod parking;
mod pause;
mod property;
mod scene;
mod throughput;
mod trigger;
mod turns;

use std::time::Duration;

use domain::board::attention::AttentionKind;
use domain::board::project::ReviewPolicy;
use domain::board::status::CancelReason::{Abandoned, Duplicate, Failed, Obsolete};
use domain::board::status::HeldBy;
use domain::board::status::Status::{Backlog, Done, InProgress, InReview};
use domain::board::wait_reason::WaitReason;
use domain::runs::agent_kind::AgentKind::{Coder, Orchestrator, Planner, Reviewer};
use domain::runs::parking::ParkReason;

use scene::{at, noon, scene, task};

#[test]
fn started_work_comes_before_new_work() {
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
    assert_eq!(
        board.wait_reasons(),
        ["TASK-003: no free slot: 2 agents running", "TASK-002: no free slot: 2 agents running", "TASK-001: no free slot: 2 agents running"]
    );
}

#[test]
fn tasks_of_equal_priority_start_in_the_order_of_their_column() {
    let board = scene([task(2), task(3).position(1), task(4).priority(1), task(5)]).slots(9, 9);
    let order: Vec<String> = board.actions().iter().map(|action| action.replace("start coder ", "").replace(" in backlog", "")).collect();
    assert_eq!(order, ["TASK-004", "TASK-003", "TASK-002", "TASK-005"]);
}

#[test]
fn within_a_rank_priority_comes_before_age() {
    let board = scene([task(1000), task(999), task(3).priority(-1), task(2), task(7).priority(5)]).slots(9, 1);
    let order: Vec<String> = board.actions().iter().map(|action| action.replace("start coder ", "").replace(" in backlog", "")).collect();
    assert_eq!(order, ["TASK-007", "TASK-002", "TASK-999", "TASK-1000", "TASK-003"]);
}

#[test]
fn running_and_starting_agents_take_slots() {
    let working = [task(1).phase(Planner).status(InProgress).running(Planner), task(2).status(InReview).running(Reviewer)];
    let board = scene(working.into_iter().chain([task(3).status(InProgress), task(4), task(5)])).slots(4, 1).busy(&[1, 2, 3]);
    assert_eq!(board.actions(), ["start coder TASK-004 in backlog"]);
    assert_eq!(board.wait_reasons(), ["TASK-005: no free slot: 4 agents running"]);
}

#[test]
fn merges_and_cleanups_take_no_slot() {
    let board = scene([task(1).approved(), task(2).status(Done).checkout(), task(3)]).slots(1, 1).busy(&[1, 2]);
    assert_eq!(board.actions(), ["start coder TASK-003 in backlog"]);
}

#[test]
fn nothing_starts_above_the_limit() {
    let board = scene([task(1).status(InProgress).running(Coder), task(2).status(InProgress).running(Coder), task(3)]).slots(1, 1).busy(&[1, 2]);
    assert!(board.actions().is_empty());
}

#[test]
fn reviewers_are_limited() {
    let waiting = || task(2).status(InReview);
    let first = scene([task(1).status(InReview), waiting(), task(3)]).slots(3, 1);
    assert_eq!(first.actions(), ["start reviewer TASK-001 in in_review", "start coder TASK-003 in backlog"]);
    assert_eq!(first.wait_reasons(), ["TASK-002: waiting for the running reviewer"]);
    let at_work = scene([task(1).status(InReview).running(Reviewer), waiting()]).slots(3, 1).busy(&[1]);
    assert_eq!(at_work.wait_reasons(), ["TASK-002: waiting for the running reviewer"]);
    let about_to_start = scene([task(1).status(InReview), waiting()]).slots(3, 1).busy(&[1]);
    assert_eq!(about_to_start.wait_reasons(), ["TASK-002: waiting for the running reviewer"]);
    // The card was rejected, but its reviewer has not exited yet.
    let leaving = scene([task(1).status(InProgress).running(Reviewer), waiting()]).slots(3, 1).busy(&[1]);
    assert_eq!(leaving.wait_reasons(), ["TASK-002: waiting for the running reviewer"]);
    assert_eq!(scene([task(1).status(InReview), waiting()]).slots(3, 2).actions().len(), 2);
    // A coder whose card is already in review is not a reviewer.
    let submitted = scene([task(1).status(InReview).running(Coder), waiting()]).slots(3, 1).busy(&[1]);
    assert_eq!(submitted.actions(), ["start reviewer TASK-002 in in_review"]);
}

#[test]
fn held_and_flagged_tasks_are_not_started() {
    let board = scene([
        task(1).held(HeldBy::Human),
        task(2).held(HeldBy::Plan),
        task(3).status(InProgress).held(HeldBy::Stop),
        task(4).status(InReview).flagged(),
        task(5).approved().held(HeldBy::Stop),
        task(6).approved().flagged(),
    ]);
    assert!(board.actions().is_empty());
    assert_eq!(
        board.wait_reasons(),
        [
            "TASK-001: held until someone presses Start",
            "TASK-002: held until someone starts the plan",
            "TASK-003: stopped until someone presses Start or Retry",
            "TASK-004: needs you",
            "TASK-005: stopped until someone presses Start or Retry",
            "TASK-006: needs you",
        ]
    );
}

#[test]
fn unfinished_dependencies_block() {
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
    for board in [board.clone(), board.narrowed()] {
        assert_eq!(board.actions(), ["start coder TASK-007 in backlog"]);
        assert_eq!(board.wait_reasons(), ["TASK-008: blocked by TASK-004, TASK-005, TASK-006", "TASK-009: blocked by TASK-404"]);
    }
}

#[test]
fn started_task_ignores_its_dependencies() {
    let board = scene([task(1).held(HeldBy::Human), task(2).status(InProgress).after(&[1])]);
    assert_eq!(board.actions(), ["start coder TASK-002 in in_progress"]);
}

#[test]
fn tasks_of_a_plan_wait_until_it_is_done() {
    let child = || task(2).parent(1);
    for open in [Backlog, InProgress] {
        let board = scene([task(1).phase(Planner).status(open).running(Planner), child()]).busy(&[1]);
        assert_eq!(board.wait_reasons(), ["TASK-002: waiting for the plan TASK-001"], "{open}");
    }
    // A cancelled plan may be half of a plan, so nothing of it starts.
    let cancelled = scene([task(1).phase(Planner).cancelled(Obsolete), child()]).narrowed();
    assert_eq!(cancelled.wait_reasons(), ["TASK-002: waiting for the plan TASK-001"]);
    assert_eq!(scene([task(1).phase(Planner).status(Done), child()]).narrowed().actions(), ["start coder TASK-002 in backlog"]);
    // A parent that is not a plan does not block.
    assert_eq!(scene([task(1).held(HeldBy::Human), child()]).actions(), ["start coder TASK-002 in backlog"]);
}

#[test]
fn failed_task_is_retried_at_its_time() {
    let board = scene([task(1).status(InProgress).retry_at(at(12, 5)), task(2).retry_at(at(12, 3)), task(3).retry_at(noon())]);
    assert_eq!(board.actions(), ["start coder TASK-003 in backlog"]);
    assert_eq!(
        board.wait_reasons(),
        ["TASK-001: retrying at 12:05 UTC (the agent's process crashed)", "TASK-002: retrying at 12:03 UTC (the agent's process crashed)"]
    );
    assert_eq!(board.schedule().next_tick_at, Some(at(12, 3)));
    assert_eq!(scene([task(1)]).schedule().next_tick_at, None);
    // The clock that computed the time was hours ahead.
    let set_back = scene([task(1).status(InProgress).retry_at(at(15, 0))]);
    assert_eq!(set_back.actions(), ["start coder TASK-001 in in_progress"]);
}

#[test]
fn parking_blocks_all_starts() {
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
        board.wait_reasons(),
        [
            "TASK-004: held until someone presses Start",
            "TASK-005: approved: waiting for the merge",
            "TASK-002: rate limited until 12:30 UTC",
            "TASK-001: rate limited until 12:30 UTC",
            "TASK-003: rate limited until 12:30 UTC",
        ]
    );
    assert_eq!(board.schedule().next_tick_at, Some(noon().after(Duration::from_secs(20))));
}

/// Resuming checks the cause first, and the next schedule starts agents.
#[test]
fn expired_parking_is_resumed_before_any_start() {
    let board = scene([task(1)]).parked_by_check(ParkReason::SignedOut, noon());
    assert_eq!(board.actions(), ["resume signed_out"]);
    assert_eq!(board.schedule().next_tick_at, None);
}

#[test]
fn each_repository_merges_one_task_at_a_time() {
    let approved = || [task(1).approved(), task(2).approved().project(2), task(3).approved().project(3), task(4).approved()];
    let board = scene(approved());
    assert_eq!(board.actions(), ["merge TASK-001", "merge TASK-003"]);
    assert_eq!(board.wait_reasons().len(), 4, "all of them wait: {:?}", board.wait_reasons());
    let merging = scene(approved().map(|draft| draft.why(WaitReason::MergeQueued))).busy(&[2]);
    assert_eq!(merging.actions(), ["merge TASK-003"]);
    assert!(merging.wait_reasons().is_empty(), "nothing changed: {:?}", merging.wait_reasons());
}

#[test]
fn merge_waits_until_the_reviewer_exits() {
    let board = scene([task(1).approved().running(Reviewer)]).busy(&[1]);
    assert!(board.actions().is_empty());
}

#[test]
fn idle_checkouts_of_finished_tasks_are_cleaned() {
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
fn unwatched_runs_are_adopted() {
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
fn work_that_repeats_itself_needs_attention() {
    let board = scene([task(1).repeated(1), task(2).repeated(2).rejected(2), task(3).repeated(3).status(InReview)]);
    assert_eq!(board.actions(), ["flag TASK-002: no_progress", "start reviewer TASK-003 in in_review", "start coder TASK-001 in in_progress"]);
}

#[test]
fn review_limit_flags_the_task() {
    let board = scene([task(1).rejected(3), task(2).rejected(4), task(3).rejected(9).status(InReview)]);
    assert_eq!(board.actions(), ["flag TASK-002: stalled", "start reviewer TASK-003 in in_review", "start coder TASK-001 in in_progress"]);
    assert_eq!(board.wait_reasons(), ["TASK-002: needs you"]);
    // A flagged task is not flagged again.
    assert!(scene([task(2).rejected(4).flagged()]).actions().is_empty());
}

#[test]
fn only_changed_wait_reasons_are_set() {
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
    assert_eq!(board.wait_reasons(), ["TASK-002: held until someone presses Start", "TASK-003: -", "TASK-004: stopping"]);
}

#[test]
fn busy_tasks_get_no_action() {
    let board = scene([task(1), task(2).status(InReview), task(3).approved(), task(4).rejected(9), task(5).status(Done).checkout()]);
    assert_eq!(board.actions().len(), 5);
    assert!(board.busy(&[1, 2, 3, 4, 5]).actions().is_empty());
}

#[test]
fn undecided_branch_blocks_its_project() {
    let board = scene([
        task(1).approved().awaits_branch_decision(),
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
    assert_eq!(board.actions(), ["clean TASK-007", "recheck the branch for TASK-001", "merge TASK-009", "start coder TASK-008 in backlog"]);
    let undecided = "the project branch has unapproved commits: waiting for a decision on TASK-001";
    assert_eq!(
        board.wait_reasons(),
        [
            "TASK-001: needs you".to_owned(),
            format!("TASK-002: {undecided}"),
            format!("TASK-003: {undecided}"),
            format!("TASK-004: {undecided}"),
            "TASK-005: assigned to mara".to_owned(),
            "TASK-006: held until someone presses Start".to_owned(),
            "TASK-009: approved: waiting for the merge".to_owned(),
        ]
    );
}

#[test]
fn repository_that_does_not_respond_holds_up_only_its_tasks() {
    let drafts = [task(1), task(2).approved(), task(3).project(3), task(4).status(Done).checkout(), task(5).assigned("mara")];
    let board = scene(drafts).not_responding("/one/.git");
    assert_eq!(board.actions(), ["start coder TASK-003 in backlog"]);
    assert_eq!(
        board.wait_reasons(),
        [
            "TASK-001: the repository has not responded since 11:50 UTC",
            "TASK-002: the repository has not responded since 11:50 UTC",
            "TASK-005: assigned to mara",
        ]
    );
}

#[test]
fn changed_instructions_wait_for_a_person_where_configured() {
    let by_reviewer = || task(1).approved_with_instructions("reviewer-TASK-001");
    assert_eq!(scene([by_reviewer()]).actions(), ["merge TASK-001"]);
    let board = scene([by_reviewer(), task(2).approved_with_instructions("human/ann"), task(3).approved()]).protected_paths_need_human();
    assert_eq!(board.actions(), ["flag TASK-001: protected_paths", "merge TASK-002"]);
    assert_eq!(board.wait_reasons()[0], "TASK-001: needs you");
    let asked = scene([by_reviewer().attention(AttentionKind::ProtectedPaths)]).protected_paths_need_human();
    assert!(asked.actions().is_empty());
}

#[test]
fn work_waits_for_the_approval_that_its_project_wants() {
    let drafts = || [task(1).status(InReview), task(2).approved(), task(3).approved_by("human/ann"), task(4).status(InReview).assigned("mara")];
    assert_eq!(scene(drafts()).actions(), ["merge TASK-002", "start reviewer TASK-001 in in_review"]);
    let by_people = scene(drafts()).reviewed_by(ReviewPolicy::Human);
    assert_eq!(by_people.actions(), ["flag TASK-001: review", "flag TASK-002: review", "merge TASK-003", "flag TASK-004: review"]);
    assert_eq!(by_people.wait_reasons()[0], "TASK-001: needs you");
    let by_both = scene(drafts()).reviewed_by(ReviewPolicy::Both);
    assert_eq!(by_both.actions(), ["flag TASK-002: review", "merge TASK-003", "start reviewer TASK-001 in in_review"]);
}
