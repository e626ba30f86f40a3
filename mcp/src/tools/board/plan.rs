//! Tools that create the tasks of a plan at once, or a single task.
//!
//! It must not know when a task starts.

use std::path::Path;

use db::Caller;
use domain::board::status::HeldBy;
use domain::board::task::{NewSubtask, NewTask, Task};
use domain::id::{GoalId, TaskId};
use domain::runs::agent_kind::AgentKind;
use domain::team::role::Role;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::call::{Call, route};
use crate::reply::{Answer, Failure};
use crate::tools::arguments::{self, DependsOn, ProjectArgument};
use crate::tools::board::task::assignment_warning;
use crate::tools::definition::{Admission, Audience, Effect, External, ToolDefinition};
use crate::tools::managed::{Managed, Need, PLANNERS};

pub(super) const TOOLS: &[ToolDefinition] = &[
    ToolDefinition {
        name: "create_subtasks",
        description: "Call this to create the tasks of a plan in one call, at most 50, all or none. `depends_on` takes positions in this list, from 0, or ids.",
        effect: Effect::Writes,
        admission: Admission::Store,
        audience: Audience { managed: Managed::of(PLANNERS), human: true, external: External::Leads, invite: false },
        identity_arguments: &[],
        route: |definition| route(definition, create_subtasks),
    },
    ToolDefinition {
        name: "create_task",
        description: "Call this to create one task; create_subtasks creates several. A planner's task is a child of its planning task by default.",
        effect: Effect::Writes,
        admission: Admission::Store,
        audience: Audience {
            managed: Managed::of(PLANNERS).hiding(&[
                ("goal_id", Need::Goals),
                ("assigned_to", Need::ExternalAgents),
                ("role_hat", Need::ExternalAgents),
                ("from_branch", Need::Never),
            ]),
            human: true,
            external: External::Trusted,
            invite: false,
        },
        identity_arguments: &["creator", "agent_name"],
        route: |definition| route(definition, create_task),
    },
];

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
    /// The work and its acceptance criteria.
    description: Option<String>,
    #[schemars(schema_with = "arguments::created_phase")]
    #[serde(default)]
    phase: Option<AgentKind>,
    #[serde(default)]
    depends_on: Vec<DependsOn>,
    /// Paths it will change (src/parser/).
    #[serde(default)]
    files: Vec<String>,
}

async fn create_subtasks(call: Call, arguments: CreateSubtasks) -> Result<Answer, Failure> {
    call.require_task_in_project(&arguments.parent_task_id).await?;
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
            files: given.files,
        }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CreateTask {
    title: String,
    /// The work and its acceptance criteria.
    description: Option<String>,
    #[schemars(schema_with = "arguments::created_phase")]
    #[serde(default, deserialize_with = "arguments::given")]
    phase: Option<AgentKind>,
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    parent_task_id: Option<TaskId>,
    /// Ids of tasks to be done first.
    #[schemars(with = "Vec<String>")]
    #[serde(default, alias = "blocked_by", deserialize_with = "arguments::list")]
    depends_on: Vec<TaskId>,
    #[serde(default, deserialize_with = "arguments::list")]
    files: Vec<String>,
    /// An external agent. Without one the runner starts a coder.
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    assigned_to: Option<String>,
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    role_hat: Option<Role>,
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    goal_id: Option<GoalId>,
    /// A local branch to start from, whose commits become part of the work. Default: the project branch.
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    from_branch: Option<String>,
    #[serde(default, alias = "project_id")]
    project: ProjectArgument,
}

/// A task that a planner creates alone belongs to its plan, too, so it waits for the plan's approval.
async fn create_task(call: Call, given: CreateTask) -> Result<Answer, Failure> {
    let project = call.project(given.project).await?;
    if let Some(branch) = &given.from_branch {
        repo::check_start_branch(Path::new(&call.db.project(&project).await?.git_dir), branch).await??;
    }
    let new = NewTask {
        title: given.title,
        description: given.description,
        phase: given.phase,
        parent_task_id: given.parent_task_id,
        depends_on: given.depends_on,
        files: given.files,
        assigned_to: given.assigned_to,
        role_hat: given.role_hat,
        goal_id: given.goal_id,
        from_branch: given.from_branch,
        ..NewTask::default()
    };
    let task = call.db.create_task(&call.caller, &project, new).await?;
    let warning = assignment_warning(&call, &task).await?;
    let mut answer = created(&call.caller, &[task]);
    answer.text.extend(warning.map(|warning| format!("\n{warning}")));
    Ok(answer)
}

fn created(caller: &Caller, tasks: &[Task]) -> Answer {
    let lines: Vec<String> = tasks.iter().map(|task| format!("{} {}", task.card.id, task.card.title)).collect();
    let first = tasks.first().map(|task| &task.card);
    let held = first.and_then(|card| card.held_by);
    let next = match (caller, first.and_then(|card| card.contributors.assigned_to.as_deref()), held) {
        (_, Some(assignee), None) => format!("It is assigned to {assignee}, who is notified."),
        (Caller::Run(_), _, Some(HeldBy::Plan)) => "They wait for the human's approval once you call complete_task.".to_owned(),
        (Caller::Run(run), ..) if run.phase == AgentKind::Orchestrator => "The runner starts them as soon as it has capacity.".to_owned(),
        (Caller::Run(_), ..) => "They start when you call complete_task.".to_owned(),
        (_, _, Some(_)) => "It waits until the human starts it on the board.".to_owned(),
        (_, _, None) => "The runner starts it when it can.".to_owned(),
    };
    let ids: Vec<&TaskId> = tasks.iter().map(|task| &task.card.id).collect();
    Answer::new(format!("Created:\n{}\n{next}", lines.join("\n")), json!({"ids": ids}))
}
