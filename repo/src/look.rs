//! Looking up what a use-case asked for, before it judges a move.

use std::path::Path;

use domain::runs::evidence::{EvidenceRequest, EvidenceResult};

use crate::error::RepoError;
use crate::handle::Repository;

/// Answers `look`. A branch that is gone is nothing found; the use-case says what that means.
///
/// # Errors
/// When the repository cannot be read.
pub fn collect_evidence(look: &EvidenceRequest) -> Result<EvidenceResult, RepoError> {
    match look {
        EvidenceRequest::Nothing => Ok(EvidenceResult::Nothing),
        EvidenceRequest::Evidence { git_dir, worktree, branch, base } => {
            let repository = Repository::open(Path::new(git_dir))?;
            Ok(EvidenceResult::Evidence(repository.evidence(Path::new(worktree), branch, base)?))
        }
        EvidenceRequest::Head { git_dir, branch } => {
            let repository = Repository::open(Path::new(git_dir))?;
            Ok(repository.ref_sha(branch)?.map_or(EvidenceResult::Nothing, EvidenceResult::Head))
        }
    }
}
