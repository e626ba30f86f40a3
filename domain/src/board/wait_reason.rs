//! Wait reasons: why a card has no agent right now, as data and as a sentence.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::board::status::HeldBy;
use crate::id::{RunId, TaskId};
use crate::runs::agent_kind::AgentKind;
use crate::runs::condition::RunCondition;
use crate::runs::failure::FailureClass;
use crate::runs::hand_over::HandOverReason;
use crate::runs::limit::LimitUse;
use crate::runs::parking::ParkReason;
use crate::time::Timestamp;
use crate::warroom::trigger::TriggerWord;

/// Tasks that are named for one reason.
const MAX_NAMED: usize = 10;

/// The reason why a card has no agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum WaitReason {
    BlockedBy {
        tasks: Vec<TaskId>,
    },
    Held {
        by: HeldBy,
    },
    /// The maximum number of agents is running.
    NoFreeSlot {
        limit: u32,
    },
    /// The maximum number of agents of this kind is running.
    KindLimitReached {
        phase: AgentKind,
    },
    /// The next attempt after a failure starts later.
    Backoff {
        until: Timestamp,
        after: FailureClass,
    },
    /// Agent starts are suspended.
    Parked {
        reason: ParkReason,
        until: Option<Timestamp>,
    },
    NeedsAttention,
    /// A person paused the project, or all of them.
    Paused,
    /// A person archived the project.
    Archived,
    /// Approved, but behind another merge in the same repository.
    MergeQueued,
    /// Approved, and under review as a pull request.
    PullRequest,
    /// Its checks run, or wait for those of another task.
    Checks,
    /// A run was asked to stop and its process is still alive.
    Stopping,
    /// Its run is live, but something keeps it from its work.
    Impaired {
        run: RunId,
        condition: RunCondition,
    },
    /// Assigned to an external agent.
    Assigned {
        name: String,
    },
    /// The external agent submitted its work.
    AwaitingLead {
        name: String,
    },
    /// Its planning task is not finished.
    PlanUnfinished {
        task: TaskId,
    },
    /// A limit is reached, and no agent starts until it is raised.
    OverLimit {
        limit: LimitUse,
    },
    /// The agent was told to hand over.
    HandingOver {
        reason: HandOverReason,
    },
    /// All agents were told to stop.
    StoppedByOrder {
        word: TriggerWord,
        by: String,
    },
    /// The project branch has unapproved commits; `task` has the question to the human.
    UnapprovedCommits {
        task: TaskId,
    },
    /// Another agent holds a file that its agent is to edit.
    FileClaimed {
        path: String,
        holder: String,
    },
    /// Another task at work changes the same files, and others start first.
    SameFiles {
        task: TaskId,
        path: String,
    },
    /// The repository does not answer, for example because its network drive is gone.
    RepositoryNotResponding {
        since: Timestamp,
    },
}

/// Tasks without an agent that wait for the same reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Wait {
    pub reason: String,
    pub total: u32,
    /// The first of them, at most 10.
    pub tasks: Vec<TaskId>,
}

impl Wait {
    /// Counts one more task.
    pub fn add(waits: &mut Vec<Self>, reason: &WaitReason, task: &TaskId) {
        let reason = match reason {
            // Otherwise almost every task would have a reason of its own.
            WaitReason::BlockedBy { .. } => "blocked by other tasks".to_owned(),
            reason => reason.sentence(),
        };
        let index = waits.iter().position(|wait| wait.reason == reason).unwrap_or_else(|| {
            waits.push(Self { reason, total: 0, tasks: Vec::new() });
            waits.len() - 1
        });
        if let Some(wait) = waits.get_mut(index) {
            wait.total += 1;
            if wait.tasks.len() < MAX_NAMED {
                wait.tasks.push(task.clone());
            }
        }
    }
}

impl WaitReason {
    /// Whether it passes without the human and without another task.
    pub const fn passes(&self) -> bool {
        !matches!(
            self,
            Self::BlockedBy { .. }
                | Self::PlanUnfinished { .. }
                | Self::Held { .. }
                | Self::Paused
                | Self::StoppedByOrder { .. }
                | Self::Archived
                | Self::NeedsAttention
                | Self::OverLimit { .. }
                | Self::UnapprovedCommits { .. }
                | Self::FileClaimed { .. }
                | Self::PullRequest
        )
    }

    /// Describes the reason on the card.
    pub fn sentence(&self) -> String {
        match self {
            Self::BlockedBy { tasks } => {
                let names: Vec<&str> = tasks.iter().map(TaskId::as_str).collect();
                format!("blocked by {}", names.join(", "))
            }
            Self::Held { by: HeldBy::Human } => "held until someone presses Start".to_owned(),
            Self::Held { by: HeldBy::Plan } => "held until someone starts the plan".to_owned(),
            Self::Held { by: HeldBy::Stop } => "stopped until someone presses Start or Retry".to_owned(),
            Self::Held { by: HeldBy::Takeover } => "taken over until someone gives it back".to_owned(),
            Self::SameFiles { task, path } => format!("waits for {task}, which changes the same files ({path})"),
            Self::FileClaimed { path, holder } => format!("waits for {path}, which {holder} edits"),
            Self::NoFreeSlot { limit } => format!("no free slot: {limit} agents running"),
            Self::KindLimitReached { phase } => format!("waiting for the running {phase}"),
            Self::Backoff { until, after } => format!("retrying at {} ({})", until.clock(), after.sentence()),
            Self::Parked { reason, until: Some(until) } => format!("{} until {}", reason.sentence(), until.clock()),
            Self::Parked { reason, until: None } => reason.sentence().to_owned(),
            Self::NeedsAttention => "needs you".to_owned(),
            Self::Paused => "paused by a human".to_owned(),
            Self::Archived => "the project is archived".to_owned(),
            Self::MergeQueued => "approved: waiting for the merge".to_owned(),
            Self::PullRequest => "its pull request is open on its host".to_owned(),
            Self::Checks => "its checks are running".to_owned(),
            Self::Stopping => "stopping".to_owned(),
            Self::Impaired { run, condition } => format!("{run} {}", condition.sentence()),
            Self::Assigned { name } => format!("assigned to {name}"),
            Self::AwaitingLead { name } => format!("submitted by {name}: waiting for a lead"),
            Self::PlanUnfinished { task } => format!("waiting for the plan {task}"),
            Self::RepositoryNotResponding { since } => format!("the repository has not responded since {}", since.clock()),
            Self::OverLimit { limit } => format!("waiting for a higher limit: {}", limit.sentence()),
            Self::HandingOver { reason } => format!("handing over: {}", reason.sentence()),
            Self::StoppedByOrder { word, by } => format!("{by} ordered {word}: nothing starts until the order is withdrawn"),
            Self::UnapprovedCommits { task } => format!("the project branch has unapproved commits: waiting for a decision on {task}"),
        }
    }
}
