//! Cards: a task as the board shows it.
//!
//! What may follow what is in `transition`.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::board::attention::Attention;
use crate::board::status::{CancelReason, HeldBy, Status};
use crate::board::wait_reason::WaitReason;
use crate::id::{GoalId, ProjectId, RunId, TaskId};
use crate::runs::agent_kind::AgentKind;
use crate::runs::evidence::Sha;
use crate::team::role::Role;
use crate::time::Timestamp;

/// A task as the board shows it. Every event about a task carries this, as it was after the event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Card {
    pub id: TaskId,
    pub project_id: ProjectId,
    pub parent_task_id: Option<TaskId>,
    pub title: String,
    pub phase: AgentKind,
    pub status: Status,
    pub held_by: Option<HeldBy>,
    /// What a person must decide before anything goes on.
    pub attention: Option<Attention>,
    /// Why no agent works on it right now, as the runner last judged.
    pub wait_reason: Option<WaitReason>,
    pub cancel_reason: Option<CancelReason>,
    pub depends_on: Vec<TaskId>,
    /// Higher goes first; tasks of equal priority go in the order of their ids.
    pub priority: i64,
    /// The commit that a reviewer or a person approved. It waits to be merged until the task is done.
    pub approved_sha: Option<Sha>,
    #[serde(flatten)]
    pub contributors: Contributors,
    /// The goal that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal_id: Option<GoalId>,
    /// The planning task whose round of orchestration this is.
    pub round_of: Option<TaskId>,
    pub round: Option<u32>,
    /// The run whose process is alive or about to be.
    pub run: Option<CurrentRun>,
    pub comments: u32,
    /// How many runs it had, of every phase.
    pub runs: u32,
    /// What all its runs cost, in millionths of a US dollar, as the agent's own program reported.
    pub cost_micro_usd: i64,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl Card {
    /// Whether its branch waits in the merge queue.
    pub fn is_approved(&self) -> bool {
        self.status == Status::InReview && self.approved_sha.is_some()
    }

    /// Whether its work is in the project branch.
    pub fn is_merged(&self) -> bool {
        self.status == Status::Done && self.approved_sha.is_some()
    }

    /// Whether the task counts as done for those that depend on it.
    pub fn satisfies_dependents(&self) -> bool {
        self.status == Status::Done || (self.status == Status::Cancelled && self.cancel_reason.is_some_and(CancelReason::counts_as_done))
    }
}

/// Who has had a hand in a task, by name. Whoever verifies it has neither built nor approved it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Contributors {
    /// The agent from outside that it is given to: the runner starts no other for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assigned_to: Option<String>,
    /// In which role the assignee works on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role_hat: Option<Role>,
    /// Everybody who worked on it, the first to begin first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub built_by: Vec<String>,
    /// Who approved it last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved_by: Option<String>,
    /// Who verified the finished work.
    pub verified_by: Option<String>,
}

/// The part of a run that a card shows while it lasts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CurrentRun {
    pub id: RunId,
    pub phase: AgentKind,
    /// The attempt's number among the runs of this task and phase, from 1.
    pub attempt: u32,
    pub started_at: Timestamp,
    /// Whether it was asked to end and its process is not gone yet.
    pub stopping: bool,
}
