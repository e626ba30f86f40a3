//! Hats: in which role somebody works on a task, and who wore which.

use domain::id::TaskId;
use domain::team::role::Role;
use rmcp::handler::server::router::tool::ToolRoute;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::call::{Call, Effect, tool};
use crate::handler::Handler;
use crate::page;
use crate::reply::{Answer, Failure};
use crate::show;
use crate::tools::arguments::InProject;

pub(super) fn routes() -> Vec<ToolRoute<Handler>> {
    vec![
        tool(
            "assign_role_hat",
            "Use it as a lead to say in which of its roles the assignee works on a task. Hats that exclude each other are refused over all its tasks.",
            Effect::Writes,
            assign_role_hat,
        ),
        tool("hat_history", "Use it to see who wore which hat for which task, before you give one.", Effect::Reads, hat_history),
    ]
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AssignRoleHat {
    #[schemars(with = "String")]
    task_id: TaskId,
    #[schemars(with = "String")]
    role: Role,
}

async fn assign_role_hat(call: Call, given: AssignRoleHat) -> Result<Answer, Failure> {
    call.within_reach(&given.task_id).await?;
    let task = call.db.assign_role_hat(&call.caller, &given.task_id, given.role).await?;
    let assignee = task.card.contributors.assigned_to.as_deref().unwrap_or("nobody");
    let text = format!("{assignee} wears the hat {} for {}.", given.role, task.card.id);
    Ok(Answer::new(text, json!({"task": show::data(&task.card, &[])})))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct HatHistory {
    #[serde(default, alias = "project_id")]
    project: InProject,
}

async fn hat_history(call: Call, given: HatHistory) -> Result<Answer, Failure> {
    call.db.require_active_reader(&call.caller).await?;
    let hats = call.db.hats(&call.project(given.project.0).await?).await?;
    let (shown, older) = page::newest(hats.iter().map(|worn| json!(worn)).collect());
    let lines: Vec<String> = hats[older..]
        .iter()
        .map(|worn| format!("{} wore {} for {} [{}] {}, since {}", worn.agent_name, worn.role_hat, worn.task_id, worn.status, worn.title, worn.since))
        .collect();
    let mut text = if lines.is_empty() { "Nobody wore a hat yet.".to_owned() } else { lines.join("\n") };
    if older > 0 {
        text = format!("({older} older ones are left out: list_tasks has the tasks.)\n{text}");
    }
    Ok(Answer::new(text, json!({"hats": shown, "left_out": older})))
}
