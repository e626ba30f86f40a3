//! Tools of the review gate: submit, approve or reject, close, and verify.
//!
//! It must not know who may judge a task.

use domain::board::status::Status;
use domain::board::task::Submission;
use domain::id::TaskId;
use domain::runs::agent_kind::AgentKind;
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::call::{Call, route};
use crate::reply::{Answer, Failure};
use crate::tools::board::task::{collect_evidence, task_answer};
use crate::tools::definition::{Admission, Audience, Effect, External, ToolDefinition};
use crate::tools::managed::{Managed, Need, ORCHESTRATOR_ONLY};

pub(super) const TOOLS: &[ToolDefinition] = &[
    ToolDefinition {
        name: "submit_for_review",
        description: "Call this when the task assigned to you is finished. It goes to review and the leads are notified.",
        effect: Effect::Writes,
        admission: Admission::Store,
        audience: Audience { managed: Managed::NOBODY, human: true, external: External::Everyone, invite: false },
        identity_arguments: &["agent_name"],
        route: |definition| route(definition, submit_for_review),
    },
    ToolDefinition {
        name: "approve_task",
        description: "Call this as a lead to approve a task in review. Its builder may not approve it, and another agent verifies it afterwards.",
        effect: Effect::Decides,
        admission: Admission::Store,
        audience: Audience { managed: Managed::NOBODY, human: true, external: External::Leads, invite: false },
        identity_arguments: &["agent_name"],
        route: |definition| route(definition, approve_task),
    },
    ToolDefinition {
        name: "reject_task",
        description: "Call this as a lead to send a task in review back to its assignee, with the changes it needs.",
        effect: Effect::Writes,
        admission: Admission::Store,
        audience: Audience { managed: Managed::NOBODY, human: true, external: External::Leads, invite: false },
        identity_arguments: &["agent_name"],
        route: |definition| route(definition, reject_task),
    },
    ToolDefinition {
        name: "close_task",
        description: "Call this as a lead to finish a task in review that has a result. Its builder may not close it.",
        effect: Effect::Decides,
        admission: Admission::Store,
        audience: Audience { managed: Managed::NOBODY, human: true, external: External::Leads, invite: false },
        identity_arguments: &["agent_name"],
        route: |definition| route(definition, close_task),
    },
    ToolDefinition {
        name: "verify_task",
        description: "Call this after you checked a completed task yourself. You must not have built or approved it.",
        effect: Effect::Decides,
        admission: Admission::Store,
        audience: Audience {
            managed: Managed::of(ORCHESTRATOR_ONLY).listed_for(Need::Goals).adapted(verify_as_orchestrator),
            human: true,
            external: External::Trusted,
            invite: false,
        },
        identity_arguments: &["agent_name"],
        route: |definition| route(definition, verify_task),
    },
    ToolDefinition {
        name: "reject_verification",
        description: "Call this when a completed task fails verification; it returns to in_progress with your reason. You must not have built or approved it.",
        effect: Effect::Writes,
        admission: Admission::Store,
        audience: Audience {
            managed: Managed::of(ORCHESTRATOR_ONLY).listed_for(Need::Goals).adapted(reject_as_orchestrator),
            human: true,
            external: External::Trusted,
            invite: false,
        },
        identity_arguments: &["agent_name"],
        route: |definition| route(definition, reject_verification),
    },
];

/// An orchestrator neither builds nor approves.
fn verify_as_orchestrator(_: AgentKind, _: &mut JsonObject) -> &'static str {
    "Call this after you checked a completed task yourself."
}

fn reject_as_orchestrator(_: AgentKind, _: &mut JsonObject) -> &'static str {
    "Call this when a completed task fails your check; it returns to in_progress with your reason."
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SubmitForReview {
    #[schemars(with = "String")]
    task_id: TaskId,
    /// Summary of your work.
    summary: String,
    files_changed: Option<String>,
    /// Commands that you ran, with their results.
    test_results: Option<String>,
}

async fn submit_for_review(call: Call, given: SubmitForReview) -> Result<Answer, Failure> {
    call.require_task_in_project(&given.task_id).await?;
    let submission = Submission { summary: given.summary, files_changed: given.files_changed, test_results: given.test_results };
    let task = call.db.submit_for_review(&call.caller, &given.task_id, submission).await?;
    Ok(task_answer(&call.caller, &task))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WithNotes {
    #[schemars(with = "String")]
    task_id: TaskId,
    notes: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WithReason {
    #[schemars(with = "String")]
    task_id: TaskId,
    /// The changes that you request.
    reason: String,
}

async fn approve_task(call: Call, given: WithNotes) -> Result<Answer, Failure> {
    let evidence = collect_evidence(&call, &given.task_id, Status::Done).await?;
    let task = call.db.approve_task(&call.caller, &given.task_id, given.notes.as_deref(), evidence).await?;
    Ok(task_answer(&call.caller, &task))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CloseTask {
    #[schemars(with = "String")]
    task_id: TaskId,
}

async fn close_task(call: Call, given: CloseTask) -> Result<Answer, Failure> {
    let evidence = collect_evidence(&call, &given.task_id, Status::Done).await?;
    let task = call.db.close_task(&call.caller, &given.task_id, evidence).await?;
    Ok(task_answer(&call.caller, &task))
}

async fn reject_task(call: Call, given: WithReason) -> Result<Answer, Failure> {
    call.require_task_in_project(&given.task_id).await?;
    let task = call.db.reject_task(&call.caller, &given.task_id, &given.reason).await?;
    Ok(task_answer(&call.caller, &task))
}

async fn verify_task(call: Call, given: WithNotes) -> Result<Answer, Failure> {
    call.require_task_in_project(&given.task_id).await?;
    let task = call.db.verify_task(&call.caller, &given.task_id, given.notes.as_deref()).await?;
    Ok(task_answer(&call.caller, &task))
}

async fn reject_verification(call: Call, given: WithReason) -> Result<Answer, Failure> {
    call.require_task_in_project(&given.task_id).await?;
    let task = call.db.reject_verification(&call.caller, &given.task_id, &given.reason).await?;
    Ok(task_answer(&call.caller, &task))
}
