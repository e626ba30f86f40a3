//! Tools that limit and record minions, the helpers that an agent starts itself.
//!
//! It must not know how the limit is enforced.

use domain::team::minion::{MinionStatus, SpawnPolicy};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::call::{Call, route};
use crate::reply::{Answer, Failure};
use crate::tools::arguments::{self, ProjectArgument};
use crate::tools::definition::{Admission, Audience, Effect, External, ToolDefinition};
use crate::tools::managed::{CODER_ONLY, Managed, Need};

pub(super) const TOOLS: &[ToolDefinition] = &[
    ToolDefinition {
        name: "set_spawn_policy",
        description: "Call this as a lead to limit how many helpers may run at once: for one agent by name, or for all with `global`.",
        effect: Effect::Writes,
        admission: Admission::Store,
        audience: Audience { managed: Managed::NOBODY, human: true, external: External::Leads, invite: false },
        identity_arguments: &["agent_name"],
        route: |definition| route(definition, set_spawn_policy),
    },
    ToolDefinition {
        name: "get_spawn_policy",
        description: "Call this before you start a helper, to see whether you may and how many are running.",
        effect: Effect::Reads,
        admission: Admission::ActiveReader,
        audience: Audience { managed: Managed::NOBODY, human: true, external: External::Trusted, invite: false },
        identity_arguments: &[],
        route: |definition| route(definition, get_spawn_policy),
    },
    ToolDefinition {
        name: "log_minion",
        description: "Call this when you start a helper of your own (spawned) and when it ends (completed, failed), which closes your newest one.",
        effect: Effect::Writes,
        admission: Admission::Store,
        audience: Audience { managed: Managed::of(CODER_ONLY).listed_for(Need::Hook), human: true, external: External::Trusted, invite: false },
        identity_arguments: &["agent_name"],
        route: |definition| route(definition, log_minion),
    },
];

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SetSpawnPolicy {
    /// `global`, or an agent's name.
    scope: String,
    /// Default true.
    #[schemars(with = "Option<bool>")]
    #[serde(default, deserialize_with = "arguments::flag")]
    enabled: Option<bool>,
    /// Default 3.
    #[schemars(with = "Option<u32>")]
    #[serde(default, deserialize_with = "arguments::number")]
    max_minions: Option<u32>,
    #[serde(default, alias = "project_id")]
    project: ProjectArgument,
}

async fn set_spawn_policy(call: Call, given: SetSpawnPolicy) -> Result<Answer, Failure> {
    let project = call.project(given.project).await?;
    let default = SpawnPolicy::default();
    let (enabled, max) = (given.enabled.unwrap_or(default.enabled), given.max_minions.unwrap_or(default.max_minions));
    let policy = call.db.set_spawn_policy(&call.caller, &project, &given.scope, enabled, max).await?;
    let text = if policy.enabled {
        format!("{}: at most {} helpers at once.", policy.scope, policy.max_minions)
    } else {
        format!("{}: no helpers.", policy.scope)
    };
    Ok(Answer::new(text, json!({"policy": policy})))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GetSpawnPolicy {
    /// Another agent's name, for a lead.
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    agent_name: Option<String>,
    #[serde(default, alias = "project_id")]
    project: ProjectArgument,
}

async fn get_spawn_policy(call: Call, given: GetSpawnPolicy) -> Result<Answer, Failure> {
    let project = call.project(given.project).await?;
    let allowance = call.db.allowance(&call.caller, &project, given.agent_name.as_deref()).await?;
    let policies = call.db.spawn_policies(&project).await?;
    let may = if allowance.can_spawn { "can start a helper" } else { "cannot start a helper now" };
    let text =
        format!("{} {may}: {} of {} are running ({}).", allowance.agent_name, allowance.active_minions, allowance.max_minions, allowance.scope);
    let mut data = json!(allowance);
    data["policies"] = json!(policies);
    Ok(Answer::new(text, data))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct LogMinion {
    task_description: String,
    #[schemars(schema_with = "arguments::minion_status")]
    status: MinionStatus,
    /// The outcome.
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    result: Option<String>,
    /// Set by the hooks of managed agents: the tool use that started or ended the helper.
    #[schemars(skip)]
    #[serde(default)]
    tool_use_id: Option<String>,
    #[serde(default, alias = "project_id")]
    project: ProjectArgument,
}

async fn log_minion(call: Call, given: LogMinion) -> Result<Answer, Failure> {
    let project = call.project(given.project).await?;
    let minion = call
        .db
        .log_minion(&call.caller, &project, &given.task_description, given.status, given.result.as_deref(), given.tool_use_id.as_deref())
        .await?;
    Ok(Answer::new(format!("Helper #{} is recorded as {}.", minion.id, minion.status), json!({"minion": minion})))
}
