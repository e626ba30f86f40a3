//! Refusals that follow from how much of its context an agent has left.

use crate::refusal::category::refusals;

refusals! {
    /// Why an agent gets no task.
    WorkloadRefusal {
        #[error("BLOCKED: {agent} has {percent} % of its context left and has to hand over first")]
        ContextUsedUp { agent: String, percent: u64 } => Conflict "context-used-up",
    }
}

impl WorkloadRefusal {
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::ContextUsedUp { agent, .. } => {
                format!("Send \"fenix_down {agent}\" to it, or assign the task to another agent; party_status shows how much each has left.")
            }
        }
    }
}
