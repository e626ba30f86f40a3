//! The heat map: how much work each part of a repository takes. Work is attributed to a zone by the files that a task changes, or is planned to.
//!
//! Must not read the store or a repository.

mod attribution;
mod sum;
mod treemap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::claim::ClaimPath;
use super::zone::Zone;
use super::zone::coverage::ZoneCoverage;
use crate::runs::evidence::Sha;
use crate::time::Timestamp;

/// Finished tasks count for so many days.
pub const DAYS: u32 = 30;
/// The most finished tasks that count. They bound what a heat map costs.
pub const MAX_FINISHED: usize = 500;

/// `GET /api/projects/{id}/heat-map`: how much work the zones of a repository take. Open tasks count, and those that ended in the last 30 days: the
/// last 500 of them at most.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct HeatMap {
    /// Tasks that ended before do not count.
    pub since: Timestamp,
    /// The tasks that count.
    pub tasks: u32,
    /// Whether more tasks ended since then than are counted.
    pub is_cut: bool,
    /// The tasks of these that name no file and changed none, so that they are in no row.
    pub tasks_without_files: u32,
    /// The commit whose files are counted, and its branch.
    pub branch: String,
    pub commit: Sha,
    /// The zones by name, and at the end the files in no zone.
    pub zones: Vec<ZoneHeat>,
    /// The whole repository in at most 60 parts, for a treemap.
    pub folders: Vec<FolderHeat>,
    #[serde(flatten)]
    pub coverage: ZoneCoverage,
}

/// The work on one zone. A task counts in each zone that it touches; its cost is divided by its files.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ZoneHeat {
    /// None for the files in no zone.
    pub zone: Option<String>,
    pub owner: Option<String>,
    pub oracle: Option<String>,
    pub files: u32,
    pub bytes: u64,
    pub tasks: u32,
    pub open_tasks: u32,
    pub runs: u32,
    /// Comments of agents and persons, and updates of the tasks by agents that the runner did not start.
    pub updates: u32,
    pub send_backs: u32,
    /// Merges that failed.
    pub conflicts: u32,
    pub cost_micro_usd: i64,
    /// 0 to 100: the mean of what its activity (runs and updates), send-backs, conflicts and cost are of the largest in any row. Those of a task are
    /// divided by its files.
    pub heat: u8,
}

/// A part of the repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FolderHeat {
    /// A folder with all that is in it (`src/`), the files in a folder itself (`src/*`), or the files of all folders that are too small to be
    /// listed (`**`).
    pub path: String,
    pub files: u32,
    pub bytes: u64,
    /// The zone that most of it is in.
    pub zone: Option<String>,
    /// As in a zone.
    pub heat: u8,
}

/// A task that counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskActivity {
    /// The files that it changes, or is planned to.
    pub paths: Vec<ClaimPath>,
    pub is_open: bool,
    pub runs: u32,
    pub updates: u32,
    pub send_backs: u32,
    pub conflicts: u32,
    pub cost_micro_usd: i64,
}

/// The stored facts about the work on a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeatFacts {
    pub since: Timestamp,
    pub is_cut: bool,
    pub zones: Vec<Zone>,
    pub tasks: Vec<TaskActivity>,
}

#[cfg(test)]
mod tests;
