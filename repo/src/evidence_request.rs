//! Collects the evidence that a use case requests before it checks a move. Must not interpret the evidence.

use std::path::Path;

use domain::evidence::{Found, Look};

use crate::error::RepoError;
use crate::handle::Repository;

/// Collects the requested evidence. A missing branch is reported as no result, which the use case interprets.
///
/// # Errors
/// The repository cannot be read.
pub fn look(look: &Look) -> Result<Found, RepoError> {
    match look {
        Look::Nothing => Ok(Found::Nothing),
        Look::Evidence { git_dir, worktree, branch, base } => {
            let repository = Repository::open(Path::new(git_dir))?;
            Ok(Found::Evidence(repository.evidence(Path::new(worktree), branch, base)?))
        }
        Look::Head { git_dir, branch } => {
            let repository = Repository::open(Path::new(git_dir))?;
            Ok(repository.ref_sha(branch)?.map_or(Found::Nothing, Found::Head))
        }
    }
}
