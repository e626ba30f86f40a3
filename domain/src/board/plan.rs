//! Plans: the tasks that a planner created, which the human approves or sends back.

use crate::event::kinds::events;
use crate::id::TaskId;
use crate::refusal::category::refusals;

events! {
    /// A decision about a plan.
    PlanEvent {
        Approved "plan_approved" {}
        /// The human rejected the plan with a comment; the planner revises it.
        Revised "plan_revised" {}
    }
}

refusals! {
    /// Why something may not be done with a plan.
    PlanRefusal {
        #[error("{task} created no tasks and gave no reason")]
        Empty { task: TaskId } => Unprocessable "empty-plan",
        #[error("no plan awaits approval")]
        NonePending => Unprocessable "no-plan-waiting",
    }
}

impl PlanRefusal {
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::Empty { task } => format!("Call create_subtasks for {task}, or complete_task with the reason why no tasks are needed."),
            Self::NonePending => "A plan awaits approval only while it holds its tasks. Press Start to start a single task.".to_owned(),
        }
    }
}
