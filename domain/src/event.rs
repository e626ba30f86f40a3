//! Events: every change that the log records, the board replays and clients receive.
//!
//! The envelope of an event carries the card and the project after the change, so readers need no second query.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::actor::Actor;
use crate::board::attention::Attention;
use crate::board::card::Card;
use crate::board::comment::AuthorRole;
use crate::board::goal::GoalStatus;
use crate::board::project::Project;
use crate::board::status::{HeldBy, Status};
use crate::board::wait_reason::WaitReason;
use crate::id::{CommentId, GoalId, ProjectId, QuestionId, RunId, TaskId};
use crate::runs::agent_kind::AgentKind;
use crate::runs::evidence::Sha;
use crate::runs::failure::{EndClass, FailureClass};
use crate::runs::parking::{ParkReason, Parking};
use crate::team::contract::ContractType;
use crate::team::minion::MinionStatus;
use crate::team::person::PersonRole;
use crate::team::role::Role;
use crate::time::Timestamp;

/// The number of an event in the log: from 1, without gaps, in commit order.
pub type Seq = i64;

/// An event with its time, its actor and the things it is about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Envelope {
    pub seq: Seq,
    pub at: Timestamp,
    pub project_id: Option<ProjectId>,
    pub task_id: Option<TaskId>,
    pub run_id: Option<RunId>,
    pub actor: Actor,
    pub event: Event,
    /// The task's card after the event. If one request causes several events about a task, only the last of them has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub card: Option<Card>,
    /// The project after the event, if the event is about the project itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<Project>,
}

// Kinds are matched as `tt`, because the OpenAPI derive does not see a literal that a macro passes on as `literal`.
macro_rules! events {
    ($($(#[$doc:meta])* $variant:ident $kind:tt { $($(#[$field_doc:meta])* $field:ident: $type:ty),* $(,)? })+) => {
        /// The kinds of change.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
        #[serde(tag = "kind")]
        pub enum Event {
            $($(#[$doc])* #[serde(rename = $kind)] $variant { $($(#[$field_doc])* $field: $type),* },)+
        }

        impl Event {
            /// All kinds, in the order of this file.
            pub const KINDS: &'static [&'static str] = &[$($kind,)+];

            pub const fn kind(&self) -> &'static str {
                match self {
                    $(Self::$variant { .. } => $kind,)+
                }
            }
        }
    };
}

events! {
    ProjectCreated "project_created" {}
    ProjectEdited "project_edited" {}
    /// The only open cards are those that the human holds.
    ProjectCompleted "project_completed" {}
    ProjectReopened "project_reopened" {}
    /// The project branch points to another commit: one that the runner created or the human accepted.
    ProjectBranchMoved "project_branch_moved" { sha: Sha }
    /// The project branch was merged into the base branch.
    ProjectLanded "project_landed" { sha: Sha }
    PlanApproved "plan_approved" {}
    /// The human rejected the plan with a comment; the planner revises it.
    PlanRevised "plan_revised" {}
    TaskCreated "task_created" {}
    TaskEdited "task_edited" { fields: Vec<String> }
    TaskMoved "task_moved" { from: Status, to: Status, reason: Option<String> }
    /// A reviewer, a lead or the human approved the commit.
    TaskApproved "task_approved" { sha: Sha }
    /// A newer commit revoked the approval.
    ApprovalVoided "approval_voided" { sha: Sha }
    TaskMerged "task_merged" { sha: Sha }
    TaskHeld "task_held" { by: HeldBy }
    TaskReleased "task_released" {}
    AttentionRequested "task_needs_you" { attention: Attention }
    AttentionCleared "task_settled" {}
    /// The runner updated why the card has no agent.
    WaitReasonChanged "wait_reason_changed" { wait_reason: Option<WaitReason> }
    CheckoutCreated "checkout_made" { branch: String }
    CheckoutRemoved "checkout_removed" {
        /// The rescue ref that keeps unmerged work.
        rescue: Option<String>
    }
    CommentAdded "comment_added" { comment: CommentId, author_role: AuthorRole }
    QuestionAsked "question_asked" { question: QuestionId }
    QuestionAnswered "question_answered" { question: QuestionId }
    RunStarted "run_started" { phase: AgentKind, attempt: u32 }
    /// The agent program reported its session, which can be a new one.
    RunSessionSet "run_session" { session_id: String }
    RunUsage "run_usage" { cost_micro_usd: i64 }
    RunStopRequested "run_stop_requested" {}
    /// The agent ended a turn without moving its card and was reminded.
    RunReminded "run_nudged" {}
    RunEnded "run_ended" { end: EndClass, failure: Option<FailureClass> }
    RunMessageQueued "message_queued" {}
    RunMessageDelivered "message_delivered" {}
    AgentsParked "agents_parked" { parking: Parking }
    AgentsResumed "agents_resumed" { reason: ParkReason }
    TokenCreated "token_made" {}
    PersonAdded "person_added" { person: String, role: PersonRole }
    PersonRoleChanged "person_role_changed" { person: String, role: PersonRole }
    /// The person's token and browser sessions are revoked.
    PersonRemoved "person_removed" { person: String }
    /// A browser signed in.
    BrowserSessionOpened "browser_session_opened" { session: i64 }
    BrowserSessionRevoked "browser_session_revoked" { session: i64 }
    /// An agent registered, or changed its registration.
    AgentRegistered "agent_registered" { agent: String, roles: Vec<Role> }
    AgentStatus "agent_status" { agent: String, status: Option<String> }
    AgentLeft "agent_left" { agent: String }
    /// Each copy has its own event.
    MessageSent "message_sent" { message: i64, from: String, to: String, is_cc: bool }
    /// Messages were delivered to a participant.
    InboxDelivered "inbox_read" { agent: String, messages: u32 }
    TaskAssigned "task_assigned" { to: Option<String> }
    HatAssigned "hat_assigned" { agent: String, hat: Role }
    /// The assignee submitted a result.
    SubmissionStored "result_stored" {}
    TaskVerified "task_verified" { by: String }
    /// The task was linked to a goal, or unlinked.
    TaskLinked "task_linked" { goal: Option<GoalId> }
    GoalCreated "goal_created" { goal: GoalId }
    GoalMoved "goal_moved" { goal: GoalId, from: GoalStatus, to: GoalStatus }
    HandshakeInitiated "handshake_begun" { handshake: i64 }
    HandshakeAcknowledged "handshake_acknowledged" { handshake: i64, agent: String }
    HandshakeCompleted "handshake_completed" { handshake: i64 }
    ContractDeclared "contract_declared" { contract: i64, name: String, contract_type: ContractType, version: u32 }
    SpawnPolicySet "spawn_policy_set" { scope: String }
    MinionLogged "minion_logged" { minion: i64, status: MinionStatus }
}

#[cfg(test)]
mod tests;
