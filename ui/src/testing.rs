//! Cards for tests. Must not be part of the board.

use domain::id::{ProjectId, TaskId};
use domain::task::{Card, Phase, Status};
use domain::time::Timestamp;

/// A coder's card about which nothing else is known.
pub(crate) fn card(number: u64, status: Status) -> Card {
    Card {
        id: TaskId::new(number),
        project_id: ProjectId::new(1),
        parent_task_id: None,
        title: format!("Task {number}"),
        phase: Phase::Coder,
        status,
        held_by: None,
        attention: None,
        why: None,
        cancel_reason: None,
        depends_on: Vec::new(),
        priority: 0,
        approved_sha: None,
        verified_by: None,
        round_of: None,
        round: None,
        run: None,
        comments: 0,
        runs: 0,
        cost_micro_usd: 10,
        created_at: Timestamp::from_milliseconds(0),
        updated_at: Timestamp::from_milliseconds(0),
    }
}
