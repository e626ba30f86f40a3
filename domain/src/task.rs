//! Tasks: the cards of the board, their phases and statuses.
//!
//! What may follow what is in `transition`; this file only says what a task is.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::agent::Role;
use crate::attention::Attention;
use crate::evidence::Sha;
use crate::id::{GoalId, ProjectId, RunId, TaskId};
use crate::stage::Stage;
use crate::time::Timestamp;
use crate::why::Why;
use crate::word::words;

words! {
    /// Which kind of agent works. On screen: the role.
    Phase, "phase" {
        Planner = "planner",
        Coder = "coder",
        Reviewer = "reviewer",
        Orchestrator = "orchestrator",
    }
}

words! {
    /// Where a task stands, which is its column.
    Status, "status" {
        Backlog = "backlog",
        InProgress = "in_progress",
        InReview = "in_review",
        Done = "done",
        Cancelled = "cancelled",
    }
}

impl Status {
    /// Whether work may still happen: neither done nor cancelled.
    pub fn is_open(self) -> bool {
        !matches!(self, Self::Done | Self::Cancelled)
    }
}

words! {
    /// Who keeps the runner from starting a task.
    HeldBy, "hold" {
        /// A person created it, moved it back, or asked for it to wait.
        Human = "human",
        /// The plan waits for the person's approval.
        Plan = "plan",
        /// A person stopped its run.
        Stop = "stop",
    }
}

words! {
    /// Why a task was given up, which decides what happens to those that depend on it.
    CancelReason, "reason" {
        Failed = "failed",
        Abandoned = "abandoned",
        Obsolete = "obsolete",
        Duplicate = "duplicate",
    }
}

impl CancelReason {
    /// Whether a dependent may go on as if the task were done.
    pub fn counts_as_done(self) -> bool {
        matches!(self, Self::Obsolete | Self::Duplicate)
    }
}

/// A task as the board shows it. Every event about a task carries this, as it was after the event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Card {
    pub id: TaskId,
    pub project_id: ProjectId,
    pub parent_task_id: Option<TaskId>,
    pub title: String,
    pub phase: Phase,
    pub status: Status,
    pub held_by: Option<HeldBy>,
    /// What a person must decide before anything goes on.
    pub attention: Option<Attention>,
    /// Why no agent works on it right now, as the runner last judged.
    pub why: Option<Why>,
    pub cancel_reason: Option<CancelReason>,
    pub depends_on: Vec<TaskId>,
    /// Higher goes first; tasks of equal priority go in the order of their ids.
    pub priority: i64,
    /// The commit that a reviewer or a person approved. It waits to be merged until the task is done.
    pub approved_sha: Option<Sha>,
    #[serde(flatten)]
    pub hands: Hands,
    /// The goal that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal_id: Option<GoalId>,
    /// The planning task whose round of orchestration this is.
    pub round_of: Option<TaskId>,
    pub round: Option<u32>,
    /// The run whose process is alive or about to be.
    pub run: Option<LiveRun>,
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
pub struct Hands {
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
pub struct LiveRun {
    pub id: RunId,
    pub phase: Phase,
    /// The attempt's number among the runs of this task and phase, from 1.
    pub attempt: u32,
    pub started_at: Timestamp,
    /// Whether it was asked to end and its process is not gone yet.
    pub stopping: bool,
}

/// A task with everything that is known about it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Task {
    // Flattened so that a task has its fields at the top, as the interface promises, without a second list of them.
    #[serde(flatten)]
    pub card: Card,
    pub description: Option<String>,
    pub worktree_path: Option<String>,
    pub branch: Option<String>,
    /// The session of the task's own phase, which later attempts resume.
    pub session_id: Option<String>,
    /// The model that was asked for, when it is not the configuration's.
    pub model: Option<String>,
    /// The commit that was merged into the project branch.
    pub merged_sha: Option<Sha>,
    /// How often a reviewer, a conflict or a failed check sent it back.
    pub review_rounds: u32,
    /// Who made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_by: Option<String>,
    /// What its assignee handed in: a text, or JSON with summary, files and test results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified_at: Option<Timestamp>,
}

/// What somebody wants done, before it has an id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewTask {
    #[schema(value_type = crate::schema::Title)]
    pub title: String,
    #[serde(default)]
    #[schema(value_type = Option<crate::schema::OptionalBody>)]
    pub description: Option<String>,
    /// Coder unless named.
    #[serde(default)]
    pub phase: Option<Phase>,
    #[serde(default)]
    pub parent_task_id: Option<TaskId>,
    #[serde(default)]
    pub depends_on: Vec<TaskId>,
    #[serde(default)]
    pub priority: Option<i64>,
    #[serde(default)]
    #[schema(value_type = Option<crate::schema::OptionalBody>)]
    pub model: Option<String>,
    /// Whether the runner may start it at once. A person's card is held until they press Start.
    #[serde(default)]
    pub start: bool,
    /// An agent from outside that is to do it.
    #[serde(default)]
    #[schema(value_type = Option<crate::schema::ParticipantName>)]
    pub assigned_to: Option<String>,
    /// In which role.
    #[serde(default)]
    pub role_hat: Option<Role>,
    #[serde(default)]
    pub goal_id: Option<GoalId>,
}

/// One of the tasks that a planner or orchestrator creates together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewSubtask {
    pub title: String,
    #[serde(default)]
    pub description: Option<String>,
    #[serde(default)]
    pub phase: Option<Phase>,
    /// Tasks that must be done first.
    #[serde(default)]
    pub depends_on: Vec<Dependency>,
}

/// A task named by its id, or by its place in the same list, counted from 0.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum Dependency {
    Index(u32),
    Task(TaskId),
}

/// What an agent wants changed about a task. What is left out stays.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskUpdate {
    #[serde(default)]
    pub stage: Option<Stage>,
    /// Whom it is given to.
    #[serde(default)]
    pub assigned_to: Option<String>,
    /// What came of it. With a stage that judges the work, the words that go with the judgement.
    #[serde(default)]
    pub result: Option<String>,
}

/// What an assignee hands in. This is the task's result as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Submission {
    pub summary: String,
    #[serde(default, rename = "files", alias = "files_changed")]
    pub files_changed: Option<String>,
    #[serde(default)]
    pub test_results: Option<String>,
}
