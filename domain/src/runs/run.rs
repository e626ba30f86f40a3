//! Runs: one attempt by one agent process.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::event::kinds::events;
use crate::id::{RunId, TaskId};
use crate::refusal::category::refusals;
use crate::runs::agent_kind::AgentKind;
use crate::runs::checkpoint::Checkpoint;
use crate::runs::condition::RunCondition;
use crate::runs::evidence::Sha;
use crate::runs::failure::{EndClass, FailureClass};
use crate::runs::hand_over::HandOverReason;
use crate::runs::interrupt::Interrupt;
use crate::runs::sandbox::{Access, SandboxTier};
use crate::runs::usage::UsageSums;
use crate::time::Timestamp;
use crate::warroom::context_left::{Condition, ContextUse};

/// A run and its consumption.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Run {
    pub id: RunId,
    pub task_id: TaskId,
    pub phase: AgentKind,
    /// The number of the attempt among the runs of this task and kind of agent, from 1.
    pub attempt: u32,
    /// The session of the agent program. Two runs share one only if the later run resumed it.
    pub session_id: Option<String>,
    /// The path of its checkout.
    pub worktree_path: Option<String>,
    /// The commit it started from; for a reviewer, the commit under review.
    pub sha: Option<Sha>,
    /// The port that it leases.
    pub port: Option<u16>,
    /// The sandbox that it runs in.
    pub sandbox: SandboxTier,
    /// The accesses that its sandbox refused, as far as the output shows them.
    pub refusals: Vec<Access>,
    /// The files at moments of its work, oldest first. They are kept while the task is open.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checkpoints: Vec<Checkpoint>,
    pub started_at: Timestamp,
    pub completed_at: Option<Timestamp>,
    pub stop_requested_at: Option<Timestamp>,
    /// The reason why it does no work, while it is live.
    pub condition: Option<RunCondition>,
    /// Why its temporary checkout could not be removed. The runner tries again every hour.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkout_left: Option<String>,
    /// Why its agent was told to hand over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hand_over: Option<HandOverReason>,
    /// The interrupt after which its agent has not gone on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interrupt: Option<Interrupt>,
    pub exit_code: Option<i64>,
    pub end_class: Option<EndClass>,
    pub failure: Option<FailureClass>,
    /// A description of the failure.
    pub error: Option<String>,
    /// In millionths of a US dollar, as the agent program reported it. Until the end of a turn, the cost of that turn is an estimate.
    pub cost_micro_usd: i64,
    pub input_tokens: i64,
    pub output_tokens: i64,
    /// The last known size of the conversation in tokens. With the limit it yields the context left.
    pub context_tokens: Option<i64>,
    pub context_limit: Option<i64>,
    /// Requests to the model.
    pub turns: i64,
}

impl Run {
    pub fn is_live(&self) -> bool {
        self.completed_at.is_none()
    }

    /// Returns what it consumed so far.
    pub const fn consumed(&self) -> UsageSums {
        UsageSums { turns: self.turns, input_tokens: self.input_tokens, output_tokens: self.output_tokens, cost_micro_usd: self.cost_micro_usd }
    }

    /// Returns the size of its conversation and how much its model can read, in tokens, if both are known.
    pub fn context(&self) -> Option<(i64, i64)> {
        self.context_tokens.zip(self.context_limit).filter(|(_, limit)| *limit > 0)
    }

    /// Returns the condition of its context, unless plenty is left or it is unknown.
    pub fn low_context(&self) -> Option<Condition> {
        let (used, limit) = self.context()?;
        ContextUse::measured(used, limit)?.condition().unless_healthy()
    }

    /// Returns the name of the run's agent: `coder-TASK-012`.
    pub fn agent_name(phase: AgentKind, task: &TaskId) -> String {
        format!("{phase}-{task}")
    }
}

events! {
    /// A change of a run. Reports of its agent program are of the type `RunEvent`.
    RunChange {
        Started "run_started" { phase: AgentKind, attempt: u32 }
        /// The agent program reported its session, which can be a new one.
        SessionSet "run_session" { session_id: String }
        UsageReported "run_usage" { cost_micro_usd: i64, tokens: i64 }
        StopRequested "run_stop_requested" {}
        /// Something keeps the agent from working, or no longer does.
        ConditionChanged "run_condition" { condition: Option<RunCondition> }
        /// Its temporary checkout could not be removed for the given reason, or is gone.
        CheckoutLeft "run_checkout_left" { detail: Option<String> }
        /// The agent is told to hand over.
        HandOverRequested "run_hand_over_requested" { reason: HandOverReason }
        /// The agent ended a turn without moving its card and was reminded.
        Reminded "run_nudged" {}
        Ended "run_ended" { end: EndClass, failure: Option<FailureClass> }
        /// The sandbox refused something.
        AccessRefused "run_access_refused" { access: Vec<Access> }
        /// The files of its worktree changed and were kept.
        CheckpointTaken "run_checkpoint" { checkpoint: Sha, files: u32 }
        MessageQueued "message_queued" {}
        MessageDelivered "message_delivered" {}
    }
}

refusals! {
    /// Why a run may not act, or may not be acted on.
    RunRefusal {
        #[error("{run} is no longer the current run of its task; its writes are rejected")]
        Stale { run: RunId } => Conflict "stale-run",
        #[error("{} may not {action}", phase.with_article())]
        WrongAgentKind { phase: AgentKind, action: String, hint: String } => Forbidden "not-your-role",
        #[error("this run works on {own}, not on {task}")]
        WrongTask { task: TaskId, own: TaskId } => Forbidden "not-your-task",
        #[error("{task} has a run that is still ending")]
        StillEnding { task: TaskId, run: RunId } => Unprocessable "run-ending",
        #[error("{0} has no running agent")]
        NotLive(String) => Unprocessable "no-live-run",
    }
}

impl RunRefusal {
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::Stale { .. } => "The task was stopped, moved or given to a newer run. End your turn.".to_owned(),
            Self::WrongAgentKind { hint, .. } => hint.clone(),
            Self::WrongTask { own, .. } => format!("Use {own}, the id in your <issue>."),
            Self::StillEnding { run, .. } => format!("Wait a few seconds until {run} has ended."),
            Self::NotLive(_) => "Add a comment instead: the next run reads the whole thread.".to_owned(),
        }
    }
}
