//! Agents that wait for a file, and claims whose holders no longer answer.

use domain::board::status::Status::{Backlog, InProgress};
use domain::id::{ProjectId, TaskId};

use super::scene::{at, scene, task};

#[test]
fn agent_starts_again_when_its_file_is_free() {
    let mut board = scene([task(1).status(InProgress), task(2).status(Backlog)]).slots(9, 9);
    board.state.waiting_for_claims.insert(TaskId::new(1), ("src/lib.rs".parse().unwrap(), "coder-TASK-009".to_owned()));
    assert_eq!(board.actions(), ["start coder TASK-002 in backlog"]);
    assert_eq!(board.wait_reasons(), ["TASK-001: waits for src/lib.rs, which coder-TASK-009 edits"]);
    board.state.waiting_for_claims.clear();
    assert_eq!(board.actions().len(), 2);
}

#[test]
fn claims_end_when_their_holder_counts_as_gone() {
    let mut board = scene([task(1)]);
    let mara = |time| (ProjectId::new(1), "mara".to_owned(), time);
    board.state.expiring_claims = vec![mara(at(12, 5))];
    assert_eq!(board.schedule().next_tick_at, Some(at(12, 5)));
    board.state.expiring_claims = vec![mara(at(11, 59))];
    assert!(board.actions().contains(&"expire claims of mara in PROJ-001".to_owned()), "{:?}", board.actions());
}
