//! Reads the history of a branch: its commits, their changed paths and earlier versions of files.
//!
//! Must read commits only, never a checkout or an index.

use std::path::{Component, Path};

use domain::runs::evidence::Sha;
use git2::{DiffOptions, ErrorCode, Sort};

use crate::branch::tip;
use crate::error::{Attempt, RepoError};
use crate::evidence::merge_base;
use crate::handle::{Repository, find_commit, oid, sha};
use crate::merge::merged_head;

/// One commit in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    pub sha: Sha,
    /// The first line of the message.
    pub subject: String,
    /// The author's name.
    pub author: String,
    /// Commit time in seconds since 1970, UTC.
    pub at_seconds: i64,
}

impl Repository {
    /// Lists at most `max` commits of `head` that `base` does not contain, newest first.
    ///
    /// # Errors
    /// A commit is missing.
    pub fn log(&self, base: &Sha, head: &Sha, max: usize) -> Result<Vec<Commit>, RepoError> {
        let handle = self.handle()?;
        let listing = || format!("list the commits from {base} to {head}");
        let mut walk = handle.revwalk().attempting(listing)?;
        walk.set_sorting(Sort::TOPOLOGICAL | Sort::TIME).attempting(listing)?;
        walk.push(find_commit(&handle, oid(head)?)?.id()).attempting(listing)?;
        walk.hide(find_commit(&handle, oid(base)?)?.id()).attempting(listing)?;
        let mut commits = Vec::new();
        for id in walk.take(max) {
            commits.push(describe(&find_commit(&handle, id.attempting(listing)?)?));
        }
        Ok(commits)
    }

    /// Lists the paths that `head` changed since its merge base with `base`, in order. A renamed file has both names.
    ///
    /// # Errors
    /// A commit is missing.
    pub fn changed_paths(&self, base: &Sha, head: &Sha) -> Result<Vec<String>, RepoError> {
        let handle = self.handle()?;
        let comparing = || format!("compare {base} with {head}");
        let (base_id, head_id) = (find_commit(&handle, oid(base)?)?.id(), find_commit(&handle, oid(head)?)?.id());
        let start = merge_base(&handle, base_id, head_id)?.unwrap_or(base_id);
        let old = find_commit(&handle, start)?.tree().attempting(comparing)?;
        let new = find_commit(&handle, head_id)?.tree().attempting(comparing)?;
        let mut options = DiffOptions::new();
        let diff = handle.diff_tree_to_tree(Some(&old), Some(&new), Some(options.include_typechange(true))).attempting(comparing)?;
        let paths = diff.deltas().filter_map(|delta| delta.new_file().path().or_else(|| delta.old_file().path()));
        Ok(paths.map(|path| path.to_string_lossy().into_owned()).collect())
    }

    /// Returns the unfiltered bytes of the file at `path` in `commit`, or `None` if the file does not exist.
    ///
    /// # Errors
    /// The commit is missing.
    pub fn file_at(&self, commit: &Sha, path: &str) -> Result<Option<Vec<u8>>, RepoError> {
        // Git has no file outside of the repository.
        if !Path::new(path).components().all(|part| matches!(part, Component::Normal(_))) {
            return Ok(None);
        }
        let handle = self.handle()?;
        let reading = || format!("read {path} of {commit}");
        let tree = find_commit(&handle, oid(commit)?)?.tree().attempting(reading)?;
        let entry = match tree.get_path(Path::new(path)) {
            Ok(entry) => entry,
            Err(reason) if reason.code() == ErrorCode::NotFound => return Ok(None),
            Err(reason) => return Err(RepoError::Git { attempted: reading(), reason }),
        };
        if entry.kind() != Some(git2::ObjectType::Blob) {
            return Ok(None);
        }
        let blob = handle.find_blob(entry.id()).attempting(reading)?;
        Ok(Some(blob.content().to_vec()))
    }

    /// Returns the tip of `branch` before `head` was merged into it, or `None` if `head` was never merged.
    ///
    /// # Errors
    /// Objects cannot be read.
    pub fn before_merge(&self, branch: &str, head: &Sha) -> Result<Option<Sha>, RepoError> {
        let handle = self.handle()?;
        let head = oid(head)?;
        let mut next = tip(&handle, branch)?;
        while let Some(id) = next {
            let commit = find_commit(&handle, id)?;
            let first = commit.parent_ids().next();
            if merged_head(&commit) == Some(head) {
                return Ok(first.map(sha));
            }
            next = first;
        }
        Ok(None)
    }

    /// Returns the parents of `commit` in order.
    ///
    /// # Errors
    /// The commit is missing.
    pub fn parents_of(&self, commit: &Sha) -> Result<Vec<Sha>, RepoError> {
        let handle = self.handle()?;
        Ok(find_commit(&handle, oid(commit)?)?.parent_ids().map(sha).collect())
    }

    /// Returns the tree id of `commit`. Commits with the same tree have the same files, so a check that passed for one
    /// also holds for the other.
    ///
    /// # Errors
    /// The commit is missing.
    pub fn tree_of(&self, commit: &Sha) -> Result<Sha, RepoError> {
        let handle = self.handle()?;
        Ok(sha(find_commit(&handle, oid(commit)?)?.tree_id()))
    }
}

pub(crate) fn describe(commit: &git2::Commit<'_>) -> Commit {
    let message = String::from_utf8_lossy(commit.message_bytes());
    Commit {
        sha: sha(commit.id()),
        subject: message.trim_start().lines().next().unwrap_or_default().to_owned(),
        author: String::from_utf8_lossy(commit.author().name_bytes()).into_owned(),
        at_seconds: commit.time().seconds(),
    }
}

#[cfg(test)]
mod tests;
