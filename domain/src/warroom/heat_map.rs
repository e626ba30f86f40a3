//! The heat map: how much work each part of a repository takes. Work is attributed to a zone by the files that a task changes, or is planned to.
//!
//! Must not read the store or a repository.

mod attribution;
mod treemap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use self::attribution::{Heat, part_of, shares};
use self::treemap::Treemap;
use super::claim::ClaimPath;
use super::commit_files::CommitFiles;
use super::zone::Zone;
use super::zone::coverage::ZoneCoverage;
use super::zone::lookup::ZoneLookup;
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
    /// Comments of agents and persons.
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
    /// What it changes.
    pub paths: Vec<ClaimPath>,
    pub is_open: bool,
    pub runs: u32,
    pub updates: u32,
    pub send_backs: u32,
    pub conflicts: u32,
    pub cost_micro_usd: i64,
}

/// What is stored about the work on a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeatFacts {
    pub since: Timestamp,
    pub is_cut: bool,
    pub zones: Vec<Zone>,
    pub tasks: Vec<TaskActivity>,
}

impl HeatMap {
    /// Takes the number of files, and of tasks with their paths.
    pub fn of(facts: &HeatFacts, files: &CommitFiles) -> Self {
        let lookup = ZoneLookup::new(&facts.zones);
        let mut rows: Vec<ZoneHeat> = facts.zones.iter().map(row_of).chain([ZoneHeat::default()]).collect();
        let outside = facts.zones.len();
        let mut parts = Treemap::of(&files.files);
        for file in &files.files {
            let zone = file.path.parse::<ClaimPath>().ok().and_then(|path| lookup.position_of(&path));
            if let Some(row) = rows.get_mut(zone.unwrap_or(outside)) {
                row.files = row.files.saturating_add(1);
                row.bytes = row.bytes.saturating_add(file.bytes);
            }
            parts.add_file(file, zone);
        }
        let mut heats = vec![Heat::default(); rows.len()];
        for task in &facts.tasks {
            for (place, share) in shares(task, |path| zones_of(path, &facts.zones, &lookup)) {
                if let (Some(row), Some(heat)) = (rows.get_mut(place), heats.get_mut(place)) {
                    row.count(task, share);
                    heat.add(task, share);
                }
            }
            parts.add_task(task);
        }
        for (row, heat) in rows.iter_mut().zip(Heat::percents(&heats)) {
            row.heat = heat;
        }
        Self {
            since: facts.since,
            tasks: counted(facts.tasks.len()),
            is_cut: facts.is_cut,
            tasks_without_files: counted(facts.tasks.iter().filter(|task| task.paths.is_empty()).count()),
            branch: files.branch.clone(),
            commit: files.commit.clone(),
            zones: rows,
            folders: parts.finish(&facts.zones),
            coverage: ZoneCoverage::of(&facts.zones, files),
        }
    }
}

impl ZoneHeat {
    fn count(&mut self, task: &TaskActivity, share: f64) {
        self.tasks += 1;
        self.open_tasks += u32::from(task.is_open);
        self.runs = self.runs.saturating_add(task.runs);
        self.updates = self.updates.saturating_add(task.updates);
        self.send_backs = self.send_backs.saturating_add(task.send_backs);
        self.conflicts = self.conflicts.saturating_add(task.conflicts);
        self.cost_micro_usd = self.cost_micro_usd.saturating_add(part_of(task.cost_micro_usd, share));
    }
}

fn row_of(zone: &Zone) -> ZoneHeat {
    ZoneHeat { zone: Some(zone.name.clone()), owner: zone.owner.clone(), oracle: zone.oracle.clone(), ..ZoneHeat::default() }
}

/// The zones of what a task changes. A pattern may reach into several; files in no zone are in the row after the zones.
fn zones_of(path: &ClaimPath, zones: &[Zone], lookup: &ZoneLookup<'_>) -> Vec<usize> {
    if let Some(zone) = lookup.position_of(path) {
        return vec![zone];
    }
    let reached = zones.iter().enumerate().filter(|(_, zone)| path.is_glob() && zone.paths.iter().any(|own| own.overlaps(path)));
    let reached: Vec<usize> = reached.map(|(place, _)| place).collect();
    if reached.is_empty() { vec![zones.len()] } else { reached }
}

fn counted(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
