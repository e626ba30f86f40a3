//! Preserves an agent's work in a commit below `refs/vibe-relay/rescue/` before it is deleted.
//!
//! Must not change the checkout's files, index or branch.

mod kept;

pub use kept::KeptCommit;

use std::path::Path;

use domain::runs::evidence::Sha;
use git2::Oid;

use crate::branch::{contains, reference_target, set_reference};
use crate::durable::sync_reference;
use crate::error::{Attempt, RepoError};
use crate::handle::{Repository, find_commit, oid, sha};
use crate::snapshot::Snapshot;
use crate::stat_cache::StatCache;

/// Prefix of all rescue refs. git keeps the commits they reach, and branch lists do not show them.
pub const RESCUE_PREFIX: &str = "refs/vibe-relay/rescue/";

/// Maximum size of all preserved files together. More is left where it is, because the human decides what of it matters.
const MAX_TOTAL_BYTES: u64 = 1024 * 1024 * 1024;

/// The line in the log of a rescue ref.
pub(crate) const RESCUED: &str = "vibe-relay: rescued";

/// Result of a rescue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rescue {
    /// The commit that the rescue ref points to.
    pub sha: Sha,
    /// Paths that were not preserved: too large, unreadable, or neither file nor link.
    pub skipped: Vec<String>,
}

impl Repository {
    /// Commits everything in `worktree` that is neither in `head` nor ignored on top of `head`, and points `reference` to
    /// the commit. An earlier rescue of that name becomes the second parent. `None` if the worktree is clean.
    ///
    /// # Errors
    /// `reference` is not below [`RESCUE_PREFIX`], the checkout cannot be read, or [`RepoError::RescueTooLarge`]: then nothing is preserved.
    pub fn rescue(&self, reference: &str, worktree: &Path, head: &Sha) -> Result<Option<Rescue>, RepoError> {
        self.rescue_files(reference, worktree, head, &StatCache::of_checkout(worktree))
    }

    /// Rescues like [`Repository::rescue`], and does not read the files that `known` knows as unchanged.
    pub(crate) fn rescue_files(&self, reference: &str, worktree: &Path, head: &Sha, known: &StatCache) -> Result<Option<Rescue>, RepoError> {
        require_rescue_prefix(reference)?;
        let head = oid(head)?;
        let handle = self.handle_on(worktree, head)?;
        let Some(Snapshot { tree, skipped }) = self.snapshot(&handle, worktree, head, known, MAX_TOTAL_BYTES)? else { return Ok(None) };
        let parent = find_commit(&handle, head)?;
        let earlier = reference_target(&handle, reference)?;
        let kept = match earlier {
            Some(earlier) if find_commit(&handle, earlier)?.tree_id() == tree && contains(&handle, earlier, head) => earlier,
            _ => {
                let earlier_commit = earlier.map(|id| find_commit(&handle, id)).transpose()?;
                let parents: Vec<_> = std::iter::once(&parent).chain(earlier_commit.as_ref()).collect();
                let signature = self.identity("rescue")?.signature()?;
                let mut message = "Work that was not committed\n".to_owned();
                for path in &skipped {
                    message.push_str(&format!("\nNot kept: {path}"));
                }
                let new_tree = handle.find_tree(tree).attempting(|| format!("read the files of {}", worktree.display()))?;
                handle
                    .commit(None, &signature, &signature, &message, &new_tree, &parents)
                    .attempting(|| format!("commit what is in {}", worktree.display()))?
            }
        };
        self.keep_commit(&handle, reference, earlier, kept, RESCUED)?;
        Ok(Some(Rescue { sha: sha(kept), skipped }))
    }

    /// Points `reference` to `commit`, the tip of a branch that will be deleted.
    ///
    /// # Errors
    /// [`RepoError::RescueTaken`] if it already keeps work that `commit` does not contain.
    pub fn rescue_tip(&self, reference: &str, commit: &Sha) -> Result<(), RepoError> {
        require_rescue_prefix(reference)?;
        let handle = self.handle()?;
        let commit = find_commit(&handle, oid(commit)?)?.id();
        let earlier = reference_target(&handle, reference)?;
        match earlier {
            Some(earlier) if contains(&handle, earlier, commit) => self.keep_commit(&handle, reference, Some(earlier), earlier, RESCUED),
            Some(earlier) if !contains(&handle, commit, earlier) => Err(RepoError::RescueTaken { reference: reference.to_owned() }),
            _ => self.keep_commit(&handle, reference, earlier, commit, RESCUED),
        }
    }

    /// Syncs the objects, then points `reference` from `earlier` to `kept`. Syncs the reference even if it points there
    /// already, because an earlier attempt may have been killed before its sync.
    pub(crate) fn keep_commit(
        &self,
        handle: &git2::Repository,
        reference: &str,
        earlier: Option<Oid>,
        kept: Oid,
        message: &str,
    ) -> Result<(), RepoError> {
        self.sync_objects()?;
        if earlier == Some(kept) {
            return sync_reference(self.git_dir(), reference);
        }
        set_reference(handle, reference, earlier, kept, message)
    }
}

pub(crate) fn require_rescue_prefix(reference: &str) -> Result<(), RepoError> {
    if reference.starts_with(RESCUE_PREFIX) {
        return Ok(());
    }
    Err(RepoError::ReferenceOutsidePrefix { name: reference.to_owned(), prefix: RESCUE_PREFIX })
}

#[cfg(test)]
mod tests;
