//! Tools that create goals, link tasks to them, show progress and sign them off.
//!
//! It must not know when a goal is complete.

use db::CardFilter;
use domain::board::goal::{Goal, NewGoal};
use domain::board::stage::Stage;
use domain::id::{GoalId, TaskId};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::call::{Call, route};
use crate::format;
use crate::page;
use crate::reply::{Answer, Failure};
use crate::tools::arguments::{self, ProjectArgument};
use crate::tools::definition::{Admission, Audience, Effect, External, ToolDefinition};
use crate::tools::managed::{Managed, Need, ORCHESTRATOR_ONLY, PLANNERS};

pub(super) const TOOLS: &[ToolDefinition] = &[
    ToolDefinition {
        name: "create_goal",
        description: "Call this to name the purpose of several tasks; link them with link_task_to_goal.",
        effect: Effect::Writes,
        admission: Admission::Store,
        audience: Audience { managed: Managed::of(PLANNERS).listed_for(Need::Goals), human: true, external: External::Trusted, invite: false },
        identity_arguments: &["creator"],
        route: |definition| route(definition, create_goal),
    },
    ToolDefinition {
        name: "link_task_to_goal",
        description: "Call this as a lead to add a task to a goal.",
        effect: Effect::Writes,
        admission: Admission::Store,
        audience: Audience { managed: Managed::of(PLANNERS).listed_for(Need::Goals), human: true, external: External::Leads, invite: false },
        identity_arguments: &["agent_name"],
        route: |definition| route(definition, link_task_to_goal),
    },
    ToolDefinition {
        name: "goal_status",
        description: "Call this to see the progress of a goal: its tasks, and how many are completed and verified.",
        effect: Effect::Reads,
        admission: Admission::ActiveReader,
        audience: Audience {
            managed: Managed::of(PLANNERS).listed_for(Need::Goals).hiding(&[("after", Need::Never)]),
            human: true,
            external: External::Everyone,
            invite: false,
        },
        identity_arguments: &[],
        route: |definition| route(definition, goal_status),
    },
    ToolDefinition {
        name: "verify_goal",
        description: "Call this as a lead to sign off a goal once all its tasks are verified.",
        effect: Effect::Decides,
        admission: Admission::Store,
        audience: Audience { managed: Managed::of(ORCHESTRATOR_ONLY).listed_for(Need::Goals), human: true, external: External::Leads, invite: false },
        identity_arguments: &["agent_name"],
        route: |definition| route(definition, verify_goal),
    },
];

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CreateGoal {
    title: String,
    description: Option<String>,
    #[serde(default, alias = "project_id")]
    project: ProjectArgument,
}

async fn create_goal(call: Call, given: CreateGoal) -> Result<Answer, Failure> {
    let project = call.project(given.project).await?;
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
    call.require_task_in_project(&given.task_id).await?;
    let task = call.db.link_task(&call.caller, &given.task_id, Some(&given.goal_id)).await?;
    let goal = call.db.goal(&given.goal_id).await?;
    let text = format!("{} now belongs to {}. {}", task.card.id, goal.id, progress(&goal));
    Ok(Answer::new(text, json!({"task": format::data(&task.card, &[]), "goal": goal})))
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
    let goal = call.db.goal(&given.goal_id).await?;
    call.require_project(&goal.project_id, "goal", &goal.id)?;
    let filter = CardFilter { goal: Some(goal.id.clone()), after: given.after, ..CardFilter::of_project(goal.project_id.clone()) };
    let cards = call.db.cards(&filter).await?;
    let page = page::cards(cards.iter(), |card| (format::line(card, Stage::of(card).as_str()), format::data(card, &[])));
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
