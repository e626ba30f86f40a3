//! Tools that read a task in full, move it or complete it. Also words the answer after a task was changed.
//!
//! It must not know which moves are legal.

use domain::board::status::{CancelReason, Status};
use domain::board::task::Task;
use domain::board::transition::requested_statuses;
use domain::id::{CommentId, TaskId};
use domain::runs::agent_kind::AgentKind;
use domain::runs::evidence::EvidenceResult;
use domain::warroom::workload::{self, Workload};
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use db::{Caller, MoveRequest};

use crate::call::{Call, route};
use crate::format;
use crate::page;
use crate::reply::{Answer, Failure};
use crate::tools::arguments;
use crate::tools::definition::{Admission, Audience, Effect, External, ToolDefinition};
use crate::tools::managed::{EVERY_KIND, Managed, PLANNERS, WORKERS, remove_descriptions};

pub(super) const TOOLS: &[ToolDefinition] = &[
    ToolDefinition {
        name: "get_task",
        description: "Call this to read one task in full: description, branch and comments, oldest first.",
        effect: Effect::Reads,
        admission: Admission::ActiveReader,
        audience: Audience { managed: Managed::of(EVERY_KIND).adapted(read_briefly), human: true, external: External::Everyone, invite: false },
        identity_arguments: &[],
        route: |definition| route(definition, get_task),
    },
    ToolDefinition {
        name: "update_task_status",
        description: "Call this when your part of a task is finished. Coder: in_review, after committing. Reviewer: done approves the commit, in_progress sends it back after a comment. Orchestrator: cancelled, with a reason.",
        effect: Effect::Writes,
        admission: Admission::Store,
        audience: Audience { managed: Managed::of(WORKERS).adapted(request_own_moves), human: true, external: External::Nobody, invite: false },
        identity_arguments: &[],
        route: |definition| route(definition, update_task_status),
    },
    ToolDefinition {
        name: "complete_task",
        description: "Call this last: your own task is done and the tasks you created start. A planner that created none must give a reason.",
        effect: Effect::Decides,
        admission: Admission::Store,
        audience: Audience { managed: Managed::of(PLANNERS), human: true, external: External::Nobody, invite: false },
        identity_arguments: &[],
        route: |definition| route(definition, complete_task),
    },
];

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GetTask {
    #[schemars(with = "String")]
    task_id: TaskId,
    /// NOTE-001: only older comments.
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    before: Option<CommentId>,
}

async fn get_task(call: Call, arguments: GetTask) -> Result<Answer, Failure> {
    let task = call.db.task(&arguments.task_id).await?;
    call.require_project(&task.card.project_id, "task", &task.card.id)?;
    let question = call.db.open_question(&task.card.id).await?;
    let mut thread = call.db.comments(&task.card.id).await?;
    if let Some(before) = &arguments.before {
        thread.retain(|comment| comment.id.number() < before.number());
    }
    let (shown, older) = page::newest_that_fit(thread.iter().map(|comment| json!(comment)).collect());
    let thread = &thread[older..];
    let mut text = format::lines(&task.card, &[]);
    if let Some(branch) = &task.branch {
        text += &format!("  branch {branch}\n");
    }
    let zones = call.db.zones_of_tasks(&task.card.project_id, std::slice::from_ref(&task.card.id)).await?.remove(&task.card.id);
    if let Some(zones) = &zones {
        text += &format!("  {}\n", format::zones(zones));
    }
    if let Some(question) = &question {
        text += &format!("  question to the human: {}\n", question.question);
    }
    text += &format!("\nDescription:\n{}\n", task.description.as_deref().unwrap_or("(none)"));
    if let Some(result) = &task.result {
        text += &format!("\nSubmitted:\n{result}\n");
    }
    // The result of a managed agent repeats the thread, which managed agents read anyway.
    let result = call.db.task_result(&task.card.id).await?.filter(|result| !result.derived || call.caller.run().is_none());
    if let Some(result) = &result {
        text += &format!("\nResult by {}:\n{}\n", result.author, result.content);
    }
    text += &format!("\nComments ({}):\n", thread.len());
    if let Some(first) = thread.first().filter(|_| older > 0) {
        text += &format!("({older} older comments omitted: call get_task with before={})\n", first.id);
    }
    for comment in thread {
        text += &format::comment(comment);
    }
    let mut data = json!({"task": format::data(&task.card, &[]), "question": question, "comments": shown, "older_comments": older});
    data["task"]["description"] = json!(task.description);
    data["task"]["branch"] = json!(task.branch);
    data["task"]["result"] = json!(task.result);
    data["task_result"] = json!(result);
    data["task"]["created_by"] = json!(task.created_by);
    if let Some(zones) = zones {
        data["task"]["zones"] = json!(zones);
    }
    Ok(Answer::new(text, data))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct UpdateTaskStatus {
    #[schemars(with = "String")]
    task_id: TaskId,
    #[schemars(schema_with = "arguments::status")]
    status: Status,
    /// To cancel: failed, abandoned, obsolete or duplicate. To send back: what to change, kept as a comment.
    reason: Option<String>,
}

/// An answer that omits comments says how to read them.
fn read_briefly(_: AgentKind, properties: &mut JsonObject) -> &'static str {
    remove_descriptions(properties);
    "Call this to read a task with its comments."
}

