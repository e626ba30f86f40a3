//! Making tasks: a plan at once, or a single one.

use db::Caller;
use domain::id::{ProjectId, TaskId};
use domain::task::{HeldBy, NewSubtask, NewTask, Phase, Task};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::call::Call;
use crate::reply::{Answer, Failure};
use crate::tools::arguments::{self, DependsOn};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CreateSubtasks {
    /// Planner: your own task. Orchestrator: the planning task.
    #[schemars(with = "String")]
    parent_task_id: TaskId,
    tasks: Vec<Subtask>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Subtask {
    title: String,
    /// What is to be done and how it is judged.
    description: Option<String>,
    #[schemars(schema_with = "arguments::created_phase")]
    #[serde(default)]
    phase: Option<Phase>,
    #[serde(default)]
    depends_on: Vec<DependsOn>,
}

pub(crate) async fn create_subtasks(call: Call, arguments: CreateSubtasks) -> Result<Answer, Failure> {
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
pub(crate) struct CreateTask {
    title: String,
    /// What is to be done and how it is judged.
    description: Option<String>,
    #[schemars(schema_with = "arguments::created_phase")]
    #[serde(default)]
    phase: Option<Phase>,
    #[schemars(with = "Option<String>")]
    parent_task_id: Option<TaskId>,
    /// Tasks that must be done first.
    #[schemars(with = "Vec<String>")]
    #[serde(default)]
    depends_on: Vec<TaskId>,
    /// For a person with several projects.
    #[schemars(with = "Option<String>")]
    project_id: Option<ProjectId>,
}

pub(crate) async fn create_task(call: Call, given: CreateTask) -> Result<Answer, Failure> {
    let Caller::Run(run) = &call.caller else {
        let project = call.project(given.project_id).await?;
        let new = NewTask {
            title: given.title,
            description: given.description,
            phase: given.phase,
            parent_task_id: given.parent_task_id,
            depends_on: given.depends_on,
            priority: None,
            model: None,
            start: false,
        };
        let task = call.db.create_task(&call.caller, &project, new).await?;
        return Ok(created(&call.caller, &[task]));
    };
    call.project(given.project_id).await?;
    // An agent's single task is a part of its plan like any other, so that it waits for the plan and for its approval.
    let parent = match given.parent_task_id {
        Some(parent) => parent,
        None => call.db.card(&run.task_id).await?.round_of.unwrap_or_else(|| run.task_id.clone()),
    };
    let depends_on = given.depends_on.into_iter().map(domain::task::Dependency::Task).collect();
    let new = NewSubtask { title: given.title, description: given.description, phase: given.phase, depends_on };
    let tasks = call.db.create_subtasks(&call.caller, &parent, vec![new]).await?;
    Ok(created(&call.caller, &tasks))
}

fn created(caller: &Caller, tasks: &[Task]) -> Answer {
    let lines: Vec<String> = tasks.iter().map(|task| format!("{} {}", task.card.id, task.card.title)).collect();
    let held = tasks.first().and_then(|task| task.card.held_by);
    let next = match (caller, held) {
        (Caller::Run(_), Some(HeldBy::Plan)) => "They wait for the person's approval once you call complete_task.",
        (Caller::Run(run), _) if run.phase == Phase::Orchestrator => "The runner starts them as soon as there is room.",
        (Caller::Run(_), _) => "They start when you call complete_task.",
        (_, Some(_)) => "It waits until it is started on the board.",
        (_, None) => "The runner starts what can start.",
    };
    let ids: Vec<&TaskId> = tasks.iter().map(|task| &task.card.id).collect();
    Answer { text: format!("Created:\n{}\n{next}", lines.join("\n")), data: json!({"ids": ids}) }
}
