//! Tasks: the cards of the board, their phases and statuses.
//!
//! What may follow what is in `transition`; this file only says what a task is.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::board::card::Card;
use crate::board::stage::Stage;
use crate::id::{GoalId, TaskId};
use crate::runs::agent_kind::AgentKind;
use crate::runs::evidence::Sha;
use crate::team::role::Role;
use crate::time::Timestamp;

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
    pub phase: Option<AgentKind>,
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
    pub phase: Option<AgentKind>,
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
