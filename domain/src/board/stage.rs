//! Stages: finer statuses for external agents, derived from the card and never stored.
//!
//! A change of stage is a move to the status behind it. Must not know who can move, which is in the transition table.

use crate::board::attention::AttentionKind;
use crate::board::card::Card;
use crate::board::status::{CancelReason, Status};
use crate::board::transition::{Mover, TABLE};
use crate::board::wait_reason::WaitReason;
use crate::runs::agent_kind::AgentKind;
use crate::vocabulary::vocabulary;
use crate::warroom::old_task::OldTaskDecision;

vocabulary! {
    /// A finer status of a task.
    Stage, "stage" {
        /// Held: it must not start yet.
        Pending = "pending",
        /// Assigned to an agent that has not started.
        Assigned = "assigned",
        /// Can start when a slot is free.
        Ready = "ready",
        /// Depends on an unfinished task.
        Blocked = "blocked",
        InProgress = "in_progress",
        Review = "review",
        /// Approved but not merged yet.
        Approved = "approved",
        Completed = "completed",
        Verified = "verified",
        /// Finished without a change to merge: plans and orchestration rounds.
        Closed = "closed",
        Failed = "failed",
        /// Its assignee is unresponsive, it was sent back too often, or it is left from a session that ended.
        Stale = "stale",
        Abandoned = "abandoned",
        Obsolete = "obsolete",
    }
}

impl Stage {
    /// Derives the stage of a card.
    pub fn of(card: &Card) -> Self {
        let attention = card.attention.as_ref().map(|attention| attention.kind);
        match card.status {
            Status::Cancelled => match card.cancel_reason {
                Some(CancelReason::Failed) => Self::Failed,
                Some(CancelReason::Obsolete | CancelReason::Duplicate) => Self::Obsolete,
                Some(CancelReason::Abandoned) | None => Self::Abandoned,
            },
            Status::Done if card.contributors.verified_by.is_some() => Self::Verified,
            Status::Done if card.phase == AgentKind::Coder => Self::Completed,
            Status::Done => Self::Closed,
            _ if matches!(attention, Some(AttentionKind::Failed | AttentionKind::NoOutcome)) => Self::Failed,
            _ if attention.is_some_and(is_stale) => Self::Stale,
            Status::InReview if card.approved_sha.is_some() => Self::Approved,
            Status::InReview => Self::Review,
            Status::InProgress if card.run.is_some() || card.contributors.assigned_to.is_some() => Self::InProgress,
            Status::InProgress => Self::Assigned,
            Status::Backlog if card.old.is_some() => Self::Stale,
            Status::Backlog if card.held_by.is_some() => Self::Pending,
            Status::Backlog if matches!(card.wait_reason, Some(WaitReason::BlockedBy { .. } | WaitReason::PlanUnfinished { .. })) => Self::Blocked,
            Status::Backlog if card.contributors.assigned_to.is_some() => Self::Assigned,
            Status::Backlog => Self::Ready,
        }
    }

    /// Returns the statuses of the cards at this stage, so that a list reads no others.
    pub const fn statuses(self) -> &'static [Status] {
        match self {
            Self::Pending | Self::Ready | Self::Blocked => &[Status::Backlog],
            Self::Assigned => &[Status::Backlog, Status::InProgress],
            Self::InProgress => &[Status::InProgress],
            Self::Review | Self::Approved => &[Status::InReview],
            Self::Completed | Self::Verified | Self::Closed => &[Status::Done],
            Self::Failed => &[Status::Backlog, Status::InProgress, Status::InReview, Status::Cancelled],
            Self::Stale => &[Status::Backlog, Status::InProgress, Status::InReview],
            Self::Abandoned | Self::Obsolete => &[Status::Cancelled],
        }
    }

    /// Returns the status that a change to this stage moves `card` to, or none if there is no such change. A card in the backlog stays
    /// there when it is assigned.
    pub fn target_status(self, card: &Card) -> Option<Status> {
        let retry = card.status == Status::Cancelled && card.cancel_reason == Some(CancelReason::Failed);
        match self {
            Self::Assigned if card.phase == AgentKind::Coder && (card.status == Status::Backlog || retry) => Some(Status::Backlog),
            Self::InProgress if card.status != Status::InProgress => Some(Status::InProgress),
            // A move from in_review to itself is an approval, and one from done to itself a verification.
            Self::Review if card.status != Status::InReview => Some(Status::InReview),
            Self::Failed if card.status.is_open() => Some(Status::Cancelled),
            Self::Abandoned | Self::Obsolete if card.status == Status::Backlog => Some(Status::Cancelled),
            Self::Completed if card.status != Status::Done => Some(Status::Done),
            Self::Verified if card.status == Status::Done => Some(Status::Done),
            _ => None,
        }
    }

    /// Returns the reason of a change to this stage, if that cancels the task.
    pub const fn cancel_reason(self) -> Option<CancelReason> {
        match self {
            Self::Failed => Some(CancelReason::Failed),
            Self::Abandoned => Some(CancelReason::Abandoned),
            Self::Obsolete => Some(CancelReason::Obsolete),
            _ => None,
        }
    }

    /// Returns what a change to this stage decides about a task that is left from a session that ended.
    pub const fn old_task_decision(self) -> Option<OldTaskDecision> {
        match self {
            Self::Stale => Some(OldTaskDecision::Stale),
            Self::Ready | Self::Pending => Some(OldTaskDecision::Open),
            _ => None,
        }
    }

    /// Returns the movers that can change `card` to this stage. Leads and the human can assign a card in the backlog.
    pub fn allowed_movers(self, card: &Card) -> Vec<Mover> {
        match self.target_status(card) {
            None => Vec::new(),
            Some(Status::Backlog) if card.status == Status::Backlog => vec![Mover::Human, Mover::Lead],
            Some(to) => {
                let rules = TABLE.iter().filter(|rule| rule.from == card.status && rule.to == to && rule.phases.contains(&card.phase));
                // A lead drops what no agent has. That did not fail.
                let drops = card.contributors.assigned_to.is_none() && matches!(self, Self::Abandoned | Self::Obsolete);
                let may = |mover: &Mover| drops || *mover != Mover::Lead || card.status != Status::Backlog;
                rules.flat_map(|rule| rule.movers.iter().copied()).filter(may).collect()
            }
        }
    }

    /// Returns the stages that `movers` can change `card` to.
    pub fn reachable(card: &Card, movers: &[Mover]) -> Vec<Self> {
        let now = Self::of(card);
        Self::ALL.iter().copied().filter(|stage| *stage != now && stage.allowed_movers(card).iter().any(|mover| movers.contains(mover))).collect()
    }
}

/// Whether the work does not go on by itself.
const fn is_stale(attention: AttentionKind) -> bool {
    use AttentionKind::{AssigneeRemoved, AssigneeUnresponsive, NoProgress, ReviewLimit};
    matches!(attention, ReviewLimit | NoProgress | AssigneeUnresponsive | AssigneeRemoved)
}

#[cfg(test)]
mod tests;
