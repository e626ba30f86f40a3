//! The tool that asks the human, for agents that cannot continue without a decision.
//!
//! It must not know how the answer returns.

use domain::runs::agent_kind::AgentKind;
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::call::{Call, route};
use crate::reply::{Answer, Failure};
use crate::tools::definition::{Admission, Audience, Effect, External, ToolDefinition};
use crate::tools::managed::{CAN_ASK, Managed, remove_descriptions};

pub(super) const TOOLS: &[ToolDefinition] = &[ToolDefinition {
    name: "ask_human",
    description: "Call this only when you cannot continue without a decision by the human. Then end your turn: you are resumed with the answer.",
    effect: Effect::Writes,
    admission: Admission::Store,
    audience: Audience { managed: Managed::of(CAN_ASK).adapted(ask_briefly), human: false, external: External::Nobody, invite: false },
    identity_arguments: &[],
    route: |definition| route(definition, ask_human),
}];

fn ask_briefly(_: AgentKind, properties: &mut JsonObject) -> &'static str {
    remove_descriptions(properties);
    "Call this only when you cannot continue without a decision by the human. Then end your turn."
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AskHuman {
    /// Include what they need to know to decide.
    question: String,
    #[serde(default)]
    options: Vec<String>,
    /// The answer you would choose.
    default: Option<String>,
}

async fn ask_human(call: Call, arguments: AskHuman) -> Result<Answer, Failure> {
    let asked = call.db.ask_question(&call.caller, &arguments.question, arguments.options, arguments.default).await?;
    let text = format!("The human was asked ({}). End your turn now: you will be resumed with the answer.", asked.id);
    Ok(Answer::new(text, json!({"question_id": asked.id, "task_id": asked.task_id})))
}
