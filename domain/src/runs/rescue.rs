//! Rescues: work that was kept before its branch or its checkout was removed. Must not know how git keeps it.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::event::kinds::events;
use crate::id::TaskId;
use crate::runs::evidence::Sha;
use crate::time::Timestamp;

/// Work that a rescue ref keeps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Rescue {
    /// The full name of the rescue ref.
    pub reference: String,
    pub sha: Sha,
    /// The first line of the commit's message.
    pub subject: String,
    pub committed_at: Timestamp,
    /// The task whose work it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
}

/// Returns the task that a rescue ref names: its first part after `prefix`.
pub fn task_of(reference: &str, prefix: &str) -> Option<TaskId> {
    reference.strip_prefix(prefix)?.split('/').next()?.parse().ok()
}

/// Creates a branch with the work that a rescue ref keeps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RestoreRescue {
    pub reference: String,
    /// The name of a new branch.
    pub branch: String,
}

/// Deletes a rescue ref, and with it work that may exist nowhere else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DropRescue {
    pub reference: String,
    /// The commit that it keeps, so that newer work under the same name is not lost.
    pub sha: Sha,
}

events! {
    /// A change of a rescue.
    RescueEvent {
        /// A person created a branch with the kept work.
        Restored "rescue_restored" { reference: String, branch: String }
        /// A person deleted the rescue ref.
        Dropped "rescue_dropped" { reference: String, sha: Sha }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rescue_ref_names_its_task() {
        let of = |reference: &str| task_of(reference, "refs/kept/").map(|task| task.to_string());
        assert_eq!(of("refs/kept/TASK-001/uncommitted").as_deref(), Some("TASK-001"));
        assert_eq!(of("refs/kept/TASK-012/nested/vendor-1").as_deref(), Some("TASK-012"));
        for other in ["refs/kept/PROJ-001/0123456789ab", "refs/kept/vibe-relay-TASK-001/power-cut", "refs/heads/TASK-001/x", "refs/kept/"] {
            assert_eq!(of(other), None, "{other}");
        }
    }
}
