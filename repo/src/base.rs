//! Reads base branches: their tips, and the branch that may replace the base branch of a project. Must not change anything.

use domain::runs::evidence::{BaseEvidence, Sha};

use crate::branch::{contains, tip};
use crate::error::RepoError;
use crate::handle::{Repository, oid, sha};
use crate::probe::{branches, similar_names};

impl Repository {
    /// Returns the tip of the base branch `branch`.
    ///
    /// # Errors
    /// [`RepoError::BranchMissing`] with similar names if it does not exist.
    pub fn base_tip(&self, branch: &str) -> Result<Sha, RepoError> {
        let handle = self.handle()?;
        match tip(&handle, branch)? {
            Some(tip) => Ok(sha(tip)),
            None => Err(RepoError::BranchMissing { branch: branch.to_owned(), near: similar_names(branch, &branches(&handle, None)?) }),
        }
    }

    /// Reads `branch`, which shall replace a base branch. `known` is the newest recorded tip of that one, and `landed` is what was last landed
    /// on it.
    ///
    /// # Errors
    /// The branch does not exist, or its files use filters that cannot run.
    pub fn base_evidence(&self, branch: &str, known: &Sha, landed: Option<&Sha>) -> Result<BaseEvidence, RepoError> {
        let tip = self.base_tip(branch)?;
        self.conversions(oid(&tip)?)?;
        let base_head = self.moved_on(branch, known)?.unwrap_or_else(|| known.clone());
        let holds_landed = match landed {
            Some(landed) => contains(&self.handle()?, oid(&tip)?, oid(landed)?),
            None => false,
        };
        Ok(BaseEvidence { branch: branch.to_owned(), tip, base_head, holds_landed })
    }
}

#[cfg(test)]
mod tests;
