//! One task: read in full, moved, completed.

use domain::board::status::Status;
use domain::board::task::Task;
use domain::id::{CommentId, TaskId};
use domain::runs::agent_kind::AgentKind;
use domain::runs::evidence::EvidenceResult;
use rmcp::handler::server::router::tool::ToolRoute;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use db::{Caller, MoveRequest};

use crate::call::{Call, Effect, tool};
use crate::handler::Handler;
use crate::page;
use crate::reply::{Answer, Failure};
use crate::show;
use crate::tools::arguments;

pub(super) fn routes() -> Vec<ToolRoute<Handler>> {
    vec![
        tool(
            "get_task",
            "Use it to read one task in full: description, branch, and the whole comment thread, oldest first. An older part of a long thread comes with `before`.",
            Effect::Reads,
            get_task,
        ),
        tool(
            "update_task_status",
            "Use it when your part of a task is finished. Coder: in_review, after committing. Reviewer: done approves the commit, in_progress sends it back after a comment. Orchestrator: cancelled, with a reason.",
            Effect::Writes,
            update_task_status,
        ),
        tool(
            "complete_task",
            "Use it as the last call of a planner or orchestrator: your own task is done and what you created starts. Without created tasks a planner must give a reason.",
            Effect::Writes,
            complete_task,
        ),
    ]
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GetTask {
    #[schemars(with = "String")]
    task_id: TaskId,
    /// The oldest comment that you have seen, like NOTE-001: what is older is shown.
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    before: Option<CommentId>,
}

async fn get_task(call: Call, arguments: GetTask) -> Result<Answer, Failure> {
    call.db.require_active_reader(&call.caller).await?;
    let task = call.db.task(&arguments.task_id).await?;
    call.within(&task.card.project_id, "task", &task.card.id)?;
    let question = call.db.open_question(&task.card.id).await?;
    let mut thread = call.db.comments(&task.card.id).await?;
    if let Some(before) = &arguments.before {
        thread.retain(|comment| comment.id.number() < before.number());
    }
    let (shown, older) = page::newest(thread.iter().map(|comment| json!(comment)).collect());
    let thread = &thread[older..];
    let mut text = show::lines(&task.card, &[]);
    if let Some(branch) = &task.branch {
        text += &format!("  branch {branch}\n");
    }
    if let Some(question) = &question {
        text += &format!("  asked the person: {}\n", question.question);
    }
    text += &format!("\nDescription:\n{}\n", task.description.as_deref().unwrap_or("(none)"));
    if let Some(result) = &task.result {
        text += &format!("\nHanded in:\n{result}\n");
    }
    text += &format!("\nComments ({}):\n", thread.len());
    if let Some(first) = thread.first().filter(|_| older > 0) {
        text += &format!("({older} older ones are left out: call get_task with before={})\n", first.id);
    }
    for comment in thread {
        text += &show::comment(comment);
    }
    let mut data = json!({"task": show::data(&task.card, &[]), "question": question, "comments": shown, "older_comments": older});
    data["task"]["description"] = json!(task.description);
    data["task"]["branch"] = json!(task.branch);
    data["task"]["result"] = json!(task.result);
    data["task"]["created_by"] = json!(task.created_by);
    Ok(Answer::new(text, data))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct UpdateTaskStatus {
    #[schemars(with = "String")]
    task_id: TaskId,
    #[schemars(schema_with = "arguments::status")]
    status: Status,
    /// Cancelling: failed, abandoned, obsolete or duplicate. Sending back: what to change, kept as a comment.
    reason: Option<String>,
}

async fn update_task_status(call: Call, arguments: UpdateTaskStatus) -> Result<Answer, Failure> {
    let wish = MoveRequest { to: arguments.status, reason: arguments.reason, merge: true };
    moved(&call, &arguments.task_id, wish).await
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CompleteTask {
    #[schemars(with = "String")]
    task_id: TaskId,
    /// What was found or decided; kept as a comment.
    reason: Option<String>,
}

async fn complete_task(call: Call, arguments: CompleteTask) -> Result<Answer, Failure> {
    let wish = MoveRequest { to: Status::Done, reason: arguments.reason, merge: true };
    moved(&call, &arguments.task_id, wish).await
}

async fn moved(call: &Call, id: &TaskId, wish: MoveRequest) -> Result<Answer, Failure> {
    let found = found(call, id, wish.to).await?;
    let task = call.db.move_task(&call.caller, id, wish, found).await?;
    Ok(told(&call.caller, &task))
}

/// What the repository says about a task that is to be moved. Nothing is looked up for a run that is over: its move is refused, or was
/// made before and is answered from memory.
pub(super) async fn found(call: &Call, id: &TaskId, to: Status) -> Result<EvidenceResult, Failure> {
    if call.db.require_active_reader(&call.caller).await.is_err() {
        return Ok(EvidenceResult::Nothing);
    }
    call.within(&call.db.card(id).await?.project_id, "task", id)?;
    let look = call.db.required_evidence(&call.caller, id, to).await?;
    Ok(tokio::task::spawn_blocking(move || repo::collect_evidence(&look)).await??)
}

/// The answer after a task was changed.
pub(super) fn told(caller: &Caller, task: &Task) -> Answer {
    let data = json!({"task": show::data(&task.card, &[]), "approved_sha": task.card.approved_sha});
    Answer::new(outcome(caller, task), data)
}

/// What became of the task, and what the caller does now.
fn outcome(caller: &Caller, task: &Task) -> String {
    let card = &task.card;
    let approved = card.approved_sha.as_deref().filter(|_| card.is_approved());
    let what = match (card.status, approved) {
        (_, Some(sha)) => format!("{}: approved {}; the merge is queued.", card.id, show::short(sha)),
        (Status::InReview, None) => format!("{} is in review: another agent judges the commit.", card.id),
        (Status::InProgress, None) if caller.run().is_some() => format!("{} is sent back to its coder, who reads your comment.", card.id),
        (Status::Done, None) if card.contributors.verified_by.is_some() => format!("{} is verified.", card.id),
        (Status::Done, None) if card.phase == AgentKind::Planner => format!("{} is done: the tasks of the plan are next.", card.id),
        (Status::Cancelled, None) => format!("{} is given up.", card.id),
        (status, None) => format!("{} is {status}.", card.id),
    };
    match caller {
        Caller::Run(run) if run.task_id == card.id => format!("{what} End your turn now."),
        _ => what,
    }
}
