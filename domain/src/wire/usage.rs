//! The answer of `GET /api/projects/{id}/usage`.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::id::TaskId;
use crate::runs::agent_kind::AgentKind;
use crate::runs::limit::LimitUse;
use crate::runs::usage::UsageSums;

/// `GET /api/projects/{id}/usage`: what the agents of a project consumed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ProjectUsage {
    pub total: UsageSums,
    /// The use of the budget of the project, if it has one.
    pub budget: Option<LimitUse>,
    /// The use of the limit of all projects today, if there is one.
    pub today: Option<LimitUse>,
    /// The kinds of agents that worked.
    pub by_kind: Vec<KindUsage>,
    /// The last 30 days on which agents worked, newest first.
    pub by_day: Vec<DayUsage>,
    /// The 20 tasks that consumed the most, first by cost, then by tokens.
    pub by_task: Vec<TaskUsage>,
}

/// The usage of one kind of agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct KindUsage {
    pub phase: AgentKind,
    #[serde(flatten)]
    pub sums: UsageSums,
}

/// The usage of one day in UTC.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DayUsage {
    /// The date, such as `2026-01-31`.
    pub day: String,
    #[serde(flatten)]
    pub sums: UsageSums,
}

/// The usage of one task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TaskUsage {
    pub task_id: TaskId,
    pub title: String,
    pub cost_micro_usd: i64,
    /// All tokens that models read and wrote.
    pub tokens: i64,
}
