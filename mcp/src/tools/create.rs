//! Making tasks: a plan at once, or a single one.

use db::Caller;
use domain::board::status::HeldBy;
use domain::board::task::{NewSubtask, NewTask, Task};
use domain::id::{GoalId, TaskId};
use domain::runs::agent_kind::AgentKind;
use domain::team::role::Role;
use rmcp::handler::server::router::tool::ToolRoute;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::call::{Call, Effect, tool};
use crate::handler::Handler;
use crate::reply::{Answer, Failure};
use crate::tools::arguments::{self, DependsOn, InProject};

pub(super) fn routes() -> Vec<ToolRoute<Handler>> {
    vec![
        tool(
            "create_subtasks",
            "Use it to create the tasks of a plan in one call, all or none; the ids come back in the order given. At most 50. `depends_on` names tasks by place in this list, from 0, or by id.",
            Effect::Writes,
            create_subtasks,
        ),
        tool(
            "create_task",
            "Use it to create a single task; for several use create_subtasks. It becomes a child of `parent_task_id`, a planner's by default of its planning task. `assigned_to` gives it to an agent from outside.",
            Effect::Writes,
            create_task,
        ),
    ]
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CreateSubtasks {
    /// Planner: your own task. Orchestrator: the planning task.
    #[schemars(with = "String")]
    parent_task_id: TaskId,
    tasks: Vec<Subtask>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Subtask {
    title: String,
    /// What is to be done and how it is judged.
    description: Option<String>,
    #[schemars(schema_with = "arguments::created_phase")]
    #[serde(default)]
    phase: Option<AgentKind>,
    #[serde(default)]
    depends_on: Vec<DependsOn>,
}

async fn create_subtasks(call: Call, arguments: CreateSubtasks) -> Result<Answer, Failure> {
    call.within_reach(&arguments.parent_task_id).await?;
    let new = arguments.tasks.into_iter().map(NewSubtask::from).collect();
    let tasks = call.db.create_subtasks(&call.caller, &arguments.parent_task_id, new).await?;
    Ok(created(&call.caller, &tasks))
}

impl From<Subtask> for NewSubtask {
    fn from(given: Subtask) -> Self {
        Self {
            title: given.title,
            description: given.description,
            phase: given.phase,
            depends_on: given.depends_on.into_iter().map(|dependency| dependency.0).collect(),
        }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CreateTask {
    title: String,
    /// What is to be done and how it is judged.
    description: Option<String>,
    #[schemars(schema_with = "arguments::created_phase")]
    #[serde(default, deserialize_with = "arguments::given")]
    phase: Option<AgentKind>,
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    parent_task_id: Option<TaskId>,
    /// Tasks that must be done first.
    #[schemars(with = "Vec<String>")]
    #[serde(default, alias = "blocked_by", deserialize_with = "arguments::list")]
    depends_on: Vec<TaskId>,
    /// An agent from outside that is to do it; without one the runner starts a coder.
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    assigned_to: Option<String>,
    /// The assignee's role in it.
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    role_hat: Option<Role>,
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    goal_id: Option<GoalId>,
    #[serde(default, alias = "project_id")]
    project: InProject,
}

/// An agent's single task is a part of its plan like any other, so that it waits for the plan and for its approval.
async fn create_task(call: Call, given: CreateTask) -> Result<Answer, Failure> {
    let project = call.project(given.project.0).await?;
    let new = NewTask {
        title: given.title,
        description: given.description,
        phase: given.phase,
        parent_task_id: given.parent_task_id,
        depends_on: given.depends_on,
        priority: None,
        model: None,
        start: false,
        assigned_to: given.assigned_to,
        role_hat: given.role_hat,
        goal_id: given.goal_id,
    };
    let task = call.db.create_task(&call.caller, &project, new).await?;
    Ok(created(&call.caller, &[task]))
}

fn created(caller: &Caller, tasks: &[Task]) -> Answer {
    let lines: Vec<String> = tasks.iter().map(|task| format!("{} {}", task.card.id, task.card.title)).collect();
    let first = tasks.first().map(|task| &task.card);
    let held = first.and_then(|card| card.held_by);
    let next = match (caller, first.and_then(|card| card.contributors.assigned_to.as_deref()), held) {
        (_, Some(assignee), None) => format!("It is assigned to {assignee}, who is told."),
        (Caller::Run(_), _, Some(HeldBy::Plan)) => "They wait for the person's approval once you call complete_task.".to_owned(),
        (Caller::Run(run), ..) if run.phase == AgentKind::Orchestrator => "The runner starts them as soon as there is room.".to_owned(),
        (Caller::Run(_), ..) => "They start when you call complete_task.".to_owned(),
        (_, _, Some(_)) => "It waits until it is started on the board.".to_owned(),
        (_, _, None) => "The runner starts what can start.".to_owned(),
    };
    let ids: Vec<&TaskId> = tasks.iter().map(|task| &task.card.id).collect();
    Answer::new(format!("Created:\n{}\n{next}", lines.join("\n")), json!({"ids": ids}))
}
