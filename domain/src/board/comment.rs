//! Comments: the thread of a task, through which agents pass on what they know.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::id::{CommentId, RunId, TaskId};
use crate::time::Timestamp;
use crate::vocabulary::vocabulary;

vocabulary! {
    /// The kind of author. `runner` reports for the machine, such as a conflict; `agent` is an external agent.
    AuthorRole, "author role" {
        Planner = "planner",
        Coder = "coder",
        Reviewer = "reviewer",
        Orchestrator = "orchestrator",
        Human = "human",
        Runner = "runner",
        Agent = "agent",
    }
}

/// A comment on a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Comment {
    pub id: CommentId,
    pub task_id: TaskId,
    pub author_role: AuthorRole,
    /// The name of an external agent, or of a person other than the owner (`human/ann`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author_name: Option<String>,
    pub run_id: Option<RunId>,
    /// Markdown, unchanged.
    pub content: String,
    pub created_at: Timestamp,
}
