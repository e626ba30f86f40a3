//! Claims: which agent edits which files. A claim names a path or a glob of one repository, and no two claims of different agents overlap.
//!
//! Must not know how claims are stored, or that a path may lead through a symbolic link: `repo` resolves those first.

mod overlap;
mod path;
pub mod queue;
pub mod refusal;

pub use path::ClaimPath;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use self::refusal::ClaimRefusal;
use crate::event::kinds::events;
use crate::id::{ProjectId, TaskId};
use crate::time::Timestamp;
use crate::vocabulary::vocabulary;

/// The most claims that one agent holds, and the most paths that it waits for. They bound what a comparison costs.
pub const MAX_CLAIMS: usize = 500;
pub const MAX_WAITS: usize = 100;

/// A path that only one agent may edit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Claim {
    pub id: i64,
    /// The project of its holder. A claim counts in all projects on the repository.
    pub project_id: ProjectId,
    pub agent: String,
    /// The task of a managed agent. Its claims last until its work is merged or dropped.
    pub task_id: Option<TaskId>,
    #[schema(value_type = String)]
    pub path: ClaimPath,
    pub claimed_at: Timestamp,
}

/// An agent that waits for a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ClaimWait {
    pub id: i64,
    pub project_id: ProjectId,
    pub agent: String,
    pub task_id: Option<TaskId>,
    #[schema(value_type = String)]
    pub path: ClaimPath,
    pub since: Timestamp,
}

/// The answer to a claim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum ClaimOutcome {
    /// The caller may edit the path.
    Held { claim: Claim },
    /// Another agent holds it. The caller is in line behind `ahead` others and receives a message when the path is its own.
    Waiting { holder: Claim, ahead: usize },
    /// Another agent holds it and waits, perhaps through others, for what the caller holds. The caller is not in line.
    Deadlock { holder: Claim, wanted: ClaimWait },
}

impl ClaimOutcome {
    /// Why the caller may not edit the path, if it may not.
    ///
    /// # Errors
    /// When another agent holds it.
    pub fn into_claim(self, path: &ClaimPath) -> Result<Claim, ClaimRefusal> {
        let path = path.to_string();
        match self {
            Self::Held { claim } => Ok(claim),
            Self::Waiting { holder, ahead } => Err(ClaimRefusal::Taken { path, holder: holder.agent, since: holder.claimed_at, ahead }),
            Self::Deadlock { holder, wanted } => {
                let (waiting, wanted) = (wanted.agent, wanted.path.to_string());
                Err(ClaimRefusal::Deadlock { path, holder: holder.agent, waiting, wanted })
            }
        }
    }
}

/// `POST /api/projects/{id}/claims/release`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ClaimRelease {
    #[schema(value_type = String)]
    pub path: ClaimPath,
    /// The holder reads it.
    #[schema(value_type = crate::text_schema::Body)]
    pub reason: String,
}

/// The decision about an edit by a managed agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum EditDecision {
    Allowed,
    /// The project only warns.
    Warned {
        outcome: ClaimOutcome,
    },
    Refused {
        outcome: ClaimOutcome,
    },
}

vocabulary! {
    /// Whether an edit of a file that another agent claimed is refused.
    ClaimMode, "mode of claims" {
        /// Edits by managed agents are refused.
        Enforced = "enforced",
        /// They are warned only.
        Advisory = "advisory",
    }
}

vocabulary! {
    /// Why a claim ended.
    ReleaseReason, "reason of a release" {
        /// Its holder released it.
        Released = "released",
        /// The task is merged or cancelled.
        Finished = "finished",
        /// The attempt failed, or the task was stopped or put back.
        Stopped = "stopped",
        /// Its holder left.
        Left = "left",
        /// Its holder has not answered for ten minutes.
        Expired = "expired",
        /// A lead or a person released it.
        Forced = "forced",
    }
}

impl ReleaseReason {
    /// Why the path is free, as the end of "it is free, because …".
    pub fn sentence(self, holder: &str) -> String {
        match self {
            Self::Released => format!("{holder} released it"),
            Self::Finished => format!("the task of {holder} is finished"),
            Self::Stopped => format!("the work of {holder} stopped"),
            Self::Left => format!("{holder} left"),
            Self::Expired => format!("{holder} no longer answers"),
            Self::Forced => format!("it was taken from {holder}"),
        }
    }
}

events! {
    /// A change of the claims.
    ClaimEvent {
        Granted "claim_granted" { agent: String, path: String }
        Queued "claim_queued" { agent: String, path: String, holder: String }
        Released "claim_released" { agent: String, path: String, reason: ReleaseReason }
    }
}
