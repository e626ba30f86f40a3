//! Goals: tasks that are signed off together once all are verified.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::board::card::Card;
use crate::board::status::{CancelReason, Status};
use crate::event::kinds::events;
use crate::id::{GoalId, ProjectId, TaskId};
use crate::refusal::category::refusals;
use crate::time::Timestamp;
use crate::vocabulary::vocabulary;

vocabulary! {
    /// The progress of a goal.
    GoalStatus, "goal status" {
        Open = "open",
        /// At least one of its tasks was started.
        Active = "active",
        /// All tasks are verified; a lead can sign it off.
        PendingVerify = "pending_verify",
        Verified = "verified",
    }
}

/// A goal with the progress of its tasks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Goal {
    pub id: GoalId,
    pub project_id: ProjectId,
    pub title: String,
    pub description: Option<String>,
    pub status: GoalStatus,
    pub creator: String,
    pub verified_by: Option<String>,
    /// The notes of the lead that signed it off.
    pub notes: Option<String>,
    pub progress: Progress,
    pub created_at: Timestamp,
    pub verified_at: Option<Timestamp>,
}

/// The progress of the tasks of a goal. Obsolete and duplicate tasks do not count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Progress {
    pub linked: u32,
    /// In progress, in review or further.
    pub started: u32,
    /// Done, verified or not.
    pub completed: u32,
    pub verified: u32,
}

impl Progress {
    /// Counts the cards of a goal.
    pub fn of<'a>(cards: impl IntoIterator<Item = &'a Card>) -> Self {
        let mut progress = Self::default();
        for card in cards {
            progress.add(card.status, card.cancel_reason, 1, u32::from(card.contributors.verified_by.is_some()));
        }
        progress
    }

    /// Counts `linked` tasks of one status, `verified` of them verified.
    pub fn add(&mut self, status: Status, reason: Option<CancelReason>, linked: u32, verified: u32) {
        if status != Status::Done && status.satisfies_dependents(reason) {
            return;
        }
        self.linked += linked;
        self.started += if matches!(status, Status::InProgress | Status::InReview | Status::Done) { linked } else { 0 };
        self.completed += if status == Status::Done { linked } else { 0 };
        self.verified += verified;
    }

    fn all_verified(self) -> bool {
        self.linked > 0 && self.verified == self.linked
    }
}

impl GoalStatus {
    /// Returns the status for this progress. Only a lead can make a goal verified; it remains verified while all its tasks do.
    pub fn after_progress(self, progress: Progress) -> Self {
        match self {
            Self::Verified if progress.all_verified() => Self::Verified,
            _ if progress.all_verified() => Self::PendingVerify,
            Self::Open if progress.started == 0 => Self::Open,
            _ => Self::Active,
        }
    }
}

/// The arguments for a new goal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewGoal {
    #[schema(value_type = crate::text_schema::Title)]
    pub title: String,
    #[serde(default)]
    #[schema(value_type = Option<crate::text_schema::OptionalBody>)]
    pub description: Option<String>,
}

events! {
    /// A change of a goal.
    GoalEvent {
        Created "goal_created" { goal: GoalId }
        Moved "goal_moved" { goal: GoalId, from: GoalStatus, to: GoalStatus }
    }
}

refusals! {
    /// Why a goal may not be signed off.
    GoalRefusal {
        #[error("{goal} has unverified tasks: {}", open.iter().map(TaskId::as_str).collect::<Vec<_>>().join(", "))]
        Unfinished { goal: GoalId, open: Vec<TaskId> } => Conflict "goal-open",
    }
}

impl GoalRefusal {
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::Unfinished { .. } => "First have agents that neither built nor approved these tasks verify them with verify_task.".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn progress(started: u32, verified: u32) -> Progress {
        Progress { linked: 2, started, completed: verified, verified }
    }

    #[test]
    fn status_follows_progress_in_both_directions() {
        use GoalStatus::{Active, Open, PendingVerify, Verified};
        assert_eq!(Open.after_progress(Progress::default()), Open);
        assert_eq!(Open.after_progress(progress(0, 0)), Open);
        assert_eq!(Open.after_progress(progress(1, 0)), Active);
        assert_eq!(Active.after_progress(progress(0, 0)), Active);
        assert_eq!(Active.after_progress(progress(2, 1)), Active);
        assert_eq!(Active.after_progress(progress(2, 2)), PendingVerify);
        assert_eq!(PendingVerify.after_progress(progress(2, 2)), PendingVerify);
        assert_eq!(PendingVerify.after_progress(progress(2, 1)), Active);
        assert_eq!(Verified.after_progress(progress(2, 2)), Verified);
        assert_eq!(Verified.after_progress(progress(2, 1)), Active);
    }

    #[test]
    fn goal_without_tasks_never_awaits_sign_off() {
        assert_eq!(GoalStatus::Active.after_progress(Progress::default()), GoalStatus::Active);
    }
}
