//! Tools that set, read and end battle plans.
//!
//! It must not know what a lead without a plan may not do.

use db::BattlePlanQuery;
use domain::warroom::battle_plan::{BattlePlan, BattlePlanScope, BattlePlanStatus, NewBattlePlan};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::call::{Call, route};
use crate::page;
use crate::reply::{Answer, Failure};
use crate::tools::arguments::{self, ProjectArgument};
use crate::tools::definition::{Admission, Audience, Effect, External, ToolDefinition};
use crate::tools::managed::{Managed, Need, PLANNERS};

/// The most plans in one answer.
const MAX_PLANS: u32 = 20;

pub(super) const TOOLS: &[ToolDefinition] = &[
    ToolDefinition {
        name: "set_battle_plan",
        description: "Call this as a lead before you create or assign tasks: goals, priorities, order of the work. It supersedes the active plan of its scope.",
        effect: Effect::Writes,
        admission: Admission::Store,
        // The tasks that they create are their plan.
        audience: Audience { managed: Managed::of(PLANNERS).listed_for(Need::Never), human: true, external: External::Leads, invite: false },
        identity_arguments: &["agent_name"],
        route: |definition| route(definition, set_battle_plan),
    },
    ToolDefinition {
        name: "get_battle_plan",
        description: "Call this to read what the current work is for, or earlier plans by their status.",
        effect: Effect::Reads,
        admission: Admission::ActiveReader,
        audience: Audience { managed: Managed::of(PLANNERS).listed_for(Need::Never), human: true, external: External::Everyone, invite: false },
        identity_arguments: &[],
        route: |definition| route(definition, get_battle_plan),
    },
    ToolDefinition {
        name: "update_battle_plan_status",
        description: "Call this as a lead when a plan has ended: completed, abandoned or obsolete.",
        effect: Effect::Writes,
        admission: Admission::Store,
        audience: Audience { managed: Managed::of(PLANNERS).listed_for(Need::Never), human: true, external: External::Leads, invite: false },
        identity_arguments: &["agent_name"],
        route: |definition| route(definition, update_battle_plan_status),
    },
];

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SetBattlePlan {
    plan: String,
    #[schemars(schema_with = "arguments::battle_plan_scope")]
    #[serde(default, deserialize_with = "arguments::given")]
    scope: Option<BattlePlanScope>,
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    zone: Option<String>,
    #[serde(default, alias = "project_id")]
    project: ProjectArgument,
}

async fn set_battle_plan(call: Call, given: SetBattlePlan) -> Result<Answer, Failure> {
    let project = call.project(given.project).await?;
    let new = NewBattlePlan { plan: given.plan, scope: given.scope, zone: given.zone };
    let plan = call.db.set_battle_plan(&call.caller, &project, new).await?;
    let text = format!("Battle plan #{} of {} is active. Agents read it with get_battle_plan.", plan.id, place(&plan));
    Ok(Answer::new(text, json!({"plan_id": plan.id, "battle_plan": plan})))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GetBattlePlan {
    /// By default active.
    #[schemars(schema_with = "arguments::battle_plan_status")]
    #[serde(default, deserialize_with = "arguments::given")]
    status: Option<BattlePlanStatus>,
    #[serde(default, alias = "project_id")]
    project: ProjectArgument,
}

async fn get_battle_plan(call: Call, given: GetBattlePlan) -> Result<Answer, Failure> {
    let project = call.project(given.project).await?;
    let status = given.status.unwrap_or(BattlePlanStatus::Active);
    let query = BattlePlanQuery { status: Some(status), limit: Some(MAX_PLANS), ..BattlePlanQuery::default() };
    let mut plans = call.db.battle_plans(&project, &query).await?;
    // The newest are the last that are kept, and come first in the answer.
    plans.reverse();
    let (mut shown, older) = page::newest_that_fit(plans.iter().map(|plan| json!(plan)).collect());
    shown.reverse();
    let lines: Vec<String> = plans[older..].iter().rev().map(worded).collect();
    let text = if lines.is_empty() { format!("No battle plan is {status}.") } else { lines.join("\n\n") };
    Ok(Answer::new(text, json!({"battle_plans": shown})))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct UpdateBattlePlanStatus {
    #[schemars(with = "i64")]
    #[serde(deserialize_with = "arguments::serialize_key")]
    plan_id: i64,
    #[schemars(schema_with = "arguments::battle_plan_status")]
    status: BattlePlanStatus,
}

async fn update_battle_plan_status(call: Call, given: UpdateBattlePlanStatus) -> Result<Answer, Failure> {
    let plan = call.db.end_battle_plan(&call.caller, given.plan_id, given.status).await?;
    let text = format!("Battle plan #{} is {}. Set the next one before you create or assign tasks.", plan.id, plan.status);
    let data: Value = json!({"battle_plan": plan});
    Ok(Answer::new(text, data))
}

fn place(plan: &BattlePlan) -> String {
    match &plan.zone {
        Some(zone) => format!("the zone {zone}"),
        None => format!("the scope {}", plan.scope),
    }
}

fn worded(plan: &BattlePlan) -> String {
    format!("#{} [{}] for {} by {}, {}:\n{}", plan.id, plan.status, place(plan), plan.author, plan.created_at, plan.plan)
}
