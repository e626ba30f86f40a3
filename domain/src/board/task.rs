//! Tasks with all their fields, and the arguments that create and change them.
//!
//! Must not know legal moves, which are in `transition`.

pub mod event;
pub mod refusal;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::board::card::Card;
use crate::board::stage::Stage;
use crate::id::{GoalId, TaskId};
use crate::runs::agent_kind::AgentKind;
use crate::runs::evidence::Sha;
use crate::team::role::Role;
use crate::time::Timestamp;

/// A task with all its fields.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Task {
    // Flattened, so that the JSON object has all fields at the top.
    #[serde(flatten)]
    pub card: Card,
    pub description: Option<String>,
    pub worktree_path: Option<String>,
    pub branch: Option<String>,
    /// The session of the task's own kind of agent, which later attempts resume.
    pub session_id: Option<String>,
    /// The model for this task, if it differs from the configuration.
    pub model: Option<String>,
    /// The commit that was merged into the project branch.
    pub merged_sha: Option<Sha>,
    /// How often a review or a conflict sent it back.
    pub review_rounds: u32,
    /// The participant that created it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_by: Option<String>,
    /// The submission of its assignee: text, or JSON with summary, files and test results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified_at: Option<Timestamp>,
}

/// The arguments for a new task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewTask {
    #[schema(value_type = crate::text_schema::Title)]
    pub title: String,
    #[serde(default)]
    #[schema(value_type = Option<crate::text_schema::OptionalBody>)]
    pub description: Option<String>,
    /// The default is coder.
    #[serde(default)]
    pub phase: Option<AgentKind>,
    #[serde(default)]
    pub parent_task_id: Option<TaskId>,
    #[serde(default)]
    pub depends_on: Vec<TaskId>,
    #[serde(default)]
    pub priority: Option<i64>,
    #[serde(default)]
    #[schema(value_type = Option<crate::text_schema::OptionalBody>)]
    pub model: Option<String>,
    /// Whether the runner can start it at once. Otherwise a task that the human creates is held until they press Start.
    #[serde(default)]
    pub start: bool,
    /// The assignee, an external agent.
    #[serde(default)]
    #[schema(value_type = Option<crate::text_schema::ParticipantName>)]
    pub assigned_to: Option<String>,
    /// The hat of the assignee.
    #[serde(default)]
    pub role_hat: Option<Role>,
    #[serde(default)]
    pub goal_id: Option<GoalId>,
}

/// One task of a list that a planner or orchestrator creates.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewSubtask {
    pub title: String,
    #[serde(default)]
    pub description: Option<String>,
    #[serde(default)]
    pub phase: Option<AgentKind>,
    /// The tasks that it depends on.
    #[serde(default)]
    pub depends_on: Vec<Dependency>,
}

/// A task by its id, or by its index in the same list, from 0.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum Dependency {
    Index(u32),
    Task(TaskId),
}

/// A change that an agent requests. Omitted fields stay unchanged.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskUpdate {
    #[serde(default)]
    pub stage: Option<Stage>,
    /// The new assignee.
    #[serde(default)]
    pub assigned_to: Option<String>,
    /// The result of the work, or the notes of a verdict.
    #[serde(default)]
    pub result: Option<String>,
}

/// An assignee's submission, stored as the result of the task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Submission {
    pub summary: String,
    #[serde(default, rename = "files", alias = "files_changed")]
    pub files_changed: Option<String>,
    #[serde(default)]
    pub test_results: Option<String>,
}
