//! Zones from the code map: the folders at the top with enough code, and those inside of a large one.

use std::collections::BTreeMap;

use super::{Names, ProposalSource, ZoneProposal, ZoneProposals};
use crate::warroom::claim::ClaimPath;
use crate::warroom::code_map::CodeMapSummary;
use crate::warroom::commit_files::{all_below, parent_of};
use crate::warroom::zone::lookup::ZoneLookup;
use crate::warroom::zone::{NewZone, Zone};

/// The most proposals. An expert can know so many parts, and a person compare them.
const MAX_PROPOSALS: usize = 20;
/// A smaller folder is no zone of its own, in lines and in percent of all code.
const MIN_LINES: u64 = 200;
const MIN_PERCENT: u64 = 1;
/// A larger folder is divided, in percent of all code.
const LARGE_PERCENT: u64 = 20;

pub(super) fn propose(summary: &CodeMapSummary, zones: &[Zone]) -> ZoneProposals {
    let mut lines: BTreeMap<&str, u64> = BTreeMap::new();
    for source in &summary.folders {
        let mut folder = source.path.as_str();
        loop {
            *lines.entry(folder).or_default() += source.lines;
            if folder.is_empty() {
                break;
            }
            folder = parent_of(folder);
        }
    }
    let all = lines.get("").copied().unwrap_or_default();
    let is_enough = |lines: u64| lines >= MIN_LINES && lines.saturating_mul(100) >= all.saturating_mul(MIN_PERCENT);
    let inside = |folder: &str| -> Vec<(&str, u64)> {
        let below = lines.iter().filter(|(path, lines)| !path.is_empty() && parent_of(path) == folder && is_enough(**lines));
        below.map(|(path, lines)| (*path, *lines)).collect()
    };
    let mut found = inside("");
    let mut settled: Vec<&str> = Vec::new();
    // A divided folder stays for what is in none of its parts; the most specific path counts.
    while let Some((folder, _)) = found
        .iter()
        .filter(|(folder, lines)| lines.saturating_mul(100) > all.saturating_mul(LARGE_PERCENT) && !settled.contains(folder))
        .max_by_key(|(_, lines)| *lines)
        .copied()
    {
        settled.push(folder);
        let parts = inside(folder);
        if found.len() + parts.len() <= MAX_PROPOSALS {
            let divided: u64 = parts.iter().map(|(_, lines)| lines).sum();
            let left = lines.get(folder).copied().unwrap_or_default().saturating_sub(divided);
            found.retain(|(path, _)| *path != folder || left > 0);
            found.extend(parts);
        }
    }
    let mut skipped = Vec::new();
    found.sort_by(|(one, first), (other, second)| (second, one).cmp(&(first, other)));
    if found.len() > MAX_PROPOSALS {
        skipped.push(format!("{} smaller folders", found.len() - MAX_PROPOSALS));
        found.truncate(MAX_PROPOSALS);
    }
    found.sort_unstable();
    let (lookup, mut names) = (ZoneLookup::new(zones), Names::new(zones));
    let mut proposals = Vec::new();
    for (folder, lines) in found {
        let path = all_below(folder);
        match path.parse::<ClaimPath>().ok().map(|path| lookup.position_of(&path).and_then(|place| zones.get(place))) {
            None => skipped.push(format!("{path} cannot be a path of a zone")),
            Some(Some(zone)) => skipped.push(format!("{path} is already in the zone {}", zone.name)),
            Some(None) => {
                let zone = NewZone { name: names.take(folder), paths: vec![path], ..NewZone::default() };
                proposals.push(ZoneProposal { zone, note: Some(format!("{lines} lines of code")) });
            }
        }
    }
    ZoneProposals { from: ProposalSource::CodeMap, source: summary.commit.clone(), proposals, skipped }
}
