//! Limits: the defaults are 4 hours, 1000 requests and $25 for a run, $50 for a task, $100 for a project and $200 for a day.

use domain::board::attention::{Attention, AttentionKind};
use domain::board::status::Status::{InProgress, InReview};
use domain::runs::agent_kind::AgentKind::Coder;
use domain::runs::limit::{LimitMeasure, LimitScope, LimitUse};

use super::scene::{Scene, at, scene, task};

const DOLLAR: i64 = 1_000_000;

fn working() -> Scene {
    // The task is busy with its watcher.
    scene([task(1).status(InProgress).running(Coder)]).busy(&[1])
}

fn limit(scope: LimitScope, dollars: i64, limit: i64) -> LimitUse {
    LimitUse { scope, measure: LimitMeasure::Cost, used: dollars * DOLLAR, limit: limit * DOLLAR }
}

#[test]
fn run_hands_over_at_the_first_limit_that_it_reaches() {
    assert_eq!(working().used(1, 799, 19 * DOLLAR, 191).actions(), [""; 0]);
    assert_eq!(working().used(1, 1000, 0, 0).actions(), ["RUN-001 hands over: the attempt used 1000 requests of 1000 requests"]);
    assert_eq!(working().used(1, 5, 26 * DOLLAR, 0).actions(), ["RUN-001 hands over: the attempt used $26.00 of $25.00"]);
    assert_eq!(working().used(1, 5, 0, 240).actions(), ["RUN-001 hands over: the attempt used 4 h 00 min of 4 h 00 min"]);
    let told = working().used(1, 5, 26 * DOLLAR, 0).told_to_hand_over(1, limit(LimitScope::Run, 25, 25));
    assert_eq!(told.actions(), [""; 0]);
    assert_eq!(told.wait_reasons(), ["TASK-001: handing over: the attempt used $25.00 of $25.00"]);
}

#[test]
fn run_hands_over_for_its_task_its_project_and_the_day() {
    let spent = scene([task(1).status(InProgress).running(Coder).spent(50 * DOLLAR, 1)]).busy(&[1]);
    assert_eq!(spent.actions(), ["RUN-001 hands over: the task used $50.00 of $50.00"]);
    assert_eq!(working().project_spent(1, 100 * DOLLAR).actions(), ["RUN-001 hands over: the project used $100.00 of $100.00"]);
    assert_eq!(working().project_spent(2, 100 * DOLLAR).actions(), [""; 0]);
    assert_eq!(working().today_spent(200 * DOLLAR).actions(), ["RUN-001 hands over: all projects together used $200.00 of $200.00 today"]);
}

#[test]
fn stopped_run_is_told_nothing() {
    let mut stopping = scene([task(1).status(InProgress).stopping(Coder)]).busy(&[1]).used(1, 1000, 0, 0);
    stopping.state.live[0].stop_requested_at = Some(at(11, 30));
    assert_eq!(stopping.actions(), [""; 0]);
}

#[test]
fn time_limit_is_looked_at_when_it_is_due() {
    assert_eq!(working().used(1, 0, 0, 60).schedule().next_tick_at, Some(at(14, 12)), "at 80 percent");
    assert_eq!(working().used(1, 0, 0, 200).schedule().next_tick_at, Some(at(12, 40)), "at all");
    assert_eq!(working().used(1, 0, 0, 240).schedule().next_tick_at, None);
}

#[test]
fn waiting_cards_say_the_figures_and_one_of_them_asks() {
    let board = scene([task(1), task(2), task(3).status(InReview), task(4).project(3)]).slots(9, 9).project_spent(1, 101 * DOLLAR);
    assert_eq!(board.actions(), ["flag TASK-003: the project used $101.00 of $100.00", "start coder TASK-004 in backlog"]);
    let waits = "waiting for a higher limit: the project used $101.00 of $100.00";
    assert_eq!(board.wait_reasons(), ["TASK-003: needs you".to_owned(), format!("TASK-001: {waits}"), format!("TASK-002: {waits}")]);
}

