//! A question to the person, for agents that cannot go on without a decision.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::call::Call;
use crate::reply::{Answer, Failure};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AskHuman {
    /// With what they need to know to decide.
    question: String,
    /// Answers to choose from.
    #[serde(default)]
    options: Vec<String>,
    /// What you would do.
    default: Option<String>,
}

pub(crate) async fn ask_human(call: Call, arguments: AskHuman) -> Result<Answer, Failure> {
    let asked = call.db.ask(&call.caller, &arguments.question, arguments.options, arguments.default).await?;
    let text = format!("The person is asked ({}). End your turn now: you will be resumed with the answer.", asked.id);
    Ok(Answer { text, data: json!({"question_id": asked.id, "task_id": asked.task_id}) })
}
