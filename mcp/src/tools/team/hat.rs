//! Tools that assign hats and list who wore which.
//!
//! It must not know which hats exclude each other.

use domain::id::TaskId;
use domain::team::role::Role;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::call::{Call, route};
use crate::format;
use crate::page;
use crate::reply::{Answer, Failure};
use crate::tools::arguments::ProjectArgument;
use crate::tools::definition::{Admission, Audience, Effect, External, ToolDefinition};
use crate::tools::managed::Managed;

pub(super) const TOOLS: &[ToolDefinition] = &[
    ToolDefinition {
        name: "assign_role_hat",
        description: "Call this as a lead to choose the role in which the assignee works on a task. Conflicting hats are refused.",
        effect: Effect::Writes,
        admission: Admission::Store,
        audience: Audience { managed: Managed::NOBODY, human: true, external: External::Leads, invite: false },
        identity_arguments: &["agent_name"],
        route: |definition| route(definition, assign_role_hat),
    },
    ToolDefinition {
        name: "hat_history",
        description: "Call this before you assign a hat, to see who wore which hat for which task.",
        effect: Effect::Reads,
        admission: Admission::ActiveReader,
        audience: Audience { managed: Managed::NOBODY, human: true, external: External::Leads, invite: false },
        identity_arguments: &[],
        route: |definition| route(definition, hat_history),
    },
];

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AssignRoleHat {
    #[schemars(with = "String")]
    task_id: TaskId,
    #[schemars(with = "String")]
    role: Role,
}

async fn assign_role_hat(call: Call, given: AssignRoleHat) -> Result<Answer, Failure> {
    call.require_task_in_project(&given.task_id).await?;
    let task = call.db.assign_role_hat(&call.caller, &given.task_id, given.role).await?;
    let assignee = task.card.contributors.assigned_to.as_deref().unwrap_or("nobody");
    let text = format!("{assignee} wears the hat {} on {}.", given.role, task.card.id);
    Ok(Answer::new(text, json!({"task": format::data(&task.card, &[])})))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct HatHistory {
    #[serde(default, alias = "project_id")]
    project: ProjectArgument,
}

async fn hat_history(call: Call, given: HatHistory) -> Result<Answer, Failure> {
    let hats = call.db.hats(&call.project(given.project).await?).await?;
    let (shown, older) = page::newest_that_fit(hats.iter().map(|hat| json!(hat)).collect());
    let lines: Vec<String> = hats[older..]
        .iter()
        .map(|hat| format!("{} wore {} for {} [{}] {}, since {}", hat.agent_name, hat.role_hat, hat.task_id, hat.status, hat.title, hat.since))
        .collect();
    let mut text = if lines.is_empty() { "No hats were assigned yet.".to_owned() } else { lines.join("\n") };
    if older > 0 {
        text = format!("({older} older ones omitted: list_tasks shows the tasks.)\n{text}");
    }
    Ok(Answer::new(text, json!({"hats": shown, "left_out": older})))
}
