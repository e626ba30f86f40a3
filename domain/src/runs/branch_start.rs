//! The commit at which a project branch begins, as the person chooses it when the project is created.
//!
//! Must not know how the commit is found or made.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Where a project branch begins.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum BranchStart {
    /// At the tip of the base branch.
    #[default]
    Base,
    /// At a commit on top of the base branch with the uncommitted files of the person's checkout. The checkout itself stays as it is.
    Snapshot,
    /// At the newest fetched commit of the branch that the base branch follows.
    Upstream,
}
