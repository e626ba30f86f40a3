//! The gaps of zones: files in no zone, and zones that nobody answers questions about. Must not read a repository.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Zone;
use super::lookup::ZoneLookup;
use crate::warroom::claim::ClaimPath;
use crate::warroom::commit_files::{Amount, CommitFile, CommitFiles, all_below, files_in, folders, parent_of};

/// The most parts that are named.
const MAX_PARTS: usize = 50;

/// The gaps of the zones of a project.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ZoneCoverage {
    /// The files in no zone, and their size.
    pub uncovered_files: u32,
    pub uncovered_bytes: u64,
    /// Where they are, the largest first; at most 50 parts.
    pub uncovered: Vec<UncoveredPart>,
    /// The zones without an expert who answers questions about them, by name.
    pub without_oracle: Vec<String>,
}

/// `GET /api/projects/{id}/zones`: all zones by name, with their gaps.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Zones {
    pub items: Vec<Zone>,
    /// None if the repository cannot be read.
    pub coverage: Option<ZoneCoverage>,
}

/// A part of the repository that no zone covers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct UncoveredPart {
    /// A folder with all that is in it (`docs/`), or the files in a folder that are in no zone (`src/*`).
    pub path: String,
    pub files: u32,
    pub bytes: u64,
}

impl ZoneCoverage {
    pub fn of(zones: &[Zone], files: &CommitFiles) -> Self {
        let lookup = ZoneLookup::new(zones);
        let is_covered = |file: &&CommitFile| file.path.parse::<ClaimPath>().is_ok_and(|path| lookup.position_of(&path).is_some());
        let (covered, open): (Vec<&CommitFile>, Vec<&CommitFile>) = files.files.iter().partition(is_covered);
        let mut partly: HashSet<&str> = HashSet::from([""]);
        for file in covered {
            let mut folder = parent_of(&file.path);
            while partly.insert(folder) {
                folder = parent_of(folder);
            }
        }
        let folders = folders(open);
        let mut uncovered: Vec<UncoveredPart> = Vec::new();
        let mut add = |path: String, amount: Amount| {
            if amount.files > 0 {
                uncovered.push(UncoveredPart { path, files: amount.files, bytes: amount.bytes });
            }
        };
        for (path, folder) in &folders {
            if partly.contains(path) {
                add(files_in(path), folder.own);
            } else if partly.contains(parent_of(path)) {
                add(all_below(path), folder.all);
            }
        }
        uncovered.sort_by(|one, other| (other.bytes, &one.path).cmp(&(one.bytes, &other.path)));
        uncovered.truncate(MAX_PARTS);
        let without_oracle = zones.iter().filter(|zone| zone.oracle.is_none()).map(|zone| zone.name.clone()).collect();
        let all = folders.get("").map(|root| root.all).unwrap_or_default();
        Self { uncovered_files: all.files, uncovered_bytes: all.bytes, uncovered, without_oracle }
    }
}
