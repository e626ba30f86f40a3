//! Merges work as one commit, and recognizes such a commit later: its message names the squashed commit.
//!
//! The squashed commit is not an ancestor of the project branch. Must not decide which commit may be squashed.

use domain::runs::evidence::Sha;
use git2::{Commit, Oid};

use super::MergeOutcome;
use crate::branch::{contains, reference_target};
use crate::error::{Attempt, RepoError};
use crate::handle::{Repository, find_commit, oid, sha};
use crate::identity::Identity;

/// Prefix of the references that keep squashed commits, so that their changes can still be read.
pub const SQUASHED_PREFIX: &str = "refs/vibe-relay/squashed/";

/// The trailer that names the squashed commit.
const TRAILER: &str = "Squashed-commit: ";

impl Repository {
    /// Creates the commit that brings the changes of `head` to `base` with `base` as its only parent, without moving a branch. `message` ends
    /// with its trailers. There is no commit if the files stay as they are.
    ///
    /// # Errors
    /// [`RepoError::CommitMissing`], or objects cannot be read or written.
    pub fn squash_commit(&self, base: &Sha, head: &Sha, message: &str, identity: &Identity) -> Result<MergeOutcome, RepoError> {
        let message = format!("{}\n{TRAILER}{head}\n", message.trim_end());
        let (base, head) = (oid(base)?, oid(head)?);
        let already = Ok(MergeOutcome::Merged { sha: sha(base), already: true });
        let handle = self.handle_with_tree(base)?;
        if contains(&handle, base, head) {
            return already;
        }
        let tree = match super::merged_tree(&handle, base, head)? {
            Ok(tree) => tree,
            Err(paths) => return Ok(MergeOutcome::Conflict { paths }),
        };
        let parent = find_commit(&handle, base)?;
        if parent.tree_id() == tree {
            return already;
        }
        let commit = self.commit(&handle, tree, &[&parent], &message, identity)?;
        Ok(MergeOutcome::Merged { sha: sha(commit), already: false })
    }

    /// Returns the commit whose changes `commit` brought as one, if its message names one.
    ///
    /// # Errors
    /// The commit is missing.
    pub fn squashed_head(&self, commit: &Sha) -> Result<Option<Sha>, RepoError> {
        Ok(squashed_head(&find_commit(&self.handle()?, oid(commit)?)?).map(sha))
    }

    /// Whether a commit of `branch` brought exactly the changes of `head` as one. Only the runner puts commits there.
    ///
    /// # Errors
    /// Objects cannot be read.
    pub fn is_squashed_into(&self, branch: &Sha, head: &Sha) -> Result<bool, RepoError> {
        let (handle, head) = (self.handle()?, oid(head)?);
        Ok(find_squash(&handle, oid(branch)?, head)?.is_some())
    }

    /// Lets `reference` keep `head` besides what it keeps already.
    ///
    /// # Errors
    /// `reference` is not below [`SQUASHED_PREFIX`], or objects cannot be written.
    pub fn keep_squashed(&self, reference: &str, head: &Sha) -> Result<(), RepoError> {
        if !reference.starts_with(SQUASHED_PREFIX) {
            return Err(RepoError::ReferenceOutsidePrefix { name: reference.to_owned(), prefix: SQUASHED_PREFIX });
        }
        let handle = self.handle()?;
        let head = find_commit(&handle, oid(head)?)?;
        let earlier = reference_target(&handle, reference)?;
        let kept = match earlier {
            None => head.id(),
            Some(earlier) if contains(&handle, earlier, head.id()) => earlier,
            // One reference for a project, whatever it has squashed: its commits have all of them as ancestors.
            Some(earlier) => {
                let keeping = || format!("keep {}", head.id());
                let (earlier, tree) = (find_commit(&handle, earlier)?, head.tree().attempting(keeping)?);
                self.commit(&handle, tree.id(), &[&earlier, &head], "Keep squashed commits\n", &self.identity("runner")?.unsigned())?
            }
        };
        self.keep_commit(&handle, reference, earlier, kept, "vibe-relay: squashed")
    }
}

/// Returns the commit that the last paragraph of a message names.
fn squashed_head(commit: &Commit<'_>) -> Option<Oid> {
    if commit.parent_count() != 1 {
        return None;
    }
    let message = String::from_utf8_lossy(commit.message_bytes());
    let last = message.trim_end().rsplit("\n\n").next()?;
    last.lines().rev().find_map(|line| Oid::from_str(line.strip_prefix(TRAILER)?).ok())
}

/// Returns the commit that was merged by this one, as its second parent or as one.
pub(crate) fn merged_head(commit: &Commit<'_>) -> Option<Oid> {
    commit.parent_ids().nth(1).or_else(|| squashed_head(commit))
}

/// Finds the commit on the way from `branch` to its first parents that brought `head` as one.
fn find_squash(handle: &git2::Repository, branch: Oid, head: Oid) -> Result<Option<Oid>, RepoError> {
    let mut next = Some(branch);
    while let Some(id) = next {
        let commit = find_commit(handle, id)?;
        if squashed_head(&commit) == Some(head) {
            return Ok(Some(id));
        }
        next = commit.parent_ids().next();
    }
    Ok(None)
}

#[cfg(test)]
mod tests;
