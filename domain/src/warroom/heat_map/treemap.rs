//! Divides a repository into a few parts whose sizes can be compared at a glance. Must not know how they are drawn.

use std::collections::{BTreeMap, HashMap};

use super::attribution::{Heat, shares};
use super::{FolderHeat, TaskActivity};
use crate::warroom::claim::ClaimPath;
use crate::warroom::commit_files::{Amount, CommitFile, Folder, all_below, files_in, folders, parent_of};
use crate::warroom::zone::Zone;

/// The most parts.
const MAX_PARTS: usize = 60;
/// A folder with a larger share of the repository, in percent, is divided if its parts fit.
const LARGE_PERCENT: u64 = 3;

/// A part of the repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Part<'f> {
    /// A folder with all that is in it.
    Folder(&'f str),
    /// The files in a folder itself.
    Files(&'f str),
    /// The files in no other part.
    Rest,
}

/// The parts with their sizes, zones and heat.
#[derive(Debug)]
pub(super) struct Treemap<'f> {
    parts: Vec<(Part<'f>, Amount)>,
    places: HashMap<Part<'f>, usize>,
    /// The bytes of each part by zone.
    zones: Vec<BTreeMap<Option<usize>, u64>>,
    heats: Vec<Heat>,
}

impl<'f> Treemap<'f> {
    pub(super) fn of(files: &'f [CommitFile]) -> Self {
        let parts = divide(&folders(files));
        let places = parts.iter().enumerate().map(|(place, (part, _))| (*part, place)).collect();
        Self { places, zones: vec![BTreeMap::new(); parts.len()], heats: vec![Heat::default(); parts.len()], parts }
    }

    /// Adds a file to the zone that it is in, if any.
    pub(super) fn add_file(&mut self, file: &CommitFile, zone: Option<usize>) {
        if let Some(zones) = self.place_of(&file.path).and_then(|place| self.zones.get_mut(place)) {
            *zones.entry(zone).or_default() += file.bytes;
        }
    }

    pub(super) fn add_task(&mut self, task: &TaskActivity) {
        for (place, share) in shares(task, |path| self.places_of(path)) {
            if let Some(heat) = self.heats.get_mut(place) {
                heat.add(task, share);
            }
        }
    }

    /// Returns the parts by path.
    pub(super) fn finish(self, zones: &[Zone]) -> Vec<FolderHeat> {
        let heats = Heat::percents(&self.heats);
        let parts = self.parts.into_iter().zip(self.zones).zip(heats).map(|(((part, amount), by_zone), heat)| {
            let most = by_zone.into_iter().max_by_key(|(_, bytes)| *bytes).and_then(|(zone, _)| zone);
            let path = match part {
                Part::Folder(path) => all_below(path),
                Part::Files(path) => files_in(path),
                Part::Rest => "**".to_owned(),
            };
            let zone = most.and_then(|zone| zones.get(zone)).map(|zone| zone.name.clone());
            FolderHeat { path, files: amount.files, bytes: amount.bytes, zone, heat }
        });
        let mut parts: Vec<FolderHeat> = parts.collect();
        parts.sort_by(|one, other| one.path.cmp(&other.path));
        parts
    }

    /// The part of a file.
    fn place_of(&self, path: &str) -> Option<usize> {
        let parent = parent_of(path);
        let own = self.places.get(&Part::Files(parent)).copied();
        own.or_else(|| self.place_above(parent)).or_else(|| self.places.get(&Part::Rest).copied())
    }

    /// The part that includes all of a folder.
    fn place_above(&self, folder: &str) -> Option<usize> {
        let mut folder = folder;
        while !folder.is_empty() {
            if let Some(place) = self.places.get(&Part::Folder(folder)) {
                return Some(*place);
            }
            folder = parent_of(folder);
        }
        None
    }

    /// The parts that a path reaches into.
    fn places_of(&self, path: &ClaimPath) -> Vec<usize> {
        if !path.is_glob() {
            return self.place_of(path.as_str()).into_iter().collect();
        }
        // As it was written: the key is in lower case.
        let folder = path.as_str().get(..path.literal_part().len()).unwrap_or_default();
        if let Some(place) = self.place_above(folder) {
            return vec![place];
        }
        let is_below = |of: &str| of == folder || folder.is_empty() || of.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
        let below = self.parts.iter().enumerate().filter(|(_, (part, _))| match part {
            Part::Folder(of) | Part::Files(of) => is_below(of),
            Part::Rest => false,
        });
        let below: Vec<usize> = below.map(|(place, _)| place).collect();
        if below.is_empty() { self.places.get(&Part::Rest).copied().into_iter().collect() } else { below }
    }
}

/// Divides the largest folders until all are small, or there would be too many.
fn divide<'f>(folders: &BTreeMap<&'f str, Folder<'f>>) -> Vec<(Part<'f>, Amount)> {
    let whole = folders.get("").map(|root| root.all.bytes).unwrap_or_default();
    let mut parts = parts_of("", folders);
    let mut settled: Vec<&str> = Vec::new();
    loop {
        let large = parts.iter().enumerate().filter_map(|(place, (part, amount))| match part {
            Part::Folder(path) if amount.bytes.saturating_mul(100) > whole.saturating_mul(LARGE_PERCENT) && !settled.contains(path) => {
                Some((amount.bytes, place, *path))
            }
            Part::Folder(_) | Part::Files(_) | Part::Rest => None,
        });
        let Some((_, place, path)) = large.max_by_key(|(bytes, _, _)| *bytes) else { break };
        let inside = parts_of(path, folders);
        if parts.len() + inside.len() <= MAX_PARTS && inside.iter().any(|(part, _)| matches!(part, Part::Folder(_))) {
            parts.swap_remove(place);
            parts.extend(inside);
        } else {
            settled.push(path);
        }
    }
    if parts.len() > MAX_PARTS {
        parts.sort_by(|(one, first), (other, second)| (second.bytes, one).cmp(&(first.bytes, other)));
        let rest = parts.split_off(MAX_PARTS - 1).into_iter().fold(Amount::default(), |sum, (_, amount)| Amount {
            files: sum.files.saturating_add(amount.files),
            bytes: sum.bytes.saturating_add(amount.bytes),
        });
        parts.push((Part::Rest, rest));
    }
    parts
}

/// The folders in a folder, and its own files.
fn parts_of<'f>(path: &'f str, folders: &BTreeMap<&'f str, Folder<'f>>) -> Vec<(Part<'f>, Amount)> {
    let Some(folder) = folders.get(path) else { return Vec::new() };
    let below = folder.folders.iter().filter_map(|below| Some((Part::Folder(below), folders.get(below)?.all)));
    let own = (folder.own.files > 0).then_some((Part::Files(path), folder.own));
    below.chain(own).collect()
}
