//! Refusals of tasks: the status or the stage of the task does not allow the action. Refused moves are in `transition::refusal`.

use crate::board::stage::Stage;
use crate::board::status::Status;
use crate::id::TaskId;
use crate::refusal::category::refusals;

refusals! {
    /// Why something may not be done with a task.
    TaskRefusal {
        #[error("{task} has the status {status}: {problem}")]
        WrongStatus { task: TaskId, status: Status, problem: String, hint: String } => Unprocessable "not-now",
        #[error("{action} requires the assignee, and {task} is assigned to {}", assignee.as_deref().unwrap_or("no agent"))]
        NotAssignee { task: TaskId, assignee: Option<String>, action: String } => Forbidden "not-assignee",
        #[error("{agent} may not change {task} from {from} to {to}")]
        IllegalStage { task: TaskId, from: Stage, to: Stage, agent: String, next: Vec<Stage> } => Unprocessable "illegal-stage",
    }
}

impl TaskRefusal {
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::WrongStatus { hint, .. } => hint.clone(),
            Self::NotAssignee { .. } => "Leave it to the assignee. A lead can assign the task to you with update_task and assigned_to.".to_owned(),
            Self::IllegalStage { from, next, .. } if next.is_empty() => format!("You cannot change this task now. {}", who_acts_next(*from)),
            Self::IllegalStage { next, .. } => {
                format!("You can change it to {}.", next.iter().map(|stage| stage.as_str()).collect::<Vec<_>>().join(" or "))
            }
        }
    }
}

/// Says who acts next on a task of this stage. The caller can itself be a lead, so it never says "ask a lead".
fn who_acts_next(stage: Stage) -> &'static str {
    match stage {
        Stage::Pending => "A lead or the human assigns it first, with update_task and assigned_to.",
        Stage::Assigned => "Its assignee starts and submits it first; a lead can reassign it with update_task and assigned_to.",
        Stage::Ready => "It starts automatically when a slot is free.",
        Stage::Blocked => "It depends on other tasks; get_task lists them.",
        Stage::InProgress => "Its agent submits it first, with submit_for_review.",
        Stage::Review => "A lead reviews it, with approve_task or reject_task.",
        Stage::Approved => "It is approved and will be merged automatically.",
        Stage::Completed => "A participant that neither built nor approved it verifies it, with verify_task.",
        Stage::Failed | Stage::Stale => "It needs attention: the human decides, or a lead reassigns it.",
        Stage::Verified | Stage::Closed | Stage::Abandoned | Stage::Obsolete => "It is closed. Create a new task for any remaining work.",
    }
}