#[test]
fn limit_that_a_card_asks_for_is_not_asked_for_again() {
    let asks = task(1).asks_for(limit(LimitScope::Day, 200, 200));
    let board = scene([asks, task(2), task(3).project(3)]).today_spent(200 * DOLLAR);
    assert_eq!(board.actions(), [""; 0]);
    let other = scene([task(1).attention(AttentionKind::Failed), task(2)]).today_spent(200 * DOLLAR);
    assert_eq!(other.actions(), ["flag TASK-002: all projects together used $200.00 of $200.00 today"]);
}

#[test]
fn question_is_settled_once_its_limit_is_not_reached() {
    let asks = |scope| task(1).asks_for(limit(scope, 200, 200));
    for scope in [LimitScope::Task, LimitScope::Project, LimitScope::Day] {
        assert_eq!(scene([asks(scope)]).actions(), ["settle the limit of TASK-001"], "{scope}");
    }
    assert_eq!(scene([asks(LimitScope::Run)]).actions(), [""; 0], "only the human can settle it");
}

#[test]
fn each_task_asks_for_its_own_limit() {
    let board = scene([task(1).spent(50 * DOLLAR, 1), task(2).spent(60 * DOLLAR, 1), task(3)]);
    let flags = ["flag TASK-001: the task used $50.00 of $50.00", "flag TASK-002: the task used $60.00 of $50.00", "start coder TASK-003 in backlog"];
    assert_eq!(board.actions(), flags);
}

#[test]
fn raised_limit_lets_agents_start() {
    let board = scene([task(1).spent(60 * DOLLAR, 1)]).limit_state(LimitScope::Task, "TASK-001", 1, false);
    assert_eq!(board.actions(), ["start coder TASK-001 in backlog"]);
    let mut board = scene([task(1)]).project_spent(1, 101 * DOLLAR);
    board.state.projects.get_mut(&domain::id::ProjectId::new(1)).unwrap().budget_micro_usd = Some(200 * DOLLAR);
    assert_eq!(board.actions(), ["start coder TASK-001 in backlog"], "its own budget replaces the configured one");
    board.config.limits.project_cost_usd = None;
    board.state.projects.get_mut(&domain::id::ProjectId::new(1)).unwrap().budget_micro_usd = None;
    assert_eq!(board.actions(), ["start coder TASK-001 in backlog"]);
}

#[test]
fn limit_is_warned_of_once() {
    let near =
        scene([task(1).status(InProgress).running(Coder).spent(40 * DOLLAR, 1), task(2).project(3).held(domain::board::status::HeldBy::Human)]);
    let near = near.busy(&[1]).used(1, 1, 20 * DOLLAR, 0).project_spent(1, 80 * DOLLAR).today_spent(160 * DOLLAR);
    let warnings = [
        "warn RUN-001: the attempt used $20.00 of $25.00",
        "warn TASK-001: the task used $40.00 of $50.00",
        "warn PROJ-001: the project used $80.00 of $100.00",
        "warn 1970-01-01: all projects together used $160.00 of $200.00 today",
    ];
    assert_eq!(near.actions(), warnings);
    let warned = [(LimitScope::Run, "RUN-001"), (LimitScope::Task, "TASK-001"), (LimitScope::Project, "PROJ-001"), (LimitScope::Day, "1970-01-01")];
    let quiet = warned.into_iter().fold(near, |scene, (scope, subject)| scene.limit_state(scope, subject, 0, true));
    assert_eq!(quiet.actions(), [""; 0]);
}

#[test]
fn attention_names_its_limit_and_the_next_step() {
    let attention = Attention::limit_reached(&limit(LimitScope::Project, 101, 100));
    assert_eq!((attention.kind, attention.limit), (AttentionKind::Budget, Some(LimitScope::Project)));
    assert_eq!(
        attention.detail,
        "Stopped at a limit: the project used $101.00 of $100.00. No attempt was used. Press Raise, and agents continue all its tasks."
    );
}
