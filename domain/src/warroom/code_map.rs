//! The code map in numbers: how much source code there is, in which languages and folders. Must not parse files.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::refusal::category::refusals;
use crate::runs::evidence::Sha;
use crate::time::Timestamp;

/// The numbers of a code map, and where it is: `GET` and `POST /api/projects/{id}/code-map`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CodeMapView {
    #[serde(flatten)]
    pub summary: CodeMapSummary,
    /// When it was made. The next map of the same files is the same one.
    pub made_at: Timestamp,
    /// The file on this machine. Agents that plan get a copy in `.dead-drop/CODE_MAP.md`.
    pub path: String,
    /// The size of the file.
    pub bytes: u64,
}

/// How much a code map maps.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CodeMapSummary {
    pub commit: Sha,
    /// All files, also those that are not source code.
    pub files: u32,
    /// The languages, that with the most lines first.
    pub languages: Vec<LanguageSum>,
    /// The folders with source code by path, each without those below. That of the root is empty.
    pub folders: Vec<SourceFolder>,
}

/// The source code in one language.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LanguageSum {
    pub name: String,
    pub files: u32,
    pub lines: u64,
}

/// The source code in one folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SourceFolder {
    pub path: String,
    pub files: u32,
    pub lines: u64,
}

refusals! {
    /// Why there is no code map.
    CodeMapRefusal {
        #[error("the code map was not made: {reason}")]
        NotMade { reason: String } => Unprocessable "code-map-not-made",
        #[error("the project has no code map yet")]
        Missing => NotFound "code-map-missing",
    }
}

impl CodeMapRefusal {
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::NotMade { .. } => "The last map is kept. Try again; the log of the server has details.".to_owned(),
            Self::Missing => "A person creates it with POST /api/projects/{id}/code-map. The next planner also creates it.".to_owned(),
        }
    }
}
