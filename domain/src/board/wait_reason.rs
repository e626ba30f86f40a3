//! Why a card has no agent at work: what the runner's plan found, as a fact and as a sentence.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::board::status::HeldBy;
use crate::id::TaskId;
use crate::runs::agent_kind::AgentKind;
use crate::runs::failure::FailureClass;
use crate::runs::parking::ParkReason;
use crate::time::Timestamp;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum WaitReason {
    BlockedBy {
        tasks: Vec<TaskId>,
    },
    Held {
        by: HeldBy,
    },
    /// Every slot is taken.
    NoFreeSlot {
        limit: u32,
    },
    /// As many agents of this phase work as may work at once.
    KindLimitReached {
        phase: AgentKind,
    },
    /// A failed attempt is tried again later.
    Backoff {
        until: Timestamp,
        after: FailureClass,
    },
    /// All agents are parked.
    Parked {
        reason: ParkReason,
        until: Option<Timestamp>,
    },
    NeedsAttention,
    /// Approved; another merge of the repository goes first.
    MergeQueued,
    /// A run was told to end and its process is not gone yet.
    Stopping,
    /// An agent from outside has it.
    Assigned {
        name: String,
    },
    /// The agent from outside that has it handed it in.
    AwaitingLead {
        name: String,
    },
    /// Its planning task is not finished.
    PlanUnfinished {
        task: TaskId,
    },
    /// The project branch holds what nobody approved; the person is asked about it on `task`.
    UnapprovedCommits {
        task: TaskId,
    },
}

impl WaitReason {
    /// The sentence for the card.
    pub fn sentence(&self) -> String {
        match self {
            Self::BlockedBy { tasks } => {
                let names: Vec<&str> = tasks.iter().map(TaskId::as_str).collect();
                format!("blocked by {}", names.join(", "))
            }
            Self::Held { by: HeldBy::Human } => "held by you: press Start".to_owned(),
            Self::Held { by: HeldBy::Plan } => "held until you start the plan".to_owned(),
            Self::Held { by: HeldBy::Stop } => "stopped by you: press Start or Retry".to_owned(),
            Self::NoFreeSlot { limit } => format!("no free slot: {limit} at work"),
            Self::KindLimitReached { phase } => format!("waits for the {phase} at work"),
            Self::Backoff { until, after } => format!("tried again at {} ({})", until.clock(), after.sentence()),
            Self::Parked { reason, until: Some(until) } => format!("{} until {}", reason.sentence(), until.clock()),
            Self::Parked { reason, until: None } => reason.sentence().to_owned(),
            Self::NeedsAttention => "needs you".to_owned(),
            Self::MergeQueued => "approved: waits to be merged".to_owned(),
            Self::Stopping => "stopping".to_owned(),
            Self::Assigned { name } => format!("assigned to {name}"),
            Self::AwaitingLead { name } => format!("handed in by {name}: waits for a lead's approval"),
            Self::PlanUnfinished { task } => format!("waits for the plan {task}"),
            Self::UnapprovedCommits { task } => format!("the project branch was changed: waits for your word on {task}"),
        }
    }
}
