//! Looking up what a use-case asked for, before it judges a move.

use std::path::Path;

use domain::evidence::{Found, Look};

use crate::error::RepoError;
use crate::handle::Repository;

/// Answers `look`. A branch that is gone is nothing found; the use-case says what that means.
///
/// # Errors
/// When the repository cannot be read.
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
