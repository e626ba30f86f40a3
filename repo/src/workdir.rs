//! Compares the files of a checkout with a commit, without trusting the checkout's index.
//!
//! Must not interpret the changed paths. The callers decide whether they block a review or a landing.

mod extra;
mod verify;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use git2::{Delta, DiffOptions, Oid};
use tokio_util::sync::CancellationToken;

use crate::error::{Attempt, RepoError};
use crate::handle::{Repository, tree_index};
use crate::stat_cache::StatCache;
use crate::tracked::tracked_files;

use extra::extra_paths;
use verify::verify;

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
    /// submodules, which are never populated in managed checkouts. Reads the files that `known` does not know as unchanged.
    pub(crate) fn changes(&self, workdir: &Path, commit: Oid, untracked: Untracked, known: &StatCache) -> Result<Vec<Change>, RepoError> {
        self.changes_unless(&CancellationToken::new(), workdir, commit, untracked, known)
    }

    /// Lists like [`Repository::changes`], and fails with [`RepoError::Interrupted`] once `cancelled`.
    pub(crate) fn changes_unless(
        &self,
        cancelled: &CancellationToken,
        workdir: &Path,
        commit: Oid,
        untracked: Untracked,
        known: &StatCache,
    ) -> Result<Vec<Change>, RepoError> {
        if !workdir.is_dir() {
            return Err(RepoError::CheckoutMissing { path: workdir.to_path_buf() });
        }
        let files = tracked_files(&self.handle()?, commit)?;
        let verified = verify(cancelled, workdir, &files, known)?;
        let doubtful =
            files.iter().zip(verified).filter(|(_, is_verified)| !is_verified).map(|(file, _)| PathBuf::from(OsStr::from_bytes(&file.path)));
        let doubtful: Vec<PathBuf> = doubtful.chain(extra_paths(workdir, &files)).collect();
        if doubtful.is_empty() {
            return Ok(Vec::new());
        }
        let (handle, index) = self.handle_on_index(workdir, |handle| tree_index(handle, commit))?;
        let mut options = DiffOptions::new();
        options.include_untracked(true).recurse_untracked_dirs(untracked == Untracked::Files).include_typechange(true).ignore_submodules(true);
        // The comparison looks at nothing else, and reads what it looks at.
        options.disable_pathspec_match(true);
        for path in doubtful {
            options.pathspec(path);
        }
        let diff =
            handle.diff_index_to_workdir(Some(&index), Some(&mut options)).attempting(|| format!("compare {} with {commit}", workdir.display()))?;
        self.differences(&handle, workdir, &index, &diff)
    }
}

/// Converts paths to text for people.
pub(crate) fn display_paths<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Vec<String> {
    paths.into_iter().map(|path| path.to_string_lossy().into_owned()).collect()
}
