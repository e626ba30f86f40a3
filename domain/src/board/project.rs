//! Projects: a goal on one repository, or a standing board without a goal.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::board::card::Card;
use crate::board::status::{HeldBy, Status};
use crate::id::ProjectId;
use crate::runs::agent_kind::AgentKind;
use crate::runs::evidence::Sha;
use crate::time::Timestamp;
use crate::vocabulary::vocabulary;

vocabulary! {
    /// Whether anything is still to be done.
    ProjectStatus, "project status" {
        Active = "active",
        Complete = "complete",
    }
}

vocabulary! {
    /// Whether a plan starts by itself.
    PlanApproval, "plan approval" {
        /// The children start when their planning task is done.
        Auto = "auto",
        /// They are held until the person presses Start.
        Ask = "ask",
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Project {
    pub id: ProjectId,
    pub title: String,
    /// The goal. A standing board has none.
    pub description: Option<String>,
    pub status: ProjectStatus,
    pub repo_path: String,
    /// The common `.git` folder, recorded when the project was made: what an agent writes elsewhere cannot redirect us.
    pub git_dir: String,
    pub base_branch: String,
    /// The project branch: where approved work is merged.
    pub integration_branch: String,
    /// Its tip, once the runner made it.
    pub integration_head: Option<Sha>,
    /// The tip that was last brought to the base branch.
    pub landed_sha: Option<Sha>,
    pub plan_approval: PlanApproval,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// The round of orchestration that is due for the planning task `root`, or none.
///
/// Due when the planning task is done, a child of it is done, no child is open and no orchestrator works on it; `rounds` are the
/// orchestrator tasks it had. The first round is 1; after `most` rounds none is due, nor when the last one added nothing.
pub fn round_due(root: &Card, children: &[&Card], rounds: &[&Card], most: u32) -> Option<u32> {
    let ready = root.phase == AgentKind::Planner
        && root.status == Status::Done
        && children.iter().any(|child| child.status == Status::Done)
        && children.iter().all(|child| !child.status.is_open())
        && rounds.iter().all(|round| !round.status.is_open());
    if !ready {
        return None;
    }
    let last = rounds.iter().max_by_key(|round| round.round);
    // Ids count up, so what was added since has a higher one; times could be equal.
    let added_since = last.is_none_or(|last| children.iter().any(|child| child.id.number() > last.id.number()));
    let next = last.and_then(|last| last.round).unwrap_or(0) + 1;
    (added_since && next <= most).then_some(next)
}

/// Whether nothing is left to do: no card is open but those that a person holds, none needs the person, no plan waits for their word, and
/// no round is due.
pub fn is_complete(cards: &[&Card], round_is_due: bool) -> bool {
    !round_is_due
        && cards.iter().any(|card| card.status == Status::Done)
        && cards.iter().all(|card| card.attention.is_none() && (!card.status.is_open() || matches!(card.held_by, Some(HeldBy::Human | HeldBy::Stop))))
}

/// The name of a project's branch.
pub fn project_branch(project: &ProjectId) -> String {
    format!("vibe-relay/{project}")
}

#[cfg(test)]
pub(crate) mod tests;
