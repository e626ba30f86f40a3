//! The tool that takes an order back. Messages give orders: see `send`.
//!
//! It must not know what an order does.

use domain::warroom::trigger::TriggerWord;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::call::{Call, route};
use crate::reply::{Answer, Failure};
use crate::tools::arguments::{self, ProjectArgument};
use crate::tools::definition::{Admission, Audience, Effect, External, ToolDefinition};
use crate::tools::managed::Managed;

pub(super) const TOOLS: &[ToolDefinition] = &[ToolDefinition {
    name: "withdraw_trigger",
    description: "Call this as a lead to withdraw an order that lasts: retreat, moon_crash, hot_zone or sitrep. cold_start lists those that are active.",
    effect: Effect::Writes,
    admission: Admission::Store,
    audience: Audience { managed: Managed::NOBODY, human: true, external: External::Leads, invite: false },
    identity_arguments: &["agent_name"],
    route: |definition| route(definition, withdraw_trigger),
}];

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WithdrawTrigger {
    #[schemars(schema_with = "arguments::trigger_word")]
    word: TriggerWord,
    /// The zone of hot_zone, or the agent of sitrep.
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    target: Option<String>,
    #[serde(default, alias = "project_id")]
    project: ProjectArgument,
}

async fn withdraw_trigger(call: Call, given: WithdrawTrigger) -> Result<Answer, Failure> {
    let project = call.project(given.project).await?;
    let trigger = call.db.withdraw_trigger(&call.caller, &project, given.word, given.target.as_deref()).await?;
    Ok(Answer::new(format!("The order {} is withdrawn, and its agents were notified.", trigger.word), json!({"trigger": trigger})))
}
