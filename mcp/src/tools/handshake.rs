//! Handshakes: a lead tells a plan and sees who acknowledged it.

use domain::team::handshake::Handshake;
use rmcp::handler::server::router::tool::ToolRoute;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::call::{Call, Effect, tool};
use crate::handler::Handler;
use crate::reply::{Answer, Failure};
use crate::tools::arguments::{self, InProject};

pub(super) fn routes() -> Vec<ToolRoute<Handler>> {
    vec![
        tool(
            "initiate_handshake",
            "Use it as a lead when everybody must know a plan before work goes on: each is asked to acknowledge it. Without `agents` all who do not lead are asked.",
            Effect::Writes,
            initiate_handshake,
        ),
        tool(
            "ack_handshake",
            "Use it when a [HANDSHAKE] message asks you: it says that you have read the plan and follow it.",
            Effect::Writes,
            ack_handshake,
        ),
        tool("handshake_status", "Use it to see who acknowledged a handshake and who is still waited for.", Effect::Reads, handshake_status),
    ]
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct InitiateHandshake {
    /// The plan.
    message: String,
    /// Names with commas between them.
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::list")]
    agents: Vec<String>,
    #[serde(default, alias = "project_id")]
    project: InProject,
}

async fn initiate_handshake(call: Call, given: InitiateHandshake) -> Result<Answer, Failure> {
    let project = call.project(given.project.0).await?;
    let handshake = call.db.initiate_handshake(&call.caller, &project, &given.message, given.agents).await?;
    Ok(answer(&handshake))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ByNumber {
    #[schemars(with = "i64")]
    #[serde(deserialize_with = "arguments::key")]
    handshake_id: i64,
}

async fn ack_handshake(call: Call, given: ByNumber) -> Result<Answer, Failure> {
    let handshake = call.db.acknowledge(&call.caller, given.handshake_id).await?;
    Ok(answer(&handshake))
}

async fn handshake_status(call: Call, given: ByNumber) -> Result<Answer, Failure> {
    call.db.require_active_reader(&call.caller).await?;
    let handshake = call.db.handshake(given.handshake_id).await?;
    call.within(&handshake.project_id, "handshake", handshake.id)?;
    Ok(answer(&handshake))
}

fn answer(handshake: &Handshake) -> Answer {
    let named = |names: Vec<&str>| if names.is_empty() { "nobody".to_owned() } else { names.join(", ") };
    let (acknowledged, pending) = (named(handshake.acknowledged().collect()), named(handshake.pending().collect()));
    let text = format!(
        "Handshake #{} by {} is {}. Acknowledged: {acknowledged}. Waited for: {pending}.",
        handshake.id, handshake.initiated_by, handshake.status
    );
    Answer::new(text, json!({"handshake_id": handshake.id, "handshake": handshake}))
}
