//! Stages: the finer statuses of other task systems, as a pure function of the card. A badge and a filter, never a second state.

use crate::attention::AttentionKind;
use crate::task::{CancelReason, Card, Phase, Status};
use crate::why::Why;
use crate::word::words;

words! {
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
        /// It fell silent, or was sent back too often.
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
            Status::Done if card.verified_by.is_some() => Self::Verified,
            Status::Done if card.phase == Phase::Coder => Self::Completed,
            Status::Done => Self::Closed,
            _ if matches!(stuck, Some(AttentionKind::Failed | AttentionKind::Protocol)) => Self::Failed,
            _ if stuck == Some(AttentionKind::Stalled) => Self::Stale,
            Status::InReview if card.approved_sha.is_some() => Self::Approved,
            Status::InReview => Self::Review,
            Status::InProgress if card.run.is_some() => Self::InProgress,
            Status::InProgress => Self::Assigned,
            Status::Backlog if card.held_by.is_some() => Self::Pending,
            Status::Backlog if matches!(card.why, Some(Why::BlockedBy { .. } | Why::PlanOpen { .. })) => Self::Blocked,
            Status::Backlog => Self::Ready,
        }
    }
}

#[cfg(test)]
mod tests;
