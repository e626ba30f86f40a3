//! Merges two commits in memory, without a checkout, an index on disk or a merge driver.
//!
//! Must not decide when to merge. `land` moves branches that a human may have checked out.

mod conflict;
mod landed;
mod squash;

pub use squash::SQUASHED_PREFIX;
pub(crate) use squash::merged_head;

use std::collections::BTreeSet;

use domain::runs::diff::Conflict;
use domain::runs::evidence::Sha;
use git2::{Index, MergeOptions, Oid};

use crate::branch::contains;
use crate::error::{Attempt, RepoError};
use crate::handle::{Repository, find_commit, oid, sha};
use crate::identity::Identity;

/// Outcome of a merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MergeOutcome {
    /// The merge commit or, if `already`, the commit that contained `head` before.
    Merged { sha: Sha, already: bool },
    /// Both sides changed these paths. No branch was moved.
    Conflict { paths: Vec<String> },
}

impl Repository {
    /// Merges `head` into `branch`, which must be at `from`. Unless `branch` already contains `head`, this creates a commit
    /// with two parents. Moves the branch with [`Repository::advance`], and syncs the result to disk before it returns.
    ///
    /// # Errors
    /// [`RepoError::Moved`] if the branch is at another commit; [`RepoError::CheckedOut`] if a human checkout of it has
    /// changes in the same files; [`RepoError::BranchMissing`], [`RepoError::CommitMissing`].
    pub fn merge(&self, branch: &str, from: &Sha, head: &Sha, message: &str, identity: &Identity) -> Result<MergeOutcome, RepoError> {
        let outcome = self.merge_commit(from, head, message, identity)?;
        self.advance_to(branch, from, &outcome, message)?;
        Ok(outcome)
    }

    /// As [`Repository::merge`], with one commit that has the changes of `head`, as [`Repository::squash_commit`] creates it.
    ///
    /// # Errors
    /// As [`Repository::merge`].
    pub fn squash(&self, branch: &str, from: &Sha, head: &Sha, message: &str, identity: &Identity) -> Result<MergeOutcome, RepoError> {
        let outcome = self.squash_commit(from, head, message, identity)?;
        self.advance_to(branch, from, &outcome, message)?;
        Ok(outcome)
    }

    fn advance_to(&self, branch: &str, from: &Sha, outcome: &MergeOutcome, message: &str) -> Result<(), RepoError> {
        match outcome {
            MergeOutcome::Merged { sha: new, already: false } => {
                let subject = message.lines().next().unwrap_or_default();
                self.advance(branch, from, new, &format!("vibe-relay: {subject}"))
            }
            // The earlier merge may not have been synced: another program made it, or a kill interrupted ours.
            MergeOutcome::Merged { already: true, .. } => self.sync_branch(branch),
            MergeOutcome::Conflict { .. } => Ok(()),
        }
    }

    /// Creates the commit that merges `head` into `base` without moving a branch. The caller can check it, then move to it
    /// with [`Repository::advance`] from `base`. `git gc` keeps it for two weeks.
    ///
    /// # Errors
    /// [`RepoError::CommitMissing`], or objects cannot be read or written.
    pub fn merge_commit(&self, base: &Sha, head: &Sha, message: &str, identity: &Identity) -> Result<MergeOutcome, RepoError> {
        let (base, head) = (oid(base)?, oid(head)?);
        // Attribute files of the base apply (`merge=union`), not those of the merged work.
        let handle = self.handle_with_tree(base)?;
        let (ours, theirs) = (find_commit(&handle, base)?, find_commit(&handle, head)?);
        if contains(&handle, base, head) {
            return Ok(MergeOutcome::Merged { sha: sha(base), already: true });
        }
        match merged_tree(&handle, base, head)? {
            Ok(tree) => Ok(MergeOutcome::Merged { sha: sha(self.commit(&handle, tree, &[&ours, &theirs], message, identity)?), already: false }),
            Err(paths) => Ok(MergeOutcome::Conflict { paths }),
        }
    }
}

/// Merges in memory, and writes the tree of the result. The error is the list of conflicts.
fn merged_tree(handle: &git2::Repository, base: Oid, head: Oid) -> Result<Result<Oid, Vec<String>>, RepoError> {
    let merging = || format!("merge {head} into {base}");
    let mut merged = merge_in_memory(handle, base, head)?;
    if merged.has_conflicts() {
        return Ok(Err(conflicts(&merged).attempting(merging)?));
    }
    Ok(Ok(merged.write_tree_to(handle).attempting(merging)?))
}

impl Repository {
    /// Creates a commit that no branch has, with a signature if the identity has one.
    pub(crate) fn commit(
        &self,
        handle: &git2::Repository,
        tree: Oid,
        parents: &[&git2::Commit<'_>],
        message: &str,
        identity: &Identity,
    ) -> Result<Oid, RepoError> {
        if identity.signs {
            let parents: Vec<Oid> = parents.iter().map(|parent| parent.id()).collect();
            return self.signed_commit(tree, &parents, message, identity);
        }
        let writing = || "write a commit".to_owned();
        let tree = handle.find_tree(tree).attempting(writing)?;
        let signature = identity.signature()?;
        handle.commit(None, &signature, &signature, message, &tree, parents).attempting(writing)
    }

    /// Shows what a merge of `head` into `base` would leave in conflict. Writes nothing.
    ///
    /// # Errors
    /// A commit is missing, or objects cannot be read.
    pub fn conflicts(&self, base: &Sha, head: &Sha) -> Result<Vec<Conflict>, RepoError> {
        let (base, head) = (oid(base)?, oid(head)?);
        let handle = self.handle_with_tree(base)?;
        let merged = merge_in_memory(&handle, base, head)?;
        if merged.has_conflicts() { conflict::show(&handle, &merged).attempting(|| format!("merge {head} into {base}")) } else { Ok(Vec::new()) }
    }
}

pub(crate) fn merge_in_memory(handle: &git2::Repository, base: Oid, head: Oid) -> Result<Index, RepoError> {
    let (ours, theirs) = (find_commit(handle, base)?, find_commit(handle, head)?);
    let merged = handle.merge_commits(&ours, &theirs, Some(MergeOptions::new().find_renames(true)));
    merged.attempting(|| format!("merge {head} into {base}"))
}

/// Lists every path of the conflicts. A renamed file has several.
pub(crate) fn conflicts(index: &Index) -> Result<Vec<String>, git2::Error> {
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
