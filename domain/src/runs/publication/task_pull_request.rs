//! The pull request of one task. Must not know when it is opened.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::runs::evidence::Sha;
use crate::runs::publication::pull_request::{PullRequestState, PullRequestStatus};

/// The pull request of a task: its branch on a remote, under review there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TaskPullRequest {
    pub address: String,
    /// The branch on the remote.
    pub branch: String,
    /// The commit that was pushed last.
    pub sha: Sha,
    pub status: PullRequestStatus,
}

impl TaskPullRequest {
    pub fn is_open(&self) -> bool {
        self.status.state == PullRequestState::Open
    }

    /// Whether its host has merged it.
    pub fn is_merged(&self) -> bool {
        self.status.state == PullRequestState::Merged
    }
}
