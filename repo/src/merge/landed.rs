//! Merges the base branch into the project branch after the host of a pull request squashed the landed work to one commit.
//!
//! The base branch then has this work, but not its commits, so a plain merge finds the same changes on both sides: they conflict as soon as the
//! project branch goes on in the same lines. Must not know which work has landed.

use domain::runs::evidence::Sha;
use git2::{Index, MergeOptions, Oid};

use super::{MergeOutcome, conflicts, merge_in_memory};
use crate::branch::contains;
use crate::error::{Attempt, RepoError};
use crate::evidence::merge_base;
use crate::handle::{Repository, find_commit, oid, sha};
use crate::identity::Identity;

/// The most commits of the base branch that are compared with the landed work.
const MAX_COMMITS: usize = 200;

impl Repository {
    /// Creates the commit that merges `base`, a tip of the base branch, into `project`, as [`Repository::merge_commit`] does. If `base` gained the
    /// work of `landed` as one commit, both have this work in common.
    ///
    /// # Errors
    /// As [`Repository::merge_commit`].
    pub fn merge_base_commit(
        &self,
        project: &Sha,
        base: &Sha,
        landed: Option<&Sha>,
        message: &str,
        identity: &Identity,
    ) -> Result<MergeOutcome, RepoError> {
        let plain = || self.merge_commit(project, base, message, identity);
        let Some(landed) = landed.map(|landed| oid(landed)).transpose()? else { return plain() };
        let (ours, theirs) = (oid(project)?, oid(base)?);
        let handle = self.handle_with_tree(ours)?;
        // Commits that the repository has lost have no files to compare.
        if handle.find_commit(landed).is_err() || !contains(&handle, ours, landed) || contains(&handle, theirs, landed) {
            return plain();
        }
        let Some(fork) = merge_base(&handle, ours, theirs)?.filter(|fork| *fork != theirs) else { return plain() };
        let merging = || format!("merge {theirs} into {ours}");
        // Both sides have what they have in common, and the landed work.
        let mut common = merge_in_memory(&handle, fork, landed)?;
        if common.has_conflicts() || !has_squashed(&handle, theirs, fork, landed)? {
            return plain();
        }
        let common = common.write_tree_to(&handle).attempting(merging)?;
        let mut merged = merge_files(&handle, common, ours, theirs)?;
        if merged.has_conflicts() {
            return Ok(MergeOutcome::Conflict { paths: conflicts(&merged).attempting(merging)? });
        }
        let tree = merged.write_tree_to(&handle).attempting(merging)?;
        let parents = [&find_commit(&handle, ours)?, &find_commit(&handle, theirs)?];
        Ok(MergeOutcome::Merged { sha: sha(self.commit(&handle, tree, &parents, message, identity)?), already: false })
    }
}

/// Whether a commit on the way from `base` along first parents to `fork` has exactly the files that merging `landed` there gives.
fn has_squashed(handle: &git2::Repository, base: Oid, fork: Oid, landed: Oid) -> Result<bool, RepoError> {
    let mut next = Some(base);
    for _ in 0..MAX_COMMITS {
        let Some(id) = next.filter(|id| *id != fork) else { break };
        let commit = find_commit(handle, id)?;
        next = commit.parent_ids().next();
        let Some(parent) = next.filter(|_| commit.parent_count() == 1) else { continue };
        let mut merged = merge_in_memory(handle, parent, landed)?;
        let changes_something = commit.tree_id() != find_commit(handle, parent)?.tree_id();
        if changes_something && !merged.has_conflicts() {
            let tree = merged.write_tree_to(handle).attempting(|| format!("merge {landed} into {parent}"))?;
            if tree == commit.tree_id() {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

fn merge_files(handle: &git2::Repository, ancestor: Oid, ours: Oid, theirs: Oid) -> Result<Index, RepoError> {
    let merging = || format!("merge {theirs} into {ours}");
    let tree = |id: Oid| find_commit(handle, id)?.tree().attempting(merging);
    let ancestor = handle.find_tree(ancestor).attempting(merging)?;
    handle.merge_trees(&ancestor, &tree(ours)?, &tree(theirs)?, Some(MergeOptions::new().find_renames(true))).attempting(merging)
}

#[cfg(test)]
mod tests;
