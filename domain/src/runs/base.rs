//! Following the base branch: why its upstream cannot be fetched. Must not know how it is fetched.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::time::Timestamp;

/// The upstream of a base branch cannot be fetched, so its last known commit counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FetchProblem {
    pub base_branch: String,
    /// What `git` said when it failed first.
    pub detail: String,
    pub since: Timestamp,
}
