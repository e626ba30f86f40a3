//! The gates of a task: handed in, approved or sent back, and verified by a third pair of eyes.

use domain::board::status::Status;
use domain::board::task::Submission;
use domain::id::TaskId;
use rmcp::handler::server::router::tool::ToolRoute;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::call::{Call, Effect, tool};
use crate::handler::Handler;
use crate::reply::{Answer, Failure};
use crate::tools::task::{found, told};

pub(super) fn routes() -> Vec<ToolRoute<Handler>> {
    vec![
        tool(
            "submit_for_review",
            "Use it when the task that is assigned to you is finished: it goes to review, and the leads are told.",
            Effect::Writes,
            submit_for_review,
        ),
        tool(
            "approve_task",
            "Use it as a lead when a task in review is good. Who built it may not approve it; somebody else verifies it afterwards.",
            Effect::Writes,
            approve_task,
        ),
        tool("reject_task", "Use it as a lead to send a task in review back to its assignee, with what to change.", Effect::Writes, reject_task),
        tool(
            "verify_task",
            "Use it when you have checked a finished task yourself. Only somebody who neither built nor approved it may.",
            Effect::Writes,
            verify_task,
        ),
        tool(
            "reject_verification",
            "Use it when a finished task does not hold: it goes back to work, with your reason. Only somebody who neither built nor approved it may.",
            Effect::Writes,
            reject_verification,
        ),
    ]
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SubmitForReview {
    #[schemars(with = "String")]
    task_id: TaskId,
    /// What was done.
    summary: String,
    files_changed: Option<String>,
    /// What was run, and how it ended.
    test_results: Option<String>,
}

async fn submit_for_review(call: Call, given: SubmitForReview) -> Result<Answer, Failure> {
    call.within_reach(&given.task_id).await?;
    let submission = Submission { summary: given.summary, files_changed: given.files_changed, test_results: given.test_results };
    let task = call.db.submit_for_review(&call.caller, &given.task_id, submission).await?;
    Ok(told(&call.caller, &task))
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
    /// What is wrong.
    reason: String,
}

async fn approve_task(call: Call, given: WithNotes) -> Result<Answer, Failure> {
    let found = found(&call, &given.task_id, Status::Done).await?;
    let task = call.db.approve_task(&call.caller, &given.task_id, given.notes.as_deref(), found).await?;
    Ok(told(&call.caller, &task))
}

async fn reject_task(call: Call, given: WithReason) -> Result<Answer, Failure> {
    call.within_reach(&given.task_id).await?;
    let task = call.db.reject_task(&call.caller, &given.task_id, &given.reason).await?;
    Ok(told(&call.caller, &task))
}

async fn verify_task(call: Call, given: WithNotes) -> Result<Answer, Failure> {
    call.within_reach(&given.task_id).await?;
    let task = call.db.verify_task(&call.caller, &given.task_id, given.notes.as_deref()).await?;
    Ok(told(&call.caller, &task))
}

async fn reject_verification(call: Call, given: WithReason) -> Result<Answer, Failure> {
    call.within_reach(&given.task_id).await?;
    let task = call.db.reject_verification(&call.caller, &given.task_id, &given.reason).await?;
    Ok(told(&call.caller, &task))
}
