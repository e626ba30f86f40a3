//! Goals: tasks that belong together, how far they are, and their sign-off.

use domain::board::goal::{Goal, NewGoal};
use domain::board::stage::Stage;
use domain::id::{GoalId, TaskId};
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

pub(super) fn routes() -> Vec<ToolRoute<Handler>> {
    vec![
        tool("create_goal", "Use it to name what several tasks are for; link them with link_task_to_goal.", Effect::Writes, create_goal),
        tool("link_task_to_goal", "Use it as a lead to put a task under a goal.", Effect::Writes, link_task_to_goal),
        tool("goal_status", "Use it to see how far a goal is: its tasks, and how many are completed and verified.", Effect::Reads, goal_status),
        tool(
            "verify_goal",
            "Use it as a lead to sign a goal off once each of its tasks is verified; those who worked on them are told.",
            Effect::Writes,
            verify_goal,
        ),
    ]
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CreateGoal {
    title: String,
    description: Option<String>,
    #[serde(default, alias = "project_id")]
    project: InProject,
}

async fn create_goal(call: Call, given: CreateGoal) -> Result<Answer, Failure> {
    let project = call.project(given.project.0).await?;
    let goal = call.db.create_goal(&call.caller, &project, NewGoal { title: given.title, description: given.description }).await?;
    Ok(Answer::new(format!("{} is {}: {}", goal.id, goal.status, goal.title), json!({"goal_id": goal.id, "goal": goal})))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct LinkTaskToGoal {
    #[schemars(with = "String")]
    task_id: TaskId,
    #[schemars(with = "String")]
    goal_id: GoalId,
}

async fn link_task_to_goal(call: Call, given: LinkTaskToGoal) -> Result<Answer, Failure> {
    call.within_reach(&given.task_id).await?;
    let task = call.db.link_task(&call.caller, &given.task_id, Some(&given.goal_id)).await?;
    let goal = call.db.goal(&given.goal_id).await?;
    let text = format!("{} belongs to {} now. {}", task.card.id, goal.id, progress(&goal));
    Ok(Answer::new(text, json!({"task": show::data(&task.card, &[]), "goal": goal})))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GoalStatus {
    #[schemars(with = "String")]
    goal_id: GoalId,
    /// The last task id of the previous page.
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    after: Option<TaskId>,
}

async fn goal_status(call: Call, given: GoalStatus) -> Result<Answer, Failure> {
    call.db.require_active_reader(&call.caller).await?;
    let goal = call.db.goal(&given.goal_id).await?;
    call.within(&goal.project_id, "goal", &goal.id)?;
    let after = given.after.as_ref().map_or(0, TaskId::number);
    let cards = call.db.board(&goal.project_id).await?.cards;
    let linked = cards.iter().filter(|card| card.goal_id.as_ref() == Some(&goal.id) && card.id.number() > after);
    let page = page::cards(linked, |card| (show::line(card, Stage::of(card).as_str()), show::data(card, &[])));
    let mut text = format!("{}\n{}", progress(&goal), page.text).trim_end().to_owned();
    if let Some(next) = &page.next {
        text += &format!("\nMore tasks follow: call goal_status with after={next}.");
    }
    Ok(Answer::new(text, json!({"goal": goal, "tasks": page.tasks, "next": page.next})))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct VerifyGoal {
    #[schemars(with = "String")]
    goal_id: GoalId,
    notes: Option<String>,
}

async fn verify_goal(call: Call, given: VerifyGoal) -> Result<Answer, Failure> {
    let goal = call.db.verify_goal(&call.caller, &given.goal_id, given.notes.as_deref()).await?;
    Ok(Answer::new(format!("{} is signed off. {}", goal.id, progress(&goal)), json!({"goal": goal})))
}

fn progress(goal: &Goal) -> String {
    let done = goal.progress;
    format!("{} [{}] {}: {}/{} verified, {}/{} completed.", goal.id, goal.status, goal.title, done.verified, done.linked, done.completed, done.linked)
}
