//! Tools that start, acknowledge and show handshakes.
//!
//! It must not know when a handshake is complete.

use domain::team::handshake::Handshake;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::call::{Call, route};
use crate::reply::{Answer, Failure};
use crate::tools::arguments::{self, ProjectArgument};
use crate::tools::definition::{Admission, Audience, Effect, External, ToolDefinition};
use crate::tools::managed::{Managed, Need, ORCHESTRATOR_ONLY, TASK_WORKERS};

pub(super) const TOOLS: &[ToolDefinition] = &[
    ToolDefinition {
        name: "initiate_handshake",
        description: "Call this as a lead when everyone must acknowledge a plan before work continues. By default it asks all who are not leads.",
        effect: Effect::Writes,
        admission: Admission::Store,
        audience: Audience {
            managed: Managed::of(ORCHESTRATOR_ONLY).listed_for(Need::ExternalAgents),
            human: true,
            external: External::Leads,
            invite: false,
        },
        identity_arguments: &["from_agent"],
        route: |definition| route(definition, initiate_handshake),
    },
    ToolDefinition {
        name: "ack_handshake",
        description: "Call this when a [HANDSHAKE] message asks you to: you have read the plan and follow it.",
        effect: Effect::Writes,
        admission: Admission::Store,
        audience: Audience {
            managed: Managed::of(TASK_WORKERS).listed_for(Need::Handshake),
            human: true,
            external: External::Everyone,
            invite: false,
        },
        identity_arguments: &["agent_name"],
        route: |definition| route(definition, ack_handshake),
    },
    ToolDefinition {
        name: "handshake_status",
        description: "Call this to see who acknowledged a handshake and who has not.",
        effect: Effect::Reads,
        admission: Admission::ActiveReader,
        audience: Audience {
            managed: Managed::of(ORCHESTRATOR_ONLY).listed_for(Need::ExternalAgents),
            human: true,
            external: External::Leads,
            invite: false,
        },
        identity_arguments: &[],
        route: |definition| route(definition, handshake_status),
    },
];

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct InitiateHandshake {
    /// The plan.
    message: String,
    /// Names separated by commas.
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::list")]
    agents: Vec<String>,
    #[serde(default, alias = "project_id")]
    project: ProjectArgument,
}

async fn initiate_handshake(call: Call, given: InitiateHandshake) -> Result<Answer, Failure> {
    let project = call.project(given.project).await?;
    let handshake = call.db.initiate_handshake(&call.caller, &project, &given.message, given.agents).await?;
    Ok(answer(&handshake))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ByNumber {
    #[schemars(with = "i64")]
    #[serde(deserialize_with = "arguments::serialize_key")]
    handshake_id: i64,
}

async fn ack_handshake(call: Call, given: ByNumber) -> Result<Answer, Failure> {
    let handshake = call.db.acknowledge(&call.caller, given.handshake_id).await?;
    Ok(answer(&handshake))
}

async fn handshake_status(call: Call, given: ByNumber) -> Result<Answer, Failure> {
    let handshake = call.db.handshake(given.handshake_id).await?;
    call.require_project(&handshake.project_id, "handshake", handshake.id)?;
    Ok(answer(&handshake))
}

fn answer(handshake: &Handshake) -> Answer {
    let named = |names: Vec<&str>| if names.is_empty() { "nobody".to_owned() } else { names.join(", ") };
    let (acknowledged, pending) = (named(handshake.acknowledged().collect()), named(handshake.pending().collect()));
    let text = format!(
        "Handshake #{} by {} is {}. Acknowledged: {acknowledged}. Pending: {pending}.",
        handshake.id, handshake.initiated_by, handshake.status
    );
    Answer::new(text, json!({"handshake_id": handshake.id, "handshake": handshake}))
}
