//! Tasks that plan to change the same files.

use domain::board::status::Status::{Backlog, InProgress};
use domain::runs::agent_kind::AgentKind::Coder;
use domain::warroom::claim::ClaimMode;

use super::scene::{scene, task};

#[test]
fn task_with_files_of_another_at_work_starts_after_the_others() {
    let drafts = || {
        let running = task(1).status(InProgress).running(Coder).files(&["src/api/"]);
        [running, task(2).files(&["src/api/card.rs"]), task(3).files(&["docs/"]), task(4)]
    };
    let board = scene(drafts()).slots(3, 3);
    assert_eq!(board.actions(), ["adopt RUN-001 of TASK-001", "start coder TASK-003 in backlog", "start coder TASK-004 in backlog"]);
    assert_eq!(board.wait_reasons(), ["TASK-002: waits for TASK-001, which changes the same files (src/api/card.rs)"]);
    let board = scene(drafts()).slots(4, 4);
    assert_eq!(board.actions().len(), 4, "a slot that would stay empty is used");
    assert_eq!(board.actions()[3], "start coder TASK-002 in backlog");
}

#[test]
fn of_two_that_could_start_the_first_does() {
    let same = |number| task(number).files(&["src/*.rs"]);
    let board = scene([same(1), same(2), task(3), same(4).project(2)]).slots(3, 3);
    assert_eq!(board.actions(), ["start coder TASK-001 in backlog", "start coder TASK-004 in backlog", "start coder TASK-003 in backlog"]);
    assert_eq!(board.wait_reasons(), ["TASK-002: waits for TASK-001, which changes the same files (src/*.rs)"]);
}

#[test]
fn started_work_and_projects_whose_claims_only_warn_do_not_wait() {
    let same = |number| task(number).files(&["src/lib.rs"]);
    let begun = scene([same(1).status(InProgress).running(Coder), same(2).status(InProgress), task(3)]).slots(2, 2);
    assert_eq!(begun.actions()[1], "start coder TASK-002 in in_progress");
    let mut warns = scene([same(1).status(InProgress).running(Coder), same(2).status(Backlog), task(3)]).slots(2, 2);
    for project in warns.state.projects.values_mut() {
        project.claim_mode = ClaimMode::Advisory;
    }
    assert_eq!(warns.actions()[1], "start coder TASK-002 in backlog");
}
