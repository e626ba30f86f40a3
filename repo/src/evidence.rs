//! Collects the facts that decide whether a task's work is ready for review.
//!
//! Must not interpret the facts. Anything that an agent can write inside its worktree (the `.git` file, the index and
//! its flags, `core.worktree`) must not change the result.

use std::path::Path;

use domain::runs::evidence::{Evidence, HeadEvidence};
use domain::runs::protected_paths::ProtectedChange;
use git2::{Diff, DiffOptions, Oid};

use crate::branch;
use crate::error::{Attempt, RepoError};
use crate::handle::{Repository, find_commit, sha};
use crate::nested::nested_links;
use crate::patch_id::patch_id;
use crate::stat_cache::StatCache;
use crate::workdir::{Untracked, display_paths};

impl Repository {
    /// Collects the facts about the work on `branch` in the checkout at `worktree`, compared with `project_branch`. `protected` are globs.
    ///
    /// # Errors
    /// A branch or the checkout is missing, or the repository cannot be read.
    pub fn evidence(&self, worktree: &Path, branch: &str, project_branch: &str, protected: &[String]) -> Result<Evidence, RepoError> {
        let handle = self.handle()?;
        let head = branch::existing_tip(&handle, branch)?;
        let base = branch::existing_tip(&handle, project_branch)?;
        let (ahead, _behind) =
            handle.graph_ahead_behind(head, base).attempting(|| format!("count the commits of {branch} beyond {project_branch}"))?;
        let start = merge_base(&handle, base, head)?;
        let diff_empty = match start {
            Some(start) => find_commit(&handle, start)?.tree_id() == find_commit(&handle, head)?.tree_id(),
            None => false,
        };
        let changes = changes(&handle, start, head)?;
        let dirty = self.changes(worktree, head, Untracked::Folders, &StatCache::of_checkout(worktree))?;
        Ok(Evidence {
            head: sha(head),
            base: sha(base),
            ahead: u32::try_from(ahead).unwrap_or(u32::MAX),
            dirty_paths: display_paths(dirty.iter().take(Evidence::PATHS_SHOWN).map(|change| change.path.as_path())),
            dirty_count: u32::try_from(dirty.len()).unwrap_or(u32::MAX),
            diff_empty,
            patch_id: sha(patch_id(&handle, start, head)?),
            changed_paths: changed_paths(&changes).take(Evidence::MAX_CHANGED_PATHS).collect(),
            nested: nested_links(&handle, head, &changes)?,
            protected: protected_change(&changes, protected),
        })
    }

    /// Collects the facts about the tip of `branch`, compared with `project_branch`; none if `branch` does not exist.
    ///
    /// # Errors
    /// The repository cannot be read.
    pub fn head_evidence(&self, branch: &str, project_branch: &str, protected: &[String]) -> Result<Option<HeadEvidence>, RepoError> {
        let handle = self.handle()?;
        let Some(head) = branch::tip(&handle, branch)? else { return Ok(None) };
        // Without a project branch, all files count as changed.
        let start = match branch::tip(&handle, project_branch)? {
            Some(base) => merge_base(&handle, base, head)?,
            None => None,
        };
        Ok(Some(HeadEvidence { sha: sha(head), protected: protected_change(&changes(&handle, start, head)?, protected) }))
    }
}

/// Compares the tree of `head` with that of `start`, or with nothing. A renamed file counts as removed and added, each with its path.
fn changes(handle: &git2::Repository, start: Option<Oid>, head: Oid) -> Result<Diff<'_>, RepoError> {
    let comparing = || format!("list the changes of {head}");
    let tree = |id: Oid| find_commit(handle, id)?.tree().attempting(comparing);
    let (old, new) = (start.map(tree).transpose()?, tree(head)?);
    let mut options = DiffOptions::new();
    handle.diff_tree_to_tree(old.as_ref(), Some(&new), Some(options.include_typechange(true))).attempting(comparing)
}

fn protected_change(changes: &Diff<'_>, globs: &[String]) -> Option<ProtectedChange> {
    ProtectedChange::find(changed_paths(changes), globs)
}

fn changed_paths(changes: &Diff<'_>) -> impl Iterator<Item = String> {
    let paths = changes.deltas().filter_map(|delta| delta.new_file().path_bytes());
    paths.map(|path| String::from_utf8_lossy(path).into_owned())
}

/// Returns the best common ancestor, or `None` for unrelated histories.
pub(crate) fn merge_base(handle: &git2::Repository, one: Oid, two: Oid) -> Result<Option<Oid>, RepoError> {
    match handle.merge_base(one, two) {
        Ok(base) => Ok(Some(base)),
        Err(reason) if reason.code() == git2::ErrorCode::NotFound => Ok(None),
        Err(reason) => Err(RepoError::Git { attempted: format!("find the merge base of {one} and {two}"), reason }),
    }
}

#[cfg(test)]
mod tests;
