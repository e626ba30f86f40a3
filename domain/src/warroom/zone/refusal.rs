//! Refusals of zones.

use crate::refusal::category::refusals;

refusals! {
    /// Why a zone cannot be set.
    ZoneRefusal {
        #[error("the zone {zone} would have {paths} paths, and 1 to {most} are allowed")]
        Paths { zone: String, paths: usize, most: usize } => Unprocessable "zone-paths",
        #[error("{path} would put the whole repository into one zone")]
        WholeRepository { path: String } => Unprocessable "zone-whole-repository",
        #[error("{path} is already in the zone {zone}")]
        PathTaken { path: String, zone: String } => Conflict "zone-path-taken",
        #[error("the project has {zones} zones, and no more are allowed")]
        TooMany { zones: usize } => Conflict "zone-limit",
        #[error("the zone {zone} has neither an oracle nor an owner")]
        NoExpert { zone: String } => Conflict "zone-without-expert",
        #[error("{branch} has no file CODEOWNERS")]
        NoCodeowners { branch: String } => NotFound "codeowners-missing",
    }
}

impl ZoneRefusal {
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::Paths { .. } => "Name the folders of the zone, such as src/parser/, instead of their files.".to_owned(),
            Self::WholeRepository { .. } => "Name the folders of the zone, such as src/parser/. A file can be in no zone.".to_owned(),
            Self::PathTaken { zone, .. } => format!("Take it out of the zone {zone} first, or name a more specific path."),
            Self::NoExpert { .. } => "Ask a lead with send; a lead names the oracle of a zone with set_zone.".to_owned(),
            Self::NoCodeowners { .. } => "Propose zones from the code map, or commit .github/CODEOWNERS, CODEOWNERS or docs/CODEOWNERS.".to_owned(),
            Self::TooMany { .. } => "Remove a zone, or add the paths to an existing one.".to_owned(),
        }
    }
}
