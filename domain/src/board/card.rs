//! Cards: a task as the board shows it.
//!
//! Must not know legal moves, which are in `transition`.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::board::attention::Attention;
use crate::board::status::{CancelReason, HeldBy, Status};
use crate::board::wait_reason::WaitReason;
use crate::id::{GoalId, ProjectId, RunId, TaskId};
use crate::runs::agent_kind::AgentKind;
use crate::runs::check::TaskChecks;
use crate::runs::evidence::Sha;
use crate::runs::limit::LimitUse;
use crate::runs::preview::Preview;
use crate::runs::protected_paths::ProtectedChange;
use crate::runs::publication::task_pull_request::TaskPullRequest;
use crate::team::person::is_person;
use crate::team::role::Role;
use crate::time::Timestamp;
use crate::warroom::context_left::Condition;
use crate::warroom::old_task::OldTask;

/// The summary of a task. Events about the task carry it as it was after the event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Card {
    pub id: TaskId,
    pub project_id: ProjectId,
    pub parent_task_id: Option<TaskId>,
    pub title: String,
    pub phase: AgentKind,
    pub status: Status,
    pub held_by: Option<HeldBy>,
    /// The decision that the task waits for.
    pub attention: Option<Attention>,
    /// Why no agent works on it, according to the latest schedule.
    pub wait_reason: Option<WaitReason>,
    pub cancel_reason: Option<CancelReason>,
    pub depends_on: Vec<TaskId>,
    /// Higher values start first; tasks of equal priority start in the order of their positions.
    pub priority: i64,
    /// Its place among tasks of equal priority, if a person moved it; other tasks are in id order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<i64>,
    /// The approved commit. The task becomes done when it is merged.
    pub approved_sha: Option<Sha>,
    #[serde(flatten)]
    pub contributors: Contributors,
    /// The goal that the task is linked to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal_id: Option<GoalId>,
    /// The planning task of this orchestration round.
    pub round_of: Option<TaskId>,
    pub round: Option<u32>,
    /// The run whose process is alive or starting.
    pub run: Option<CurrentRun>,
    pub comments: u32,
    /// The number of its runs, by all kinds of agents.
    pub runs: u32,
    /// The cost of all its runs in millionths of a US dollar, as the agent program reported it. That of an unfinished turn is an estimate.
    pub cost_micro_usd: i64,
    /// The tokens that models read and wrote in all its runs.
    #[serde(default)]
    pub tokens: i64,
    /// The limit of its run or of the task that was nearly used up when this was last noticed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub near_limit: Option<LimitUse>,
    /// The protected paths that its last submitted or approved commit changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protected_paths: Option<ProtectedChange>,
    /// The checks of its last submitted commit, and those of its merge.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<TaskChecks>,
    /// Its app, if it runs or failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<Preview>,
    /// Its own pull request, if its project opens one for each task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pull_request: Option<TaskPullRequest>,
    /// How often participants updated it with `update_task`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub activity_count: u32,
    /// The decision of a lead about it, if it is left from a session that ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old: Option<OldTask>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl Card {
    /// Whether its branch is in the merge queue.
    pub fn is_approved(&self) -> bool {
        self.status == Status::InReview && self.approved_sha.is_some()
    }

    /// Whether its approved commit is under review as a pull request, so that its host decides what follows.
    pub fn awaits_pull_request(&self) -> bool {
        let is_open = |pull_request: &TaskPullRequest| pull_request.is_open() && self.approved_sha.as_ref() == Some(&pull_request.sha);
        self.is_approved() && self.pull_request.as_ref().is_some_and(is_open)
    }

    /// Whether the host of its pull request merged its approved commit.
    pub fn was_merged_on_host(&self) -> bool {
        let is_merged = |pull_request: &TaskPullRequest| pull_request.is_merged() && self.approved_sha.as_ref() == Some(&pull_request.sha);
        self.is_approved() && self.pull_request.as_ref().is_some_and(is_merged)
    }

    /// Whether it is approved, but not by a person.
    pub fn lacks_approval_of_a_person(&self) -> bool {
        let by_person = self.contributors.approved_by.as_deref().is_some_and(is_person);
        self.is_approved() && !by_person
    }

    /// Whether its app can run: it has a checkout at `worktree`, and its work is not merged.
    pub fn can_run_app(&self, worktree: Option<&str>) -> bool {
        worktree.is_some() && matches!(self.status, Status::InProgress | Status::InReview)
    }

    /// Whether its work is in the project branch.
    pub fn is_merged(&self) -> bool {
        self.status == Status::Done && self.approved_sha.is_some()
    }

    /// Whether the task counts as done for its dependents.
    pub fn satisfies_dependents(&self) -> bool {
        self.status.satisfies_dependents(self.cancel_reason)
    }
}

/// The contributors to a task, by name. The verifier has neither built nor approved it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Contributors {
    /// The assignee, an external agent. The runner starts no agent for an assigned task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assigned_to: Option<String>,
    /// The hat of the assignee.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role_hat: Option<Role>,
    /// Its builders, in the order in which they started.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub built_by: Vec<String>,
    /// The participant that approved it last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved_by: Option<String>,
    /// The participant that verified the finished work.
    pub verified_by: Option<String>,
}

/// The running attempt of a card.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CurrentRun {
    pub id: RunId,
    pub phase: AgentKind,
    /// The number of the attempt among the runs of this task and kind of agent, from 1.
    pub attempt: u32,
    pub started_at: Timestamp,
    /// Whether it was asked to stop and its process is still alive.
    pub stopping: bool,
    /// The port that it leases for what its agent serves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// The condition of its context, unless plenty is left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low_context: Option<Condition>,
}
