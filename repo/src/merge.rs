//! Merges two commits in memory: no checkout, no index on disk, no merge driver.
//!
//! Decides nothing about when to merge. Moving a branch that a person may have checked out is the business of `land`.

use std::collections::BTreeSet;

use domain::runs::evidence::Sha;
use git2::{Index, MergeOptions, Oid};

use crate::branch::contains;
use crate::error::{Attempt, RepoError};
use crate::handle::{Repository, find_commit, oid, sha};
use crate::identity::Identity;

/// How a merge ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MergeOutcome {
    /// The merge commit; or, when `already`, the commit that contained everything before.
    Merged { sha: Sha, already: bool },
    /// Both sides changed these paths. Nothing was written to any branch.
    Conflict { paths: Vec<String> },
}

impl Repository {
    /// Merges `head` into `branch`, which is at `from`: always a commit with two parents when there is something to merge. The
    /// branch moves from nowhere else, as [`Repository::advance`] does it. What is answered as merged is on the disk.
    ///
    /// # Errors
    /// [`RepoError::Moved`] when the branch is elsewhere; [`RepoError::CheckedOut`] when a person has it checked out
    /// and changed; [`RepoError::BranchMissing`], [`RepoError::CommitMissing`].
    pub fn merge(&self, branch: &str, from: &Sha, head: &Sha, message: &str, identity: &Identity) -> Result<MergeOutcome, RepoError> {
        let outcome = self.merge_commit(from, head, message, identity)?;
        match &outcome {
            MergeOutcome::Merged { sha: new, already: false } => {
                let subject = message.lines().next().unwrap_or_default();
                self.advance(branch, from, new, &format!("vibe-relay: {subject}"))?;
            }
            // By somebody who may not have waited for the disk, or by us before a kill.
            MergeOutcome::Merged { already: true, .. } => self.sync_branch(branch)?,
            MergeOutcome::Conflict { .. } => {}
        }
        Ok(outcome)
    }

    /// Makes the commit that merges `head` into `base`, and moves no branch: it can be checked first, then moved to with
    /// [`Repository::advance`] from `base`. `git gc` spares it for two weeks.
    ///
    /// # Errors
    /// [`RepoError::CommitMissing`], or objects cannot be read or written.
    pub fn merge_commit(&self, base: &Sha, head: &Sha, message: &str, identity: &Identity) -> Result<MergeOutcome, RepoError> {
        let (base, head) = (oid(base)?, oid(head)?);
        // The attribute files of the base count (`merge=union`), not those of the merged work.
        let handle = self.handle_with_tree(base)?;
        let ours = find_commit(&handle, base)?;
        let theirs = find_commit(&handle, head)?;
        if contains(&handle, base, head) {
            return Ok(MergeOutcome::Merged { sha: sha(base), already: true });
        }
        let merging = || format!("merge {head} into {base}");
        let mut options = MergeOptions::new();
        let mut merged = handle.merge_commits(&ours, &theirs, Some(options.find_renames(true))).attempting(merging)?;
        if merged.has_conflicts() {
            return Ok(MergeOutcome::Conflict { paths: conflicts(&merged).attempting(merging)? });
        }
        let tree: Oid = merged.write_tree_to(&handle).attempting(merging)?;
        let tree = handle.find_tree(tree).attempting(merging)?;
        let signature = identity.signature()?;
        let commit = handle.commit(None, &signature, &signature, message, &tree, &[&ours, &theirs]).attempting(merging)?;
        Ok(MergeOutcome::Merged { sha: sha(commit), already: false })
    }
}

/// Every path that takes part in a conflict; a rename has several.
fn conflicts(index: &Index) -> Result<Vec<String>, git2::Error> {
    let mut paths = BTreeSet::new();
    for conflict in index.conflicts()? {
        let conflict = conflict?;
        for side in [conflict.ancestor, conflict.our, conflict.their].into_iter().flatten() {
            paths.insert(String::from_utf8_lossy(&side.path).into_owned());
        }
    }
    Ok(paths.into_iter().collect())
}

#[cfg(test)]
mod tests;
