//! Merges the base branch into the project branch after the host of a pull request squashed the landed work to one commit, or rebased it.
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

/// The most commits of the base branch that are compared with the landed work. Work with more commits is recognized only if it was squashed.
const MAX_COMMITS: usize = 200;

impl Repository {
    /// Creates the commit that merges `base`, a tip of the base branch, into `project`, as [`Repository::merge_commit`] does. If `base` gained the
    /// work of `landed` as other commits, both have this work in common.
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
        if common.has_conflicts() || !has_work(&handle, theirs, fork, landed)? {
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

    /// Whether `base`, a tip of the base branch, has the work of `head`: as an ancestor, or as the commits that a host made of it.
    ///
    /// # Errors
    /// A commit is missing, or objects cannot be read or written.
    pub fn has_landed(&self, base: &Sha, head: &Sha) -> Result<bool, RepoError> {
        let (base, head) = (oid(base)?, oid(head)?);
        let handle = self.handle_with_tree(base)?;
        if contains(&handle, base, head) {
            return Ok(true);
        }
        match merge_base(&handle, base, head)? {
            Some(fork) => has_work(&handle, base, fork, head),
            None => Ok(false),
        }
    }
}

/// Whether `base` gained the work of `landed` since `fork`: as one commit, or as many as `landed` has. The last of these has exactly the files
/// that merging `landed` into the commit before the first gives.
fn has_work(handle: &git2::Repository, base: Oid, fork: Oid, landed: Oid) -> Result<bool, RepoError> {
    let way = first_parents(handle, base, fork)?;
    let rebased = count_commits(handle, landed, base)?;
    let lengths = [Some(1), rebased.filter(|count| *count > 1)];
    for gained in lengths.into_iter().flatten().flat_map(|length| way.windows(length + 1)) {
        let [gained @ .., start] = gained else { continue };
        let Some(end) = gained.first().filter(|_| gained.iter().all(|commit| !commit.is_merge)) else { continue };
        if end.tree == start.tree {
            continue;
        }
        let mut merged = merge_in_memory(handle, start.id, landed)?;
        if !merged.has_conflicts() && merged.write_tree_to(handle).attempting(|| format!("merge {landed} into {}", start.id))? == end.tree {
            return Ok(true);
        }
    }
    Ok(false)
}

/// A commit of the base branch.
struct Gained {
    id: Oid,
    tree: Oid,
    is_merge: bool,
}

/// Lists the commits from `base` along first parents to `fork`, which is the last, the newest first.
fn first_parents(handle: &git2::Repository, base: Oid, fork: Oid) -> Result<Vec<Gained>, RepoError> {
    let (mut way, mut next) = (Vec::new(), Some(base));
    while let Some(id) = next.filter(|_| way.len() <= MAX_COMMITS) {
        let commit = find_commit(handle, id)?;
        way.push(Gained { id, tree: commit.tree_id(), is_merge: commit.parent_count() != 1 });
        next = commit.parent_ids().next().filter(|_| id != fork);
    }
    Ok(way)
}

/// Counts the commits of `landed` that `base` lacks. Merges do not count, because a rebase leaves them out. `None` if there are too many.
fn count_commits(handle: &git2::Repository, landed: Oid, base: Oid) -> Result<Option<usize>, RepoError> {
    let counting = || format!("list the commits of {landed}");
    let mut walk = handle.revwalk().attempting(counting)?;
    walk.push(landed).and_then(|()| walk.hide(base)).attempting(counting)?;
    let mut count = 0;
    for id in walk {
        count += usize::from(find_commit(handle, id.attempting(counting)?)?.parent_count() == 1);
        if count > MAX_COMMITS {
            return Ok(None);
        }
    }
    Ok(Some(count))
}

fn merge_files(handle: &git2::Repository, ancestor: Oid, ours: Oid, theirs: Oid) -> Result<Index, RepoError> {
    let merging = || format!("merge {theirs} into {ours}");
    let tree = |id: Oid| find_commit(handle, id)?.tree().attempting(merging);
    let ancestor = handle.find_tree(ancestor).attempting(merging)?;
    handle.merge_trees(&ancestor, &tree(ours)?, &tree(theirs)?, Some(MergeOptions::new().find_renames(true))).attempting(merging)
}

#[cfg(test)]
mod tests;
