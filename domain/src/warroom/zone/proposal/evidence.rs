//! The facts of a repository from which zones are proposed, and the choice of how. Must not read a repository.

use super::{ZoneProposals, code_map, codeowners};
use crate::refusal::Refusal;
use crate::warroom::code_map::{CodeMapRefusal, CodeMapSummary};
use crate::warroom::commit_files::CommitFiles;
use crate::warroom::zone::Zone;
use crate::warroom::zone::refusal::ZoneRefusal;

/// The file or map of a repository from which zones are proposed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProposalEvidence {
    /// The file and its text, with the files of the same commit.
    Codeowners {
        found: Option<(String, String)>,
        files: CommitFiles,
    },
    CodeMap(Option<CodeMapSummary>),
}

impl ZoneProposals {
    /// # Errors
    /// When there is no such file or map.
    pub fn of(evidence: &ProposalEvidence, zones: &[Zone], participants: &[String]) -> Result<Self, Refusal> {
        match evidence {
            ProposalEvidence::Codeowners { found: Some((file, text)), files } => Ok(codeowners::propose(file, text, files, zones, participants)),
            ProposalEvidence::Codeowners { found: None, files } => Err(ZoneRefusal::NoCodeowners { branch: files.branch.clone() }.into()),
            ProposalEvidence::CodeMap(Some(summary)) => Ok(code_map::propose(summary, zones)),
            ProposalEvidence::CodeMap(None) => Err(CodeMapRefusal::Missing.into()),
        }
    }
}
