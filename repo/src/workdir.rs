//! Compares the files of a checkout with a commit, without trusting the checkout's index.
//!
//! Must not interpret the changed paths. The callers decide whether they block a review or a landing.

use std::path::{Path, PathBuf};

use git2::{Delta, DiffOptions, Oid};

use crate::error::{Attempt, RepoError};
use crate::handle::{Repository, find_commit};

/// One path that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) path: PathBuf,
    pub(crate) status: Delta,
}

/// Listing mode of untracked folders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Untracked {
    /// An untracked folder is one path that ends in `/`.
    Folders,
    /// Every file is listed. Only a nested repository remains one path that ends in `/`.
    Files,
}

impl Repository {
    /// Lists the paths of `workdir` that differ from `commit`, in path order. Skips ignored files and the contents of
    /// submodules, which are never populated in managed checkouts.
    pub(crate) fn changes(&self, workdir: &Path, commit: Oid, untracked: Untracked) -> Result<Vec<Change>, RepoError> {
        let handle = self.handle_on(workdir, commit)?;
        let tree = find_commit(&handle, commit)?.tree().attempting(|| format!("read the files of {commit}"))?;
        let mut options = DiffOptions::new();
        options.include_untracked(true).recurse_untracked_dirs(untracked == Untracked::Files).include_typechange(true).ignore_submodules(true);
        let diff = handle
            .diff_tree_to_workdir_with_index(Some(&tree), Some(&mut options))
            .attempting(|| format!("compare {} with {commit}", workdir.display()))?;
        let changes = diff.deltas().filter_map(|delta| {
            let path = delta.new_file().path().or_else(|| delta.old_file().path())?;
            Some(Change { path: path.to_path_buf(), status: delta.status() })
        });
        Ok(changes.collect())
    }
}

/// Converts paths to text for people.
pub(crate) fn display_paths<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Vec<String> {
    paths.into_iter().map(|path| path.to_string_lossy().into_owned()).collect()
}
