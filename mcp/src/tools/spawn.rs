//! Minions: the helpers that an agent starts by itself, allowed by a lead and written down.

use domain::team::minion::{MinionStatus, SpawnPolicy};
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
            "set_spawn_policy",
            "Use it as a lead to say how many minions may be at work at once: for one agent by its name, or for all with `global`.",
            Effect::Writes,
            set_spawn_policy,
        ),
        tool("get_spawn_policy", "Use it before you start a minion: whether you may, and how many are at work.", Effect::Reads, get_spawn_policy),
        tool(
            "log_minion",
            "Use it when you start a helper of your own (spawned), and when it ends (completed, failed): the newest that you started is closed.",
            Effect::Writes,
            log_minion,
        ),
    ]
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SetSpawnPolicy {
    /// `global`, or an agent's name.
    scope: String,
    /// True unless given.
    #[schemars(with = "Option<bool>")]
    #[serde(default, deserialize_with = "arguments::flag")]
    enabled: Option<bool>,
    /// 3 unless given.
    #[schemars(with = "Option<u32>")]
    #[serde(default, deserialize_with = "arguments::number")]
    max_minions: Option<u32>,
    #[serde(default, alias = "project_id")]
    project: InProject,
}

async fn set_spawn_policy(call: Call, given: SetSpawnPolicy) -> Result<Answer, Failure> {
    let project = call.project(given.project.0).await?;
    let usual = SpawnPolicy::default();
    let (enabled, most) = (given.enabled.unwrap_or(usual.enabled), given.max_minions.unwrap_or(usual.max_minions));
    let policy = call.db.set_spawn_policy(&call.caller, &project, &given.scope, enabled, most).await?;
    let text = if policy.enabled {
        format!("{}: at most {} minions at once.", policy.scope, policy.max_minions)
    } else {
        format!("{}: no minions.", policy.scope)
    };
    Ok(Answer::new(text, json!({"policy": policy})))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GetSpawnPolicy {
    #[serde(default, alias = "project_id")]
    project: InProject,
}

async fn get_spawn_policy(call: Call, given: GetSpawnPolicy) -> Result<Answer, Failure> {
    call.db.require_active_reader(&call.caller).await?;
    let project = call.project(given.project.0).await?;
    let allowance = call.db.allowance(&project, &call.name()?).await?;
    let policies = call.db.spawn_policies(&project).await?;
    let may = if allowance.can_spawn { "may start a minion" } else { "may start no minion now" };
    let text =
        format!("{} {may}: {} of {} are at work ({}).", allowance.agent_name, allowance.active_minions, allowance.max_minions, allowance.scope);
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
    /// What came of it.
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    result: Option<String>,
    /// For the hooks of our own agents: which of their tool's uses this is about.
    #[schemars(skip)]
    #[serde(default)]
    tool_use_id: Option<String>,
    #[serde(default, alias = "project_id")]
    project: InProject,
}

async fn log_minion(call: Call, given: LogMinion) -> Result<Answer, Failure> {
    let project = call.project(given.project.0).await?;
    let minion = call
        .db
        .log_minion(&call.caller, &project, &given.task_description, given.status, given.result.as_deref(), given.tool_use_id.as_deref())
        .await?;
    Ok(Answer::new(format!("Minion #{} is noted as {}.", minion.id, minion.status), json!({"minion": minion})))
}
