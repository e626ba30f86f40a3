//! Sums up the work on each zone and part of a repository.

use super::attribution::{Heat, part_of, shares};
use super::treemap::Treemap;
use super::{HeatFacts, HeatMap, TaskActivity, ZoneHeat};
use crate::warroom::claim::ClaimPath;
use crate::warroom::commit_files::CommitFiles;
use crate::warroom::zone::Zone;
use crate::warroom::zone::coverage::ZoneCoverage;
use crate::warroom::zone::lookup::ZoneLookup;

impl HeatMap {
    /// Takes the number of files, and of tasks with their paths.
    pub fn of(facts: &HeatFacts, files: &CommitFiles) -> Self {
        let lookup = ZoneLookup::new(&facts.zones);
        let mut rows: Vec<ZoneHeat> = facts.zones.iter().map(row_of).chain([ZoneHeat::default()]).collect();
        let outside = facts.zones.len();
        let mut parts = Treemap::of(&files.files);
        for file in files.files.iter() {
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

/// The zones of a path that a task changes. A pattern may reach into several; files in no zone are in the row after the zones.
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