/// Offers an agent only the moves of its kind.
fn request_own_moves(kind: AgentKind, properties: &mut JsonObject) -> &'static str {
    properties.insert("status".to_owned(), arguments::one_of(&requested_statuses(kind)).to_value());
    if kind == AgentKind::Orchestrator {
        properties.insert("reason".to_owned(), arguments::one_of(CancelReason::ALL).to_value());
    } else {
        properties.remove("reason");
    }
    match kind {
        AgentKind::Planner => "Call this to finish your own task; complete_task does the same and takes a reason.",
        AgentKind::Coder => "Call this last, when your work is committed: it submits the commit.",
        AgentKind::Reviewer => "Call this last: done approves the commit; in_progress, after add_comment, sends it back to its coder.",
        AgentKind::Oracle | AgentKind::Orchestrator => "Call this to cancel a task that the goal does not need. complete_task finishes your own.",
    }
}

async fn update_task_status(call: Call, arguments: UpdateTaskStatus) -> Result<Answer, Failure> {
    let request = MoveRequest { to: arguments.status, reason: arguments.reason, merge: true };
    move_task(&call, &arguments.task_id, request).await
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CompleteTask {
    #[schemars(with = "String")]
    task_id: TaskId,
    /// Findings or decisions, kept as a comment.
    reason: Option<String>,
}

async fn complete_task(call: Call, arguments: CompleteTask) -> Result<Answer, Failure> {
    let request = MoveRequest { to: Status::Done, reason: arguments.reason, merge: true };
    move_task(&call, &arguments.task_id, request).await
}

async fn move_task(call: &Call, id: &TaskId, request: MoveRequest) -> Result<Answer, Failure> {
    let evidence = collect_evidence(call, id, request.to).await?;
    let task = call.db.move_task(&call.caller, id, request, evidence).await?;
    Ok(task_answer(&call.caller, &task))
}

/// Collects the evidence for a move from the repository. For a run that has ended it collects nothing: the store refuses its move, or
/// returns the stored answer.
pub(super) async fn collect_evidence(call: &Call, id: &TaskId, to: Status) -> Result<EvidenceResult, Failure> {
    if call.db.require_active_reader(&call.caller).await.is_err() {
        return Ok(EvidenceResult::Nothing);
    }
    call.require_project(&call.db.card(id).await?.project_id, "task", id)?;
    let look = call.db.required_evidence(&call.caller, id, to).await?;
    Ok(repo::read_evidence(look).await?)
}

/// Returns the answer after a task was changed.
pub(super) fn task_answer(caller: &Caller, task: &Task) -> Answer {
    let data = json!({"task": format::data(&task.card, &[]), "approved_sha": task.card.approved_sha});
    Answer::new(outcome(caller, task), data)
}

/// Warns if a task is larger than the context of its assignee allows.
pub(super) async fn assignment_warning(call: &Call, task: &Task) -> Result<Option<String>, Failure> {
    let Some(assignee) = &task.card.contributors.assigned_to else { return Ok(None) };
    let agent = call.db.agent(&task.card.project_id, assignee).await?;
    Ok(workload::check(&agent, Workload::of(&task.files, task.description.as_deref())).ok().flatten())
}

/// Words the task's new state, and what the caller does next.
fn outcome(caller: &Caller, task: &Task) -> String {
    let card = &task.card;
    let approved = card.approved_sha.as_deref().filter(|_| card.is_approved());
    let what = match (card.status, approved) {
        (_, Some(sha)) => format!("{}: approved {}. It waits in the merge queue.", card.id, format::short(sha)),
        (Status::InReview, None) => format!("{} is in review: another agent reviews the commit.", card.id),
        (Status::InProgress, None) if caller.run().is_some() => format!("{} returns to its coder, who reads your comment.", card.id),
        (Status::Done, None) if card.contributors.verified_by.is_some() => format!("{} is verified.", card.id),
        (Status::Done, None) if card.phase == AgentKind::Planner => format!("{} is done. The tasks of the plan start next.", card.id),
        (Status::Cancelled, None) => format!("{} is cancelled.", card.id),
        (status, None) => format!("{} is {status}.", card.id),
    };
    match caller {
        Caller::Run(run) if run.task_id == card.id => format!("{what} End your turn now."),
        _ => what,
    }
}
