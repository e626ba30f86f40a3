//! Questions that an agent puts to the person through `ask_human`.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::id::{QuestionId, RunId, TaskId};
use crate::time::Timestamp;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Question {
    pub id: QuestionId,
    pub task_id: TaskId,
    pub run_id: RunId,
    pub question: String,
    /// Answers to choose from; a free text is always possible.
    pub options: Vec<String>,
    /// What the agent would do if nobody answered.
    pub default: Option<String>,
    pub asked_at: Timestamp,
    pub answer: Option<String>,
    pub answered_at: Option<Timestamp>,
}
