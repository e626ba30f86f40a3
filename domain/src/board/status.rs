//! The status of a task, its hold, and its cancel reason. Must not know any other noun.

use crate::vocabulary::vocabulary;

vocabulary! {
    /// The column of a task.
    Status, "status" {
        Backlog = "backlog",
        InProgress = "in_progress",
        InReview = "in_review",
        Done = "done",
        Cancelled = "cancelled",
    }
}

impl Status {
    /// Whether the task is neither done nor cancelled.
    pub fn is_open(self) -> bool {
        !matches!(self, Self::Done | Self::Cancelled)
    }

    /// Whether the task is part of what its project has to do. A cancelled one is not, and neither is one that was removed from a plan, which
    /// is cancelled too: it counts neither as done nor as a task.
    pub fn counts_as_work(self) -> bool {
        self != Self::Cancelled
    }

    /// Whether a task of this status counts as done for those that depend on it. `reason` is why it was cancelled, if it was.
    pub fn satisfies_dependents(self, reason: Option<CancelReason>) -> bool {
        self == Self::Done || (self == Self::Cancelled && reason.is_some_and(CancelReason::counts_as_done))
    }
}

vocabulary! {
    /// The origin of a hold, which keeps the runner from starting a task.
    HeldBy, "hold" {
        /// The human created the task, moved it back or held it.
        Human = "human",
        /// The plan awaits approval.
        Plan = "plan",
        /// The human stopped its run.
        Stop = "stop",
        /// A person works in the task's worktree.
        Takeover = "takeover",
    }
}

vocabulary! {
    /// The reason why a task was cancelled, which decides whether its dependents can start.
    CancelReason, "reason" {
        Failed = "failed",
        Abandoned = "abandoned",
        Obsolete = "obsolete",
        Duplicate = "duplicate",
    }
}

impl CancelReason {
    /// Whether dependents can start as if the task were done.
    pub fn counts_as_done(self) -> bool {
        matches!(self, Self::Obsolete | Self::Duplicate)
    }
}
