//! A question to the person, for agents that cannot go on without a decision.

use rmcp::handler::server::router::tool::ToolRoute;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::call::{Call, Effect, tool};
use crate::handler::Handler;
use crate::reply::{Answer, Failure};

pub(super) fn routes() -> Vec<ToolRoute<Handler>> {
    vec![tool(
        "ask_human",
        "Use it only when you cannot go on without a decision of the person. Then end your turn: you are resumed with the answer. Offer `options` where you can, and the `default` you would take.",
        Effect::Writes,
        ask_human,
    )]
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AskHuman {
    /// With what they need to know to decide.
    question: String,
    /// Answers to choose from.
    #[serde(default)]
    options: Vec<String>,
    /// What you would do.
    default: Option<String>,
}

async fn ask_human(call: Call, arguments: AskHuman) -> Result<Answer, Failure> {
    let asked = call.db.ask(&call.caller, &arguments.question, arguments.options, arguments.default).await?;
    let text = format!("The person is asked ({}). End your turn now: you will be resumed with the answer.", asked.id);
    Ok(Answer::new(text, json!({"question_id": asked.id, "task_id": asked.task_id})))
}
