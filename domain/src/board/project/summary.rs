//! The summary of a project for lists: how far it is, who works on it, what needs the human, and what happened last.
//!
//! Must not know how the facts are read.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::board::project::Project;
use crate::board::status::Status;
use crate::event::Seq;
use crate::id::{RunId, TaskId};
use crate::runs::agent_kind::AgentKind;
use crate::time::Timestamp;

/// A project as lists of projects show it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ProjectSummary {
    // Flattened, so that a summary is a project with more fields.
    #[serde(flatten)]
    pub project: Project,
    pub tasks: TaskCounts,
    /// The agents at work, the longest first.
    pub agents: Vec<AgentAtWork>,
    /// What `GET /api/needs-you` lists about the project.
    pub needs_you: u32,
    /// The number of tasks in a plan that awaits approval.
    pub planned_tasks: u32,
    /// The cost of all its runs in millionths of a US dollar.
    pub cost_micro_usd: i64,
    /// The number of merged tasks that the base branch lacks; missing if there is nothing to land.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready_to_land: Option<u32>,
    /// The last event that a reader of a list wants to know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_event: Option<LastEvent>,
}

/// The tasks of a project, without the cancelled ones.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TaskCounts {
    /// Open and done tasks.
    pub total: u32,
    pub done: u32,
    /// Open tasks whose next step is a decision of the human.
    pub needs_you: u32,
    /// Open tasks with a live run, unless they need the human.
    pub at_work: u32,
    /// Submitted tasks without a live run, unless they need the human.
    pub in_review: u32,
}

impl TaskCounts {
    /// Counts `total` tasks of one status. An open task counts as needing the human, at work or in review, in this order.
    pub fn add(&mut self, status: Status, needs_you: bool, at_work: bool, total: u32) {
        if !status.counts_as_work() {
            return;
        }
        self.total += total;
        match status {
            Status::Done => self.done += total,
            _ if needs_you => self.needs_you += total,
            _ if at_work => self.at_work += total,
            Status::InReview => self.in_review += total,
            Status::Backlog | Status::InProgress | Status::Cancelled => {}
        }
    }
}

/// A live run with its task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AgentAtWork {
    pub run_id: RunId,
    pub task_id: TaskId,
    pub title: String,
    pub phase: AgentKind,
    pub started_at: Timestamp,
}

/// An event as one sentence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LastEvent {
    pub seq: Seq,
    pub at: Timestamp,
    pub sentence: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cancelled_and_removed_tasks_do_not_count() {
        let mut counts = TaskCounts::default();
        counts.add(Status::Cancelled, false, false, 9);
        assert_eq!(counts, TaskCounts::default());
        counts.add(Status::Done, true, false, 4);
        counts.add(Status::InReview, false, false, 2);
        counts.add(Status::InReview, false, true, 1);
        counts.add(Status::InProgress, true, true, 3);
        counts.add(Status::Backlog, false, false, 5);
        assert_eq!(counts, TaskCounts { total: 15, done: 4, needs_you: 3, at_work: 1, in_review: 2 });
    }
}
