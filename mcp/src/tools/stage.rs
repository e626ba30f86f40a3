//! Tasks by their stages, as agents from outside know them: listed, and brought from one to the next.

use std::collections::BTreeMap;

use domain::board::card::Card;
use domain::board::stage::Stage;
use domain::board::status::Status;
use domain::board::task::TaskUpdate;
use domain::id::TaskId;
use domain::team::agent::{Agent, Health, is_short_for};
use rmcp::handler::server::router::tool::ToolRoute;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::call::{Call, Effect, tool};
use crate::handler::Handler;
use crate::page;
use crate::reply::{Answer, Failure};
use crate::show;
use crate::tools::arguments::{self, InProject};
use crate::tools::task::{found, told};

pub(super) fn routes() -> Vec<ToolRoute<Handler>> {
    vec![
        tool(
            "list_tasks",
            "Use it to find work, or who has which: open tasks with their stage and assignee. It warns of tasks whose assignee is gone.",
            Effect::Reads,
            list_tasks,
        ),
        tool(
            "update_task",
            "Use it to bring a task to its next stage. Assignee: in_progress, review, failed. Lead: assigned, completed, or in_progress for rework. `result` keeps what came of it.",
            Effect::Writes,
            update_task,
        ),
    ]
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListTasks {
    /// A stage, like assigned or review. Without it: all that are open.
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    status: Option<Stage>,
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    assigned_to: Option<String>,
    #[serde(default, alias = "project_id")]
    project: InProject,
    /// The last task id of the previous page.
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    after: Option<TaskId>,
}

async fn list_tasks(call: Call, given: ListTasks) -> Result<Answer, Failure> {
    call.db.require_active_reader(&call.caller).await?;
    let project = call.project(given.project.0).await?;
    let mut cards = call.db.board(&project).await?.cards;
    let after = given.after.as_ref().map_or(0, TaskId::number);
    cards.retain(|card| card.id.number() > after && given.status.map_or(card.status.is_open(), |stage| Stage::of(card) == stage));
    if let Some(wanted) = &given.assigned_to {
        cards.retain(|card| card.contributors.assigned_to.as_deref().is_some_and(|assignee| is_short_for(wanted, assignee)));
    }
    let agents: BTreeMap<String, Agent> = call.db.agents(&project).await?.into_iter().map(|agent| (agent.name.clone(), agent)).collect();
    let page = page::cards(cards.iter(), |card| (show::line(card, Stage::of(card).as_str()), show::data(card, &[])));
    let warnings: Vec<String> = cards.iter().take(page.tasks.len()).filter_map(|card| warning(card, &agents)).collect();
    let mut text = if cards.is_empty() { "No task.\n".to_owned() } else { page.text };
    for warning in &warnings {
        text += &format!("WARNING: {warning}\n");
    }
    if let Some(next) = &page.next {
        text += &format!("More tasks follow: call list_tasks with after={next}.\n");
    }
    Ok(Answer::new(text, json!({"tasks": page.tasks, "warnings": warnings, "next": page.next})))
}

/// Says when nobody is behind the name that works on a task.
fn warning(card: &Card, agents: &BTreeMap<String, Agent>) -> Option<String> {
    let assignee = card.contributors.assigned_to.as_ref().filter(|_| card.status == Status::InProgress)?;
    let agent = agents.get(assignee);
    let gone = agent.is_none_or(|agent| agent.left_at.is_some() || agent.health == Health::Dead);
    let since = agent.and_then(|agent| agent.left_at.or(agent.last_seen)).map(|since| format!(" since {}", since.clock())).unwrap_or_default();
    gone.then(|| format!("{} is in progress, and its assignee {assignee} is gone{since}", card.id))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct UpdateTask {
    #[schemars(with = "String")]
    task_id: TaskId,
    #[schemars(schema_with = "arguments::stage")]
    #[serde(default, deserialize_with = "arguments::given")]
    status: Option<Stage>,
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    assigned_to: Option<String>,
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    result: Option<String>,
}

async fn update_task(call: Call, given: UpdateTask) -> Result<Answer, Failure> {
    let to = match given.status {
        Some(Stage::InProgress) => Status::InProgress,
        Some(Stage::Review) => Status::InReview,
        Some(Stage::Completed | Stage::Verified) => Status::Done,
        Some(Stage::Failed) => Status::Cancelled,
        _ => Status::Backlog,
    };
    let found = found(&call, &given.task_id, to).await?;
    let update = TaskUpdate { stage: given.status, assigned_to: given.assigned_to, result: given.result };
    let task = call.db.update_task(&call.caller, &given.task_id, update, found).await?;
    Ok(told(&call.caller, &task))
}
