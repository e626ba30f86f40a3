//! Keeps the files of a checkout at moments of an agent's work, and writes them to a new checkout.
//!
//! Must not know what they are used for. A checkpoint is a commit on top of the checkout's HEAD below `refs/vibe-relay/checkpoints/`, named
//! by its id, so that two boards on one repository never overwrite each other's.

use std::path::Path;

use domain::runs::evidence::Sha;
use git2::build::CheckoutBuilder;
use git2::{IndexEntry, Oid, Signature};

use crate::branch::{delete_reference, reference_target, set_reference};
use crate::error::{Attempt, RepoError};
use crate::filter::Filters;
use crate::handle::{Repository, find_commit, oid, sha, tree_index};
use crate::stat_cache::StatCache;

const CHECKPOINT_PREFIX: &str = "refs/vibe-relay/checkpoints/";

/// Maximum size of the files that differ from the checkout's HEAD.
const MAX_BYTES: u64 = 256 * 1024 * 1024;

/// A checkpoint that was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenCheckpoint {
    pub sha: Sha,
    /// The number of files that differ from the checkpoint before.
    pub files: u32,
}

impl Repository {
    /// Keeps the files of the checkout `name` at `worktree` below `folder`. `None` if they are the files of the commit `earlier`.
    ///
    /// # Errors
    /// The checkout cannot be read, or [`RepoError::RescueTooLarge`].
    pub fn take_checkpoint(&self, folder: &str, name: &str, worktree: &Path, earlier: &Sha) -> Result<Option<TakenCheckpoint>, RepoError> {
        let Some(head) = self.worktree_head(name)? else { return Ok(None) };
        let head = oid(&head)?;
        let handle = self.handle_on(worktree, head)?;
        let parent = find_commit(&handle, head)?;
        let tree = self
            .snapshot(&handle, worktree, head, &StatCache::of_checkout(worktree), MAX_BYTES)?
            .map_or_else(|| parent.tree_id(), |snapshot| snapshot.tree);
        let reading = || format!("compare {} with its last checkpoint", worktree.display());
        // An agent that is not in a sandbox may have removed the earlier one.
        let earlier = oid(earlier).and_then(|id| find_commit(&handle, id));
        let before = earlier.as_ref().unwrap_or(&parent).tree().attempting(reading)?;
        if before.id() == tree {
            return Ok(None);
        }
        let tree = handle.find_tree(tree).attempting(reading)?;
        let diff = handle.diff_tree_to_tree(Some(&before), Some(&tree), None).attempting(reading)?;
        let identity = self.identity("checkpoint")?;
        let signature: Signature<'_> = identity.signature()?;
        let message = "Files at a moment of an agent's work\n";
        let commit =
            handle.commit(None, &signature, &signature, message, &tree, &[&parent]).attempting(|| format!("commit {}", worktree.display()))?;
        let taken = TakenCheckpoint { sha: sha(commit), files: u32::try_from(diff.deltas().len()).unwrap_or(u32::MAX) };
        let reference = reference(folder, &taken.sha);
        if reference_target(&handle, &reference)?.is_none() {
            set_reference(&handle, &reference, None, commit, "vibe-relay: checkpoint")?;
        }
        Ok(Some(taken))
    }

    /// Deletes checkpoints below `folder`. Those that are gone already are no error.
    ///
    /// # Errors
    /// The repository cannot be written.
    pub fn drop_checkpoints(&self, folder: &str, checkpoints: &[Sha]) -> Result<(), RepoError> {
        for checkpoint in checkpoints {
            delete_reference(self.git_dir(), &reference(folder, checkpoint), oid(checkpoint)?)?;
        }
        Ok(())
    }

    /// Returns the commit that was checked out when `checkpoint` was taken.
    ///
    /// # Errors
    /// [`RepoError::CommitMissing`] if the checkpoint is gone.
    pub fn checkpoint_head(&self, checkpoint: &Sha) -> Result<Sha, RepoError> {
        let handle = self.handle()?;
        let commit = find_commit(&handle, oid(checkpoint)?)?;
        commit.parent_id(0).map(sha).attempting(|| format!("find the commit that the checkpoint {checkpoint} is based on"))
    }

    /// Writes the files of `checkpoint` to the checkout `name` at `worktree`, in which no agent is at work. Its HEAD and its
    /// index stay, so the files that differ from HEAD are changes that are not committed.
    ///
    /// # Errors
    /// [`RepoError::CommitMissing`] if the checkpoint is gone, or the checkout cannot be written.
    pub fn restore_checkpoint(&self, name: &str, worktree: &Path, checkpoint: &Sha) -> Result<(), RepoError> {
        let handle = self.checkout_handle(&self.admin_dir(name)?, worktree)?;
        let tree: Oid = find_commit(&handle, oid(checkpoint)?)?.tree_id();
        let restoring = || format!("restore the checkpoint {checkpoint} in {}", worktree.display());
        let tree = handle.find_tree(tree).attempting(restoring)?;
        handle.checkout_tree(tree.as_object(), Some(CheckoutBuilder::new().force().update_index(false))).attempting(restoring)?;
        // All of them: without its filter, each such file looked changed and was written.
        let attributes = self.handle_with_tree(oid(checkpoint)?)?;
        let files: Vec<IndexEntry> = tree_index(&attributes, oid(checkpoint)?)?.iter().collect();
        let filters = Filters::new(self, &attributes);
        filters.smudge(worktree, &filters.pick(&files, |_| true)?).map(drop)
    }
}

fn reference(folder: &str, checkpoint: &Sha) -> String {
    format!("{CHECKPOINT_PREFIX}{folder}/{checkpoint}")
}

#[cfg(test)]
mod tests;
