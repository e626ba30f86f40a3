//! The plan that awaits approval, as `GET /api/projects/{id}/plan` answers it.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::id::TaskId;
use crate::wire::comment::CommentView;

/// `GET /api/projects/{id}/plan`: what a person reads before a plan starts. Its order and dependencies are on the board.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PlanView {
    /// The goal as sanitized HTML.
    pub goal_html: Option<String>,
    /// The planning task, if a planner created the plan.
    pub planner: Option<TaskId>,
    /// The cost of planning, in millionths of a US dollar.
    pub cost_micro_usd: i64,
    /// The comments on the planning task, oldest first: the reasons of the planner, and what a person asked for.
    pub comments: Vec<CommentView>,
    /// The tasks that wait for the start.
    pub tasks: Vec<PlannedTask>,
}

/// The long texts of a planned task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PlannedTask {
    pub id: TaskId,
    pub description: Option<String>,
    /// The description as sanitized HTML.
    pub description_html: Option<String>,
}
