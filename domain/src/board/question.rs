//! Questions from agents to the human, asked with `ask_human`.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::id::{QuestionId, RunId, TaskId};
use crate::time::Timestamp;

/// A question and its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Question {
    pub id: QuestionId,
    pub task_id: TaskId,
    pub run_id: RunId,
    pub question: String,
    /// Suggested answers. The human can always answer with free text.
    pub options: Vec<String>,
    /// The answer that the agent assumes by default.
    pub default: Option<String>,
    pub asked_at: Timestamp,
    pub answer: Option<String>,
    pub answered_at: Option<Timestamp>,
}
