//! Collects the facts that decide whether a task's work is ready for review.
//!
//! Must not interpret the facts. Anything that an agent can write inside its worktree (the `.git` file, the index and
//! its flags, `core.worktree`) must not change the result.

use std::path::Path;

use domain::runs::evidence::Evidence;
use git2::Oid;

use crate::branch;
use crate::error::{Attempt, RepoError};
use crate::handle::{Repository, find_commit, sha};
use crate::nested::nested_links;
use crate::workdir::{Untracked, display_paths};

impl Repository {
    /// Collects the facts about the work on `branch` in the checkout at `worktree`, compared with `project_branch`.
    ///
    /// # Errors
    /// A branch or the checkout is missing, or the repository cannot be read.
    pub fn evidence(&self, worktree: &Path, branch: &str, project_branch: &str) -> Result<Evidence, RepoError> {
        let handle = self.handle()?;
        let head = branch::existing_tip(&handle, branch)?;
        let base = branch::existing_tip(&handle, project_branch)?;
        let (ahead, _behind) =
            handle.graph_ahead_behind(head, base).attempting(|| format!("count the commits of {branch} beyond {project_branch}"))?;
        let diff_empty = match merge_base(&handle, base, head)? {
            Some(start) => find_commit(&handle, start)?.tree_id() == find_commit(&handle, head)?.tree_id(),
            None => false,
        };
        let dirty = self.changes(worktree, head, Untracked::Folders)?;
        Ok(Evidence {
            head: sha(head),
            base: sha(base),
            ahead: u32::try_from(ahead).unwrap_or(u32::MAX),
            dirty_paths: display_paths(dirty.iter().take(Evidence::PATHS_SHOWN).map(|change| change.path.as_path())),
            dirty_count: u32::try_from(dirty.len()).unwrap_or(u32::MAX),
            diff_empty,
            nested: nested_links(&handle, base, head)?,
        })
    }
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
