//! Proposals of zones: from the file CODEOWNERS, and from the code map. A person or a lead sets those that fit. Must not read a repository.

mod code_map;
mod codeowners;
pub mod evidence;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{NewZone, Zone};
use crate::vocabulary::vocabulary;

/// The longest name that is proposed, in bytes.
const MAX_NAME: usize = 40;

vocabulary! {
    /// Where proposals come from.
    ProposalSource, "source of proposals" {
        /// The file CODEOWNERS of the base branch.
        Codeowners = "codeowners",
        /// The last code map.
        CodeMap = "code_map",
    }
}

/// `GET /api/projects/{id}/zones/proposals`. Nothing changes until they are set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ZoneProposals {
    pub from: ProposalSource,
    /// The file in the repository, or the commit that was mapped.
    pub source: String,
    pub proposals: Vec<ZoneProposal>,
    /// Lines and folders that are not proposed, or mean something else as a zone, each with the reason.
    pub skipped: Vec<String>,
}

/// A zone that could be set.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ZoneProposal {
    pub zone: NewZone,
    /// More about it, such as an owner who takes no part in the project, or how much code it has.
    pub note: Option<String>,
}

/// `POST /api/projects/{id}/zones/apply`: the proposals that fit, all or none of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ZoneSelection {
    /// At most 100.
    pub zones: Vec<NewZone>,
}

/// Names that are not taken.
struct Names(Vec<String>);

impl Names {
    fn new(zones: &[Zone]) -> Self {
        Self(zones.iter().map(|zone| zone.name.clone()).collect())
    }

    /// Returns a free name for a path: its last name that is no glob, if need be with the one before it, or with a number.
    fn take(&mut self, path: &str) -> String {
        let words: Vec<String> = path.split('/').map(to_letters).filter(|word| !word.is_empty()).collect();
        let last = words.last().cloned().unwrap_or_else(|| "root".to_owned());
        let before = words.len().checked_sub(2).and_then(|place| words.get(place));
        let longer = before.map(|before| cut(&format!("{before}-{last}")));
        let numbered = (2..).map(|number| format!("{}-{number}", cut(&last)));
        let mut names = [cut(&last)].into_iter().chain(longer).chain(numbered);
        let free = names.find(|name| !self.0.contains(name)).unwrap_or(last);
        self.0.push(free.clone());
        free
    }
}

/// The letters of a name that a zone may have.
fn to_letters(name: &str) -> String {
    let letters = name.to_lowercase();
    let parts: Vec<&str> = letters.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_')).filter(|part| !part.is_empty()).collect();
    parts.join("-")
}

fn cut(name: &str) -> String {
    name.get(..MAX_NAME).unwrap_or(name).trim_matches('-').to_owned()
}

#[cfg(test)]
mod tests;
