//! Rescues: work that was kept before its branch or its checkout was removed. Must not know how git keeps it.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::event::kinds::events;
use crate::id::TaskId;
use crate::runs::evidence::Sha;
use crate::time::Timestamp;

/// How long kept work stays. Someone who misses it has noticed by then, and it would grow without an end.
pub const KEEP: Duration = Duration::from_secs(30 * 24 * 60 * 60);

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
    /// The size of the files that it has and that the project branch does not have like that.
    #[serde(default)]
    pub bytes: u64,
    /// When it was kept. Missing if this board did not do it; it stays then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept_at: Option<Timestamp>,
}

impl Rescue {
    /// When it is removed, if it is.
    pub fn ends_at(&self) -> Option<Timestamp> {
        self.kept_at.map(|at| at.after(KEEP))
    }
}

/// Words a size in bytes.
pub fn size(bytes: u64) -> String {
    const MEBIBYTE: u64 = 1 << 20;
    if bytes < MEBIBYTE { format!("{} KiB", bytes.div_ceil(1024)) } else { format!("{} MiB", bytes / MEBIBYTE) }
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
        /// The rescue ref was removed because it expired.
        Expired "rescue_expired" { reference: String, sha: Sha }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_a_unit_and_work_ends_after_thirty_days() {
        assert_eq!([0, 1, 1024, 1 << 20, 50 << 20].map(size), ["0 KiB", "1 KiB", "1 KiB", "1 MiB", "50 MiB"]);
        let kept_at = Some("2026-11-01T00:00:00.000Z".parse().unwrap());
        let rescue = Rescue {
            reference: String::new(),
            sha: String::new(),
            subject: String::new(),
            committed_at: Timestamp::from_milliseconds(0),
            task_id: None,
            bytes: 0,
            kept_at,
        };
        assert_eq!(rescue.ends_at().map(|at| at.to_string()).as_deref(), Some("2026-12-01T00:00:00.000Z"));
    }

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
