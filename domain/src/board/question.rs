//! Questions from agents to the human, asked with `ask_human`.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::event::kinds::events;
use crate::id::{QuestionId, RunId, TaskId};
use crate::refusal::category::refusals;
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

events! {
    /// A change of a question.
    QuestionEvent {
        Asked "question_asked" { question: QuestionId }
        Answered "question_answered" { question: QuestionId }
    }
}

refusals! {
    /// Why a question may not be answered.
    QuestionRefusal {
        #[error("{task} has no open question")]
        NoneOpen { task: TaskId } => Unprocessable "no-question",
    }
}

impl QuestionRefusal {
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::NoneOpen { .. } => "Add a comment instead.".to_owned(),
        }
    }
}
