//! Runs: one attempt by one agent process.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::id::{RunId, TaskId};
use crate::runs::agent_kind::AgentKind;
use crate::runs::evidence::Sha;
use crate::runs::failure::{EndClass, FailureClass};
use crate::time::Timestamp;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Run {
    pub id: RunId,
    pub task_id: TaskId,
    pub phase: AgentKind,
    /// The attempt's number among the runs of this task and phase, from 1.
    pub attempt: u32,
    /// The agent program's own session. Two runs share one only when the later resumed it.
    pub session_id: Option<String>,
    /// Where it works.
    pub worktree_path: Option<String>,
    /// The commit it started from; for a reviewer, the commit it judges.
    pub sha: Option<Sha>,
    /// The port it may serve on.
    pub port: Option<u16>,
    pub started_at: Timestamp,
    pub completed_at: Option<Timestamp>,
    pub stop_requested_at: Option<Timestamp>,
    pub exit_code: Option<i64>,
    pub end_class: Option<EndClass>,
    pub failure: Option<FailureClass>,
    /// What went wrong, in words.
    pub error: Option<String>,
    /// In millionths of a US dollar, as the agent's own program reported.
    pub cost_micro_usd: i64,
    pub input_tokens: i64,
    pub output_tokens: i64,
    /// Tokens in the conversation at last sight, and how many fit: on screen, context left.
    pub context_tokens: Option<i64>,
    pub context_limit: Option<i64>,
    pub turns: i64,
}

impl Run {
    pub fn is_live(&self) -> bool {
        self.completed_at.is_none()
    }

    /// The name under which the run's agent appears: `coder-TASK-012`.
    pub fn agent_name(phase: AgentKind, task: &TaskId) -> String {
        format!("{phase}-{task}")
    }
}

/// What an agent's output told about its consumption so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    pub cost_micro_usd: i64,
    pub input_tokens: i64,
    pub output_tokens: i64,
    pub context_tokens: Option<i64>,
    pub context_limit: Option<i64>,
    pub turns: i64,
}
