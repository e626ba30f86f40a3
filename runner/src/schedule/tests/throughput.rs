//! How much of the agents' time is used: a simulation of whole projects with tasks of fixed length.

use std::collections::BTreeSet;

use domain::board::card::CurrentRun;
use domain::id::TaskId;
use domain::runs::agent_kind::AgentKind;

use super::*;
use crate::schedule::Action;

/// Seconds that each step takes.
const CODER: u64 = 60;
const REVIEWER: u64 = 30;
const MERGE: u64 = 1;

/// Runs tasks to their end and returns how long that takes, in seconds.
fn run_all(mut board: scene::Scene) -> u64 {
    let (mut now, mut ends) = (0, BTreeSet::<(u64, TaskId)>::new());
    loop {
        for action in board.schedule().actions {
            let (Action::Start { task, .. } | Action::Merge { task, .. }) = &action else { panic!("{action:?}") };
            let known = board.state.tasks.iter_mut().find(|known| known.task.card.id == *task).unwrap();
            let card = &mut known.task.card;
            let length = match action {
                Action::Start { phase, .. } => {
                    let live = scene::live_run(task.number(), phase);
                    let started_at = noon().after(Duration::from_secs(now));
                    card.run =
                        Some(CurrentRun { id: live.id.clone(), phase, attempt: 1, started_at, stopping: false, port: None, low_context: None });
                    card.status = if phase == Reviewer { InReview } else { InProgress };
                    board.state.last_starts.insert(card.project_id.clone(), started_at);
                    board.state.live.push(live);
                    if phase == Reviewer { REVIEWER } else { CODER }
                }
                _ => MERGE,
            };
            board.busy.insert(task.clone());
            ends.insert((now + length, task.clone()));
        }
        let Some((end, task)) = ends.pop_first() else { break };
        now = end;
        board.busy.remove(&task);
        board.state.live.retain(|run| run.task_id != task);
        let index = board.state.tasks.iter().position(|known| known.task.card.id == task).unwrap();
        let card = &mut board.state.tasks[index].task.card;
        match card.run.take().map(|run| run.phase) {
            Some(AgentKind::Coder) => card.status = InReview,
            Some(_) => card.approved_sha = Some("approved".to_owned()),
            None => drop(board.state.tasks.remove(index)),
        }
    }
    assert!(board.state.tasks.is_empty(), "everything is merged");
    now
}

/// The time in which that many agents do the work of `tasks` without any pause.
fn ideal(tasks: u64, agents: u64) -> u64 {
    tasks * (CODER + REVIEWER) / agents
}

#[test]
fn twenty_tasks_use_four_agents_almost_fully() {
    let took = run_all(scene((1..=20).map(task)).agents(4));
    assert!(took * 100 <= ideal(20, 4) * 105 + 100, "{took} s, ideal {} s", ideal(20, 4));
}

#[test]
fn ten_projects_on_three_repositories_use_the_default_number_of_agents_almost_fully() {
    let board = scene((0..40).map(|number| task(number + 1).project(number % 10 + 1))).with_projects(10, 3);
    let took = run_all(board);
    assert!(ideal(40, 3) * 100 >= took * 92, "{took} s, ideal {} s", ideal(40, 3));
}
