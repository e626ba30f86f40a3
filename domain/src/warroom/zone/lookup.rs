//! Finds the zones of files. Must not know which files exist.

use std::collections::{BTreeSet, HashMap};

use super::Zone;
use crate::warroom::claim::ClaimPath;

/// The paths of zones, by the names before their first glob.
///
/// Of two paths, the one with more names before its first glob is more specific, then the one with more names, then the longer one. So paths are
/// looked up from the longest folder of a file to the shortest, which costs the depth of the file, and not the number of zones.
#[derive(Debug)]
pub struct ZoneLookup<'z> {
    rules: HashMap<&'z str, Vec<Rule<'z>>>,
}

#[derive(Debug)]
struct Rule<'z> {
    path: &'z ClaimPath,
    /// The place of its zone in the list.
    zone: usize,
}

impl<'z> ZoneLookup<'z> {
    pub fn new(zones: &'z [Zone]) -> Self {
        let mut rules: HashMap<&str, Vec<Rule<'_>>> = HashMap::new();
        for (zone, path) in zones.iter().enumerate().flat_map(|(number, zone)| zone.paths.iter().map(move |path| (number, path))) {
            rules.entry(path.literal_part()).or_default().push(Rule { path, zone });
        }
        for rules in rules.values_mut() {
            rules.sort_by(|one, other| specificity(other.path).cmp(&specificity(one.path)));
        }
        Self { rules }
    }

    /// Returns the place in the list of the zone with the most specific path that covers `path`.
    pub fn position_of(&self, path: &ClaimPath) -> Option<usize> {
        let mut folder = path.key();
        loop {
            let covers = |rule: &&Rule<'_>| rule.path.covers_file(path);
            if let Some(rule) = self.rules.get(folder).and_then(|rules| rules.iter().find(covers)) {
                return Some(rule.zone);
            }
            folder = match folder.rsplit_once('/') {
                Some((parent, _)) => parent,
                None if folder.is_empty() => return None,
                None => "",
            };
        }
    }
}

/// Returns the zone of a file: the one with the most specific path that covers it, as [`ZoneLookup`] says. Takes the number of all paths.
pub fn zone_of<'z>(zones: &'z [Zone], path: &ClaimPath) -> Option<&'z Zone> {
    zones.get(ZoneLookup::new(zones).position_of(path)?)
}

/// Returns the names of the zones of several files, each once. Files in no zone add nothing.
pub fn zones_of<'z>(zones: &'z [Zone], paths: &[ClaimPath]) -> BTreeSet<&'z str> {
    let lookup = ZoneLookup::new(zones);
    paths.iter().filter_map(|path| zones.get(lookup.position_of(path)?)).map(|zone| zone.name.as_str()).collect()
}

/// Returns the first of the paths that is not in the zone `name`.
pub fn first_outside<'p>(zones: &[Zone], name: &str, paths: &'p [ClaimPath]) -> Option<&'p ClaimPath> {
    let lookup = ZoneLookup::new(zones);
    paths.iter().find(|path| lookup.position_of(path).and_then(|place| zones.get(place)).is_none_or(|zone| zone.name != name))
}

/// All names, and the length, of paths with the same names before their first glob.
fn specificity(path: &ClaimPath) -> (usize, usize, &str) {
    (path.key().split('/').count(), path.key().len(), path.key())
}
