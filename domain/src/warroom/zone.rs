//! Zones: named parts of a repository, each with the paths that belong to it, an owner and an expert. Must not know how they are stored, or
//! which files exist.

pub mod code_owners;
pub mod coverage;
pub mod lookup;
pub mod name;
pub mod proposal;
pub mod refusal;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use self::refusal::ZoneRefusal;
use super::claim::ClaimPath;
use crate::event::kinds::events;
use crate::id::ProjectId;
use crate::refusal::Refusal;
use crate::time::Timestamp;

/// The most zones of a project, and the most paths of a zone. They bound what finding the zone of a path costs.
pub const MAX_ZONES: usize = 100;
pub const MAX_PATHS: usize = 50;

/// A named part of a repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Zone {
    pub project_id: ProjectId,
    pub name: String,
    /// Files, folders and globs, as in claims.
    #[schema(value_type = Vec<String>)]
    pub paths: Vec<ClaimPath>,
    /// The participant that is responsible for it.
    pub owner: Option<String>,
    /// The participant that knows it and answers questions about it; `managed` for an oracle that the runner starts.
    pub oracle: Option<String>,
    /// The participant that set it.
    pub author: String,
    pub set_at: Timestamp,
}

/// The zone as it has to be from now on: `PUT /api/projects/{id}/zones`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewZone {
    /// A word of lower-case letters, digits, `-` and `_`.
    pub name: String,
    /// 1 to 50 files, folders (`src/parser/`) and globs (`src/*.rs`).
    pub paths: Vec<String>,
    /// The name of an agent or a person.
    #[serde(default)]
    pub owner: Option<String>,
    /// The name of an agent or a person, or `managed`: the runner starts an oracle of its own when someone asks.
    #[serde(default)]
    pub oracle: Option<String>,
}

/// `POST /api/projects/{id}/zones/remove`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ZoneRemoval {
    pub name: String,
}

impl Zone {
    /// Whether two zones differ in their author and time at most.
    pub fn says_the_same(&self, other: &Self) -> bool {
        let said = |zone: &Self| (zone.name.clone(), zone.paths.clone(), zone.owner.clone(), zone.oracle.clone());
        said(self) == said(other)
    }
}

impl NewZone {
    /// Returns its paths in order, each once.
    ///
    /// # Errors
    /// When there is none or too many, or when one is not a path in a repository, is the whole repository, or has been given to another of `zones`.
    pub fn paths(&self, zones: &[Zone]) -> Result<Vec<ClaimPath>, Refusal> {
        if self.paths.is_empty() || self.paths.len() > MAX_PATHS {
            return Err(ZoneRefusal::Paths { zone: self.name.clone(), paths: self.paths.len(), most: MAX_PATHS }.into());
        }
        let mut paths = Vec::with_capacity(self.paths.len());
        for given in &self.paths {
            let path: ClaimPath = given.parse()?;
            if is_everything(&path) {
                return Err(ZoneRefusal::WholeRepository { path: path.to_string() }.into());
            }
            if let Some(other) = zones.iter().find(|zone| zone.name != self.name && zone.paths.contains(&path)) {
                return Err(ZoneRefusal::PathTaken { path: path.to_string(), zone: other.name.clone() }.into());
            }
            paths.push(path);
        }
        paths.sort();
        paths.dedup();
        Ok(paths)
    }
}

/// Whether a path consists of globs alone, so that it leaves nothing to other zones.
fn is_everything(path: &ClaimPath) -> bool {
    path.key().chars().all(|letter| matches!(letter, '*' | '?' | '/' | '.'))
}

events! {
    /// A change of the zones.
    ZoneEvent {
        Set "zone_set" { zone: String }
        Removed "zone_removed" { zone: String }
    }
}

#[cfg(test)]
mod tests;
