//! The tool with which an external agent reports how much of its context is left.
//!
//! It must not know how old a report may be.

use domain::warroom::context_left::ContextReport;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::call::{Call, route};
use crate::format;
use crate::reply::{Answer, Failure};
use crate::tools::arguments::{self, ProjectArgument};
use crate::tools::definition::{Admission, Audience, Effect, External, ToolDefinition};
use crate::tools::managed::Managed;

pub(super) const TOOLS: &[ToolDefinition] = &[ToolDefinition {
    name: "set_context",
    description: "Call this every few minutes to report what is in your context and how full it is. Once you do, an old report blocks send.",
    effect: Effect::Writes,
    admission: Admission::Store,
    audience: Audience { managed: Managed::NOBODY, human: false, external: External::Everyone, invite: false },
    identity_arguments: &["agent_name"],
    route: |definition| route(definition, set_context),
}];

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SetContext {
    /// In a few words.
    context: String,
    #[schemars(with = "Option<i64>")]
    #[serde(default, deserialize_with = "arguments::number")]
    tokens_used: Option<i64>,
    #[schemars(with = "Option<i64>")]
    #[serde(default, deserialize_with = "arguments::number")]
    tokens_limit: Option<i64>,
}

async fn set_context(call: Call, given: SetContext) -> Result<Answer, Failure> {
    let project = call.project(ProjectArgument::Missing).await?;
    let report = ContextReport { context: given.context, tokens_used: given.tokens_used, tokens_limit: given.tokens_limit };
    let agent = call.db.set_context(&call.caller, &project, report).await?;
    let left = agent.context_left.map_or_else(|| "unknown, because no numbers were given".to_owned(), |left| format::context_left(&left));
    let minutes = agent.class.report_due().as_secs() / 60;
    let text = format!("Context left: {left}. Report again within {minutes} minutes.");
    Ok(Answer::new(text, json!({"agent": format::agent(&agent), "report_due_minutes": minutes})))
}
