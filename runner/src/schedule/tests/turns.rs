//! Projects take turns, and reviewers take their share.

use super::*;

/// Tasks of the first project, then one of another.
fn backlog(own: u64) -> impl Iterator<Item = scene::Draft> {
    (1..=own).map(task).chain([task(own + 1).project(2)])
}

#[test]
fn project_with_one_task_does_not_wait_for_all_tasks_of_another() {
    assert_eq!(scene(backlog(20)).slots(2, 1).actions(), ["start coder TASK-001 in backlog", "start coder TASK-021 in backlog"]);
    let working = scene([task(1).status(InProgress).running(Coder), task(2), task(3).project(2)]).slots(2, 1).busy(&[1]);
    assert_eq!(working.actions(), ["start coder TASK-003 in backlog"], "the first project has an agent");
}

#[test]
fn project_that_waited_longest_is_next() {
    let board = |first, second| scene(backlog(2)).slots(1, 1).started(1, first).started(2, second).actions();
    assert_eq!(board(at(10, 0), at(11, 0)), ["start coder TASK-001 in backlog"]);
    assert_eq!(board(at(11, 0), at(10, 0)), ["start coder TASK-003 in backlog"]);
}

#[test]
fn started_work_comes_before_turns_and_priority_counts_within_a_project() {
    let board = scene([task(1), task(2).priority(5), task(3).status(InProgress), task(4).project(2)]).slots(3, 1);
    assert_eq!(
        board.actions(),
        ["start coder TASK-003 in in_progress", "start coder TASK-004 in backlog", "start coder TASK-002 in backlog"],
        "rework, the project without an agent, and then the higher priority"
    );
}

#[test]
fn reviewers_take_half_of_the_agents_and_more_when_nothing_else_waits() {
    let reviews = || (1..=4).map(|number| task(number).status(InReview));
    let started = |tasks: Vec<scene::Draft>, agents| {
        let actions = scene(reviews().chain(tasks)).agents(agents).actions();
        let reviewers = actions.iter().filter(|action| action.starts_with("start reviewer")).count();
        (reviewers, actions.len() - reviewers)
    };
    assert_eq!(started((5..=9).map(task).collect(), 4), (2, 2));
    assert_eq!(started(Vec::new(), 4), (4, 0));
    assert_eq!(started(vec![task(5), task(6)], 1), (1, 0));
    // The last new tasks come first, unless a review may let another task start.
    assert_eq!(started((5..=7).map(task).collect(), 4), (1, 3));
    assert_eq!(started((5..=7).map(task).chain([task(8).after(&[1])]).collect(), 4), (2, 2));
}

#[test]
fn each_kind_can_be_limited() {
    let mut board = scene([task(1), task(2), task(3).phase(Planner)]).agents(3);
    board.config.agents.coder.max_parallel = Some(1);
    assert_eq!(board.actions(), ["start planner TASK-003 in backlog", "start coder TASK-001 in backlog"]);
    assert_eq!(board.wait_reasons(), ["TASK-002: waiting for the running coder"]);
}

#[test]
fn coders_of_a_project_can_be_limited() {
    let review = task(1).status(InReview);
    let mut board = scene([review, task(2), task(3), task(4).project(2), task(5).project(2)]).with_projects(2, 2).agents(9);
    board.state.projects.get_mut(&domain::id::ProjectId::new(1)).unwrap().max_coders = Some(1);
    let mut started = board.actions();
    started.sort_unstable();
    let expected = ["coder TASK-002 in backlog", "coder TASK-004 in backlog", "coder TASK-005 in backlog", "reviewer TASK-001 in in_review"];
    assert_eq!(started, expected.map(|agent| format!("start {agent}")), "reviewers and other projects are not limited");
    assert_eq!(board.wait_reasons(), ["TASK-003: waiting for the running coder"]);
    let mut working = scene([task(2).status(InProgress).running(Coder), task(3)]).with_projects(1, 1).agents(9);
    working.state.projects.get_mut(&domain::id::ProjectId::new(1)).unwrap().max_coders = Some(1);
    assert_eq!(working.wait_reasons(), ["TASK-003: waiting for the running coder"], "a coder that works counts");
}
