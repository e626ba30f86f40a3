//! Collects the evidence that a use case requests before it checks a move. Must not interpret the evidence.

use std::path::{Path, PathBuf};

use domain::runs::evidence::{EvidenceRequest, EvidenceResult};

use crate::error::RepoError;
use crate::handle::Repository;
use crate::lane::{Effort, in_lane};

/// Collects the requested evidence in the lane of its repository.
///
/// # Errors
/// The repository cannot be read, or does not respond.
pub async fn read_evidence(request: EvidenceRequest) -> Result<EvidenceResult, RepoError> {
    match request.git_dir().map(PathBuf::from) {
        Some(git_dir) => in_lane(&git_dir, Effort::Long, move || collect_evidence(&request)).await?,
        None => Ok(EvidenceResult::Nothing),
    }
}

/// Collects the requested evidence. A missing branch is reported as no result, which the use case interprets.
///
/// # Errors
/// The repository cannot be read.
pub fn collect_evidence(look: &EvidenceRequest) -> Result<EvidenceResult, RepoError> {
    match look {
        EvidenceRequest::Nothing => Ok(EvidenceResult::Nothing),
        EvidenceRequest::Evidence { git_dir, worktree, branch, base, protected } => {
            let repository = Repository::open(Path::new(git_dir))?;
            Ok(EvidenceResult::Evidence(repository.evidence(Path::new(worktree), branch, base, protected)?))
        }
        EvidenceRequest::Head { git_dir, branch, base, protected } => {
            let repository = Repository::open(Path::new(git_dir))?;
            Ok(repository.head_evidence(branch, base, protected)?.map_or(EvidenceResult::Nothing, EvidenceResult::Head))
        }
    }
}
