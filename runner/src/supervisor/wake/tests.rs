//! Which watchers an event wakes, counted.

use std::time::Duration;

use db::{Caller, ReservedRun};
use domain::runs::agent_kind::AgentKind;
use domain::team::message::NewMessage;
use tokio::time::timeout;

use super::*;
use crate::fixture::TestBoard;

/// Runs with a registered watcher each.
struct Fleet {
    board: TestBoard,
    registry: WakeRegistry,
    runs: Vec<(TaskId, ReservedRun, WakeHandle)>,
}

impl Fleet {
    async fn new(count: usize) -> Self {
        let board = TestBoard::new().await;
        let (mut registry, mut runs) = (WakeRegistry::new(board.db.latest()), Vec::new());
        for number in 0..count {
            let task = board.task(&format!("Task {number}")).await;
            let (_, reserved, _) = board.agent(&task, AgentKind::Coder).await;
            let handle = registry.register(&task, Some(&board.project.id));
            runs.push((task, reserved, handle));
        }
        let mut fleet = Self { board, registry, runs };
        // Their own start woke them.
        fleet.woken().await;
        fleet
    }

    /// Dispatches new events and returns the indexes of the watchers that were woken.
    async fn woken(&mut self) -> Vec<usize> {
        self.registry.dispatch(&self.board.db).await;
        let mut woken = Vec::new();
        for (index, (_, _, handle)) in self.runs.iter().enumerate() {
            // A stored wake is ready at the first poll, so no time passes.
            if timeout(Duration::ZERO, handle.notified()).await.is_ok() {
                woken.push(index);
            }
        }
        woken
    }

    async fn send(&self, to: &str) {
        let new = NewMessage { to: to.to_owned(), content: "Hello".to_owned(), cc: Vec::new(), task_id: None, reply_to: None };
        self.board.db.send(&Caller::owner(), &self.board.project.id, new).await.unwrap();
    }
}

#[tokio::test]
async fn events_wake_only_the_watcher_of_their_run() {
    let mut fleet = Fleet::new(20).await;
    assert_eq!(fleet.woken().await, [0; 0], "nothing happened");

    let idle = fleet.board.task("Without a run").await;
    assert_eq!(fleet.woken().await, [0; 0], "an event of another task wakes nobody");

    fleet.board.db.stop_run(&Caller::owner(), &fleet.runs[3].1.run.id).await.unwrap();
    assert_eq!(fleet.woken().await, [3]);

    fleet.board.db.add_comment(&Caller::owner(), &fleet.runs[5].0, "Read this", None).await.unwrap();
    assert_eq!(fleet.woken().await, [5]);

    fleet.send(&format!("coder-{}", fleet.runs[7].0)).await;
    assert_eq!(fleet.woken().await, [7]);

    let many = fleet.runs[9].1.run.id.clone();
    for number in 0..5 {
        fleet.board.db.run_session(&many, &format!("session {number}")).await.unwrap();
    }
    assert_eq!(fleet.woken().await, [9], "five events are one wake");

    fleet.board.cancel(&idle).await;
    assert_eq!(fleet.woken().await, [0; 0]);
}

#[tokio::test]
async fn broadcast_wakes_every_watcher_of_its_project() {
    let mut fleet = Fleet::new(3).await;
    let other = TaskId::new(99);
    let handle = fleet.registry.register(&other, Some(&ProjectId::new(99)));
    fleet.send("all").await;
    assert_eq!(fleet.woken().await, [0, 1, 2]);
    assert!(timeout(Duration::ZERO, handle.notified()).await.is_err(), "a watcher of another project sleeps on");
}

#[tokio::test]
async fn events_before_the_registration_are_not_dispatched() {
    let mut fleet = Fleet::new(1).await;
    fleet.runs.clear();
    fleet.send("all").await;
    let task = fleet.board.task("Late").await;
    fleet.registry.dispatch(&fleet.board.db).await;
    let handle = fleet.registry.register(&task, Some(&fleet.board.project.id));
    fleet.registry.dispatch(&fleet.board.db).await;
    assert!(timeout(Duration::ZERO, handle.notified()).await.is_err());
    assert_eq!(fleet.registry.watchers.len(), 1, "the watcher that is gone was removed");
}
