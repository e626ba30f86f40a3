//! Comments: the thread of a task, which is the memory that roles hand to each other.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::id::{CommentId, RunId, TaskId};
use crate::time::Timestamp;
use crate::vocabulary::vocabulary;

vocabulary! {
    /// In which role something was said. `runner` speaks for the machine: a conflict, a failed check; `agent` is one from outside.
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

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Comment {
    pub id: CommentId,
    pub task_id: TaskId,
    pub author_role: AuthorRole,
    /// The name of an agent from outside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author_name: Option<String>,
    pub run_id: Option<RunId>,
    /// Markdown, as it was written.
    pub content: String,
    pub created_at: Timestamp,
}
