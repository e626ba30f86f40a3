//! Tools with which a person's own client edits, holds, starts and steers tasks.
//!
//! It must not know who may decide about work.

use domain::board::task::{Task, TaskPatch};
use domain::id::TaskId;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::call::{Call, route};
use crate::format;
use crate::reply::{Answer, Failure};
use crate::tools::definition::{Admission, Audience, Effect, External, ToolDefinition};
use crate::tools::managed::Managed;

/// Only for the clients of persons: agents have tools of their own for their tasks.
const PERSONS: Audience = Audience { managed: Managed::NOBODY, human: true, external: External::Nobody, invite: false };

pub(super) const TOOLS: &[ToolDefinition] = &[
    ToolDefinition {
        name: "edit_task",
        description: "Call this to change title, description, dependencies, priority or model of a task. Omitted fields stay unchanged.",
        effect: Effect::Writes,
        admission: Admission::Store,
        audience: PERSONS,
        identity_arguments: &[],
        route: |definition| route(definition, edit_task),
    },
    ToolDefinition {
        name: "hold_task",
        description: "Call this to keep agents off a task: its agent is stopped, its files are kept, and it waits until start_task.",
        effect: Effect::Writes,
        admission: Admission::Store,
        audience: PERSONS,
        identity_arguments: &[],
        route: |definition| route(definition, hold_task),
    },
    ToolDefinition {
        name: "start_task",
        description: "Call this to let agents work on a task that is held, or to retry one that needs the human. Its dependencies still come first.",
        effect: Effect::Writes,
        admission: Admission::Store,
        audience: PERSONS,
        identity_arguments: &[],
        route: |definition| route(definition, start_task),
    },
    ToolDefinition {
        name: "steer_task",
        description: "Call this to send a message to the agent of a task. With interrupt, it first ends what it is doing. If none is running, the next reads it as a comment.",
        effect: Effect::Writes,
        admission: Admission::Store,
        audience: PERSONS,
        identity_arguments: &[],
        route: |definition| route(definition, steer_task),
    },
];

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct EditTask {
    #[schemars(with = "String")]
    task_id: TaskId,
    title: Option<String>,
    description: Option<String>,
    /// All ids of tasks to be done first.
    #[schemars(with = "Option<Vec<String>>")]
    #[serde(default)]
    depends_on: Option<Vec<TaskId>>,
    /// Higher values start first.
    priority: Option<i64>,
    model: Option<String>,
}

async fn edit_task(call: Call, given: EditTask) -> Result<Answer, Failure> {
    let EditTask { task_id, title, description, depends_on, priority, model } = given;
    let patch = TaskPatch { title, description, depends_on, priority, model, ..TaskPatch::default() };
    Ok(changed(&call.db.edit_task(&call.caller, &task_id, patch).await?, "It was edited."))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OneTask {
    #[schemars(with = "String")]
    task_id: TaskId,
}

async fn hold_task(call: Call, given: OneTask) -> Result<Answer, Failure> {
    let task = call.db.stop_task(&call.caller, &given.task_id).await?;
    Ok(changed(&task, "It is held. Call start_task to let agents continue."))
}

async fn start_task(call: Call, given: OneTask) -> Result<Answer, Failure> {
    let task = call.db.start_task(&call.caller, &given.task_id).await?;
    Ok(changed(&task, "The runner starts an agent when it can."))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SteerTask {
    #[schemars(with = "String")]
    task_id: TaskId,
    message: String,
    /// Whether the agent ends what it is doing.
    #[serde(default)]
    interrupt: bool,
}

async fn steer_task(call: Call, given: SteerTask) -> Result<Answer, Failure> {
    let SteerTask { task_id, message, interrupt } = given;
    let card = call.db.card(&task_id).await?;
    let told = match card.run.filter(|run| !run.stopping) {
        Some(run) if interrupt => {
            call.db.interrupt_run(&call.caller, &run.id, Some(&message)).await?;
            "Its agent is interrupted, and continues with the message."
        }
        Some(run) => {
            call.db.message_run(&call.caller, &run.id, &message).await?;
            "Its agent reads the message after its current step."
        }
        None => {
            call.db.add_comment(&call.caller, &task_id, &message, None).await?;
            "No agent is working on it now. The next one reads the message as a comment."
        }
    };
    Ok(changed(&call.db.task(&task_id).await?, told))
}

fn changed(task: &Task, outcome: &str) -> Answer {
    Answer::new(format!("{}{outcome}", format::lines(&task.card, &[])), json!({"task": format::data(&task.card, &[])}))
}
