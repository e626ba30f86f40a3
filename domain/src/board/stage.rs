//! Stages: the finer statuses of other task systems, as a pure function of the card. A badge and a filter, never a second state: asking
//! for a stage is asking for the status behind it, and the transition table says who may.

use crate::board::attention::AttentionKind;
use crate::board::card::Card;
use crate::board::status::{CancelReason, Status};
use crate::board::transition::{Mover, TABLE};
use crate::board::wait_reason::WaitReason;
use crate::runs::agent_kind::AgentKind;
use crate::vocabulary::vocabulary;

vocabulary! {
    Stage, "stage" {
        /// Not to be started yet: somebody holds it.
        Pending = "pending",
        /// Given to an agent that has not begun.
        Assigned = "assigned",
        /// Could start as soon as there is room.
        Ready = "ready",
        /// Waits for another task.
        Blocked = "blocked",
        InProgress = "in_progress",
        Review = "review",
        /// Approved and not merged yet.
        Approved = "approved",
        Completed = "completed",
        Verified = "verified",
        /// Finished without a change of its own: plans and rounds.
        Closed = "closed",
        Failed = "failed",
        /// Whoever has it fell silent, or it was sent back too often.
        Stale = "stale",
        Abandoned = "abandoned",
        Obsolete = "obsolete",
    }
}

impl Stage {
    pub fn of(card: &Card) -> Self {
        let stuck = card.attention.as_ref().map(|attention| attention.kind);
        match card.status {
            Status::Cancelled => match card.cancel_reason {
                Some(CancelReason::Failed) => Self::Failed,
                Some(CancelReason::Obsolete | CancelReason::Duplicate) => Self::Obsolete,
                Some(CancelReason::Abandoned) | None => Self::Abandoned,
            },
            Status::Done if card.contributors.verified_by.is_some() => Self::Verified,
            Status::Done if card.phase == AgentKind::Coder => Self::Completed,
            Status::Done => Self::Closed,
            _ if matches!(stuck, Some(AttentionKind::Failed | AttentionKind::NoOutcome)) => Self::Failed,
            _ if matches!(stuck, Some(AttentionKind::ReviewLimit | AttentionKind::AssigneeUnresponsive)) => Self::Stale,
            Status::InReview if card.approved_sha.is_some() => Self::Approved,
            Status::InReview => Self::Review,
            Status::InProgress if card.run.is_some() || card.contributors.assigned_to.is_some() => Self::InProgress,
            Status::InProgress => Self::Assigned,
            Status::Backlog if card.held_by.is_some() => Self::Pending,
            Status::Backlog if matches!(card.wait_reason, Some(WaitReason::BlockedBy { .. } | WaitReason::PlanUnfinished { .. })) => Self::Blocked,
            Status::Backlog if card.contributors.assigned_to.is_some() => Self::Assigned,
            Status::Backlog => Self::Ready,
        }
    }

    /// The status that `card` goes to when somebody makes it this stage; none where that makes no sense. A card that nobody has begun
    /// stays in the backlog when it is given out.
    pub fn target_status(self, card: &Card) -> Option<Status> {
        let retry = card.status == Status::Cancelled && card.cancel_reason == Some(CancelReason::Failed);
        match self {
            Self::Assigned if card.phase == AgentKind::Coder && (card.status == Status::Backlog || retry) => Some(Status::Backlog),
            Self::InProgress if card.status != Status::InProgress => Some(Status::InProgress),
            // What stays in review is approved by it, and what stays done verified.
            Self::Review if card.status != Status::InReview => Some(Status::InReview),
            Self::Failed if card.status.is_open() => Some(Status::Cancelled),
            Self::Completed if card.status != Status::Done => Some(Status::Done),
            Self::Verified if card.status == Status::Done => Some(Status::Done),
            _ => None,
        }
    }

    /// Who may make `card` this stage: those who may move it so, and for giving out what nobody has begun, whoever leads.
    pub fn allowed_movers(self, card: &Card) -> Vec<Mover> {
        match self.target_status(card) {
            None => Vec::new(),
            Some(Status::Backlog) if card.status == Status::Backlog => vec![Mover::Human, Mover::Lead],
            Some(to) => {
                let rules = TABLE.iter().filter(|rule| rule.from == card.status && rule.to == to && rule.phases.contains(&card.phase));
                rules.flat_map(|rule| rule.movers.iter().copied()).collect()
            }
        }
    }

    /// The stages that somebody may make `card` who moves it as one of `movers`.
    pub fn reachable(card: &Card, movers: &[Mover]) -> Vec<Self> {
        let now = Self::of(card);
        Self::ALL.iter().copied().filter(|stage| *stage != now && stage.allowed_movers(card).iter().any(|maker| movers.contains(maker))).collect()
    }
}

#[cfg(test)]
mod tests;
