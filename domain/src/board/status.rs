//! Where a task stands, what holds it, and why it was cancelled. A leaf: it knows no other noun.

use crate::vocabulary::vocabulary;

vocabulary! {
    /// Where a task stands, which is its column.
    Status, "status" {
        Backlog = "backlog",
        InProgress = "in_progress",
        InReview = "in_review",
        Done = "done",
        Cancelled = "cancelled",
    }
}

impl Status {
    /// Whether work may still happen: neither done nor cancelled.
    pub fn is_open(self) -> bool {
        !matches!(self, Self::Done | Self::Cancelled)
    }
}

vocabulary! {
    /// Who keeps the runner from starting a task.
    HeldBy, "hold" {
        /// A person created it, moved it back, or asked for it to wait.
        Human = "human",
        /// The plan waits for the person's approval.
        Plan = "plan",
        /// A person stopped its run.
        Stop = "stop",
    }
}

vocabulary! {
    /// Why a task was given up, which decides what happens to those that depend on it.
    CancelReason, "reason" {
        Failed = "failed",
        Abandoned = "abandoned",
        Obsolete = "obsolete",
        Duplicate = "duplicate",
    }
}

impl CancelReason {
    /// Whether a dependent may go on as if the task were done.
    pub fn counts_as_done(self) -> bool {
        matches!(self, Self::Obsolete | Self::Duplicate)
    }
}
