//! When checks run, and what waits for them.

use domain::id::TaskId;
use domain::runs::check::{CheckStage, CheckState};
use domain::runs::publication::pull_request::PullRequestState;

use super::*;

fn reasons(board: &scene::Scene) -> Vec<(String, String)> {
    let reason = |(task, reason): (TaskId, Option<WaitReason>)| Some((task.to_string(), reason?.sentence()));
    board.schedule().wait_reasons.into_iter().filter_map(reason).collect()
}

#[test]
fn submitted_work_is_checked_before_its_reviewer_starts() {
    let board = scene([task(1).submitted()]).checks(1);
    assert_eq!(board.actions(), ["check TASK-001"]);
    assert_eq!(reasons(&board), [("TASK-001".to_owned(), "its checks are running".to_owned())]);
    let passed = scene([task(1).submitted().checked(CheckStage::Quick, CheckState::Passed)]).checks(1);
    assert_eq!(passed.actions(), ["start reviewer TASK-001 in in_review"]);
    let without = scene([task(1).submitted()]);
    assert_eq!(without.actions(), ["start reviewer TASK-001 in in_review"]);
    let running = scene([task(1).submitted().checked(CheckStage::Quick, CheckState::Running)]).checks(1);
    assert_eq!(running.actions(), ["check TASK-001"], "a server that restarts goes on with them");
}

#[test]
fn project_has_one_check_at_a_time() {
    let board = || scene([task(1).submitted(), task(2).submitted(), task(3).approved(), task(4).project(3).submitted()]).checks(1).checks(3);
    assert_eq!(board().actions(), ["check TASK-001", "check TASK-004"]);
    assert_eq!(board().busy(&[1, 4]).actions(), [""; 0]);
    assert_eq!(board().busy(&[3]).actions(), ["check TASK-004"]);
}

#[test]
fn checks_use_no_slot_of_agents() {
    let board = scene([task(1).submitted(), task(2)]).checks(1).slots(1, 1);
    assert_eq!(board.actions(), ["check TASK-001", "start coder TASK-002 in backlog"]);
    let busy = scene([task(1).submitted(), task(2)]).checks(1).slots(1, 1).busy(&[1]);
    assert_eq!(busy.actions(), ["start coder TASK-002 in backlog"]);
}

#[test]
fn card_of_a_merge_says_when_its_checks_run() {
    let queued = scene([task(1).approved()]).checks(1);
    assert_eq!(queued.actions(), ["merge TASK-001"]);
    assert_eq!(reasons(&queued)[0].1, "approved: waiting for the merge");
    let running = scene([task(1).approved().checked(CheckStage::Full, CheckState::Running)]).checks(1).busy(&[1]);
    assert_eq!(reasons(&running)[0].1, "its checks are running");
}

#[test]
fn approved_tasks_of_a_project_with_checks_are_merged_together() {
    let tasks = [task(1).approved(), task(2).submitted(), task(3).approved(), task(4).project(3).approved(), task(5).project(3).approved()];
    assert_eq!(scene(tasks).checks(1).actions(), ["merge TASK-001 TASK-003", "merge TASK-004"], "without checks there is nothing to share");
}

#[test]
fn batch_has_at_most_eight_tasks() {
    let board = scene((1..=10).map(|number| task(number).approved())).checks(1);
    let expected: Vec<String> = (1..=8).map(|number| TaskId::new(number).to_string()).collect();
    assert_eq!(board.actions(), [format!("merge {}", expected.join(" "))]);
}

#[test]
fn task_that_waits_for_a_person_is_not_part_of_a_batch() {
    let board = scene([task(1).approved(), task(2).approved().flagged(), task(3).approved()]).checks(1);
    assert_eq!(board.actions(), ["merge TASK-001 TASK-003"]);
    assert_eq!(board.busy(&[1]).actions(), [""; 0], "one merge at a time in a repository");
}

#[test]
fn tasks_with_pull_requests_of_their_own_are_not_merged_together() {
    let board = scene([task(1).approved(), task(2).approved()]).checks(1).pull_requests(1);
    assert_eq!(board.actions(), ["merge TASK-001"]);
}

#[test]
fn host_decides_about_an_open_pull_request() {
    let state = |state| scene([task(1).in_pull_request(state), task(2).after(&[1])]).pull_requests(1);
    let open = state(PullRequestState::Open);
    assert_eq!(open.actions(), [""; 0]);
    assert_eq!(
        reasons(&open).iter().map(|(_, reason)| reason.as_str()).collect::<Vec<_>>(),
        ["its pull request is open on its host", "blocked by TASK-001"]
    );
    for ended in [PullRequestState::Merged, PullRequestState::Closed] {
        assert_eq!(state(ended).actions(), ["merge TASK-001"]);
    }
    let again = task(1).in_pull_request(PullRequestState::Open).approved_again();
    assert_eq!(scene([again]).pull_requests(1).actions(), ["merge TASK-001"], "a newer commit is pushed");
}
