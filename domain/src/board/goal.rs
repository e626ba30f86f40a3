//! Goals: tasks that belong together and are signed off together, once each was verified.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::board::card::Card;
use crate::board::status::Status;
use crate::id::{GoalId, ProjectId};
use crate::time::Timestamp;
use crate::vocabulary::vocabulary;

vocabulary! {
    GoalStatus, "goal status" {
        Open = "open",
        /// Work on one of its tasks has begun.
        Active = "active",
        /// Every task is verified; a lead signs it off.
        PendingVerify = "pending_verify",
        Verified = "verified",
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Goal {
    pub id: GoalId,
    pub project_id: ProjectId,
    pub title: String,
    pub description: Option<String>,
    pub status: GoalStatus,
    pub creator: String,
    pub verified_by: Option<String>,
    /// What the lead who signed it off had to say.
    pub notes: Option<String>,
    pub progress: Progress,
    pub created_at: Timestamp,
    pub verified_at: Option<Timestamp>,
}

/// How far the tasks of a goal are. Those that were given up as obsolete or duplicate are not counted.
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
    pub fn of<'a>(cards: impl IntoIterator<Item = &'a Card>) -> Self {
        let mut progress = Self::default();
        for card in cards.into_iter().filter(|card| card.status == Status::Done || !card.satisfies_dependents()) {
            progress.linked += 1;
            progress.started += u32::from(matches!(card.status, Status::InProgress | Status::InReview | Status::Done));
            progress.completed += u32::from(card.status == Status::Done);
            progress.verified += u32::from(card.contributors.verified_by.is_some());
        }
        progress
    }

    fn all_verified(self) -> bool {
        self.linked > 0 && self.verified == self.linked
    }
}

impl GoalStatus {
    /// The status that follows from how far the tasks are. Only a lead makes a goal verified, and it stays so while its tasks do.
    pub fn after_progress(self, progress: Progress) -> Self {
        match self {
            Self::Verified if progress.all_verified() => Self::Verified,
            _ if progress.all_verified() => Self::PendingVerify,
            Self::Open if progress.started == 0 => Self::Open,
            _ => Self::Active,
        }
    }
}

/// What somebody wants reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewGoal {
    #[schema(value_type = crate::schema::Title)]
    pub title: String,
    #[serde(default)]
    #[schema(value_type = Option<crate::schema::OptionalBody>)]
    pub description: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn progress(begun: u32, verified: u32) -> Progress {
        Progress { linked: 2, started: begun, completed: verified, verified }
    }

    #[test]
    fn a_goal_follows_its_tasks_forwards_and_back() {
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
    fn a_goal_without_tasks_is_never_ready() {
        assert_eq!(GoalStatus::Active.after_progress(Progress::default()), GoalStatus::Active);
    }
}
