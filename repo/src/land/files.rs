//! Writes the files of a landing into a human's checkout, or lists the conflicting paths.
//!
//! Must not move a branch or overwrite a file whose content is in no commit.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use git2::build::CheckoutBuilder;
use git2::{CheckoutNotificationType, Delta, ErrorCode, Index, Oid, RepositoryState};

use crate::checkout::is_sparse;
use crate::error::{Attempt, RepoError};
use crate::handle::{Repository, find_commit};
use crate::land::index::LockedIndex;
use crate::stat_cache::StatCache;
use crate::tracked::tracked_files;
use crate::workdir::{Untracked, display_paths, is_unchanged};

/// Differences between a checkout and one commit.
#[derive(Debug, Default)]
pub(super) struct CheckoutDiff {
    pub(super) tracked: BTreeSet<PathBuf>,
    pub(super) untracked: BTreeSet<PathBuf>,
    pub(super) staged: BTreeSet<PathBuf>,
}

/// State of a checkout that is about to move from one commit to another.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum CheckoutState {
    /// No changes. Files are written only where they are unmodified.
    Clean,
    /// Every changed path has its new content, or that of a snapshot that lands: an earlier landing was interrupted, or the person's files
    /// are those that the project began with. No content is lost, so the landing is finished by force.
    Kept,
    /// A human's changes.
    Dirty(BTreeSet<PathBuf>),
}

impl Repository {
    /// Updates the checkout `workdir` (its HEAD and index are in `admin`) from `old` to `new`. Returns the conflicting
    /// paths; if there are any, nothing was changed.
    pub(super) fn write_landed_files(&self, admin: &Path, workdir: &Path, old: Oid, new: Oid) -> Result<Vec<String>, RepoError> {
        let handle = self.checkout_handle(admin, workdir)?;
        if let Some(operation) = operation_name(handle.state()) {
            return Err(RepoError::OperationInProgress { operation, path: workdir.to_path_buf() });
        }
        if is_sparse(&handle) {
            return Err(RepoError::SparseCheckout { path: workdir.to_path_buf() });
        }
        // Hold the lock from the first read to the last write. Otherwise changes that another program stages meanwhile are
        // lost, or a locked index leaves the new files behind as apparent changes.
        let index = LockedIndex::lock(admin, workdir)?;
        let known = StatCache::read(&admin.join("index"));
        let mut conflicts = BTreeSet::new();
        let mut options = CheckoutBuilder::new();
        let landed = self.landed_paths(&handle, workdir, old, new)?;
        match self.checkout_state(&handle, admin, workdir, &known, (old, new), landed.as_deref())? {
            CheckoutState::Clean => options.safe(),
            CheckoutState::Kept => options.force(),
            CheckoutState::Dirty(paths) => return Ok(display_paths(paths.iter().map(PathBuf::as_path))),
        };
        for path in landed.into_iter().flatten() {
            options.path(path).disable_pathspec_match(true);
        }
        // Untracked and ignored files at the paths of new files belong to the human too.
        options.overwrite_ignored(false).notify_on(CheckoutNotificationType::CONFLICT).notify(|_, path, _, _, _| {
            conflicts.extend(path.map(Path::to_path_buf));
            true
        });
        let target = find_commit(&handle, new)?.into_object();
        let mut draft = index.draft()?;
        handle.set_index(&mut draft).attempting(|| format!("use the index of {}", workdir.display()))?;
        let done = handle.checkout_tree(&target, Some(&mut options));
        drop(options);
        match done {
            Err(reason) if reason.code() == ErrorCode::Conflict && !conflicts.is_empty() => {
                return Ok(display_paths(conflicts.iter().map(PathBuf::as_path)));
            }
            done => done.attempting(|| format!("write the landed files to {}", workdir.display()))?,
        }
        index.replace()?;
        Ok(Vec::new())
    }

    /// The usual checkout is clean, which needs one look at each file. Only others are compared with both commits, and with the snapshots
    /// that land. `landed` has the paths that differ between the commits.
    pub(super) fn checkout_state(
        &self,
        handle: &git2::Repository,
        admin: &Path,
        workdir: &Path,
        known: &StatCache,
        (old, new): (Oid, Oid),
        landed: Option<&[PathBuf]>,
    ) -> Result<CheckoutState, RepoError> {
        let files = tracked_files(handle, old)?;
        let is_tracked = |path: &PathBuf| files.binary_search_by(|file| file.path.as_slice().cmp(path.as_os_str().as_bytes())).is_ok();
        let is_free = |path: &PathBuf| is_tracked(path) || workdir.join(path).symlink_metadata().is_err();
        if landed.is_some_and(|paths| paths.iter().all(is_free)) && known.lists(&files) && is_unchanged(workdir, &files, known)? {
            return Ok(CheckoutState::Clean);
        }
        let compare = |commit| self.checkout_diff(handle, admin, workdir, known, commit);
        let snapshots = self.landing_snapshots(handle, old, new)?;
        let kept = snapshots.into_iter().map(compare).collect::<Result<Vec<_>, _>>()?;
        Ok(classify(&compare(old)?, &[compare(new)?].into_iter().chain(kept).collect::<Vec<_>>()))
    }

    /// Returns the paths that differ between the commits, so that only they are read. `None` if a folder is in the way of a file, or a
    /// file in the way of a folder: then the whole checkout has to be read.
    pub(super) fn landed_paths(&self, handle: &git2::Repository, workdir: &Path, old: Oid, new: Oid) -> Result<Option<Vec<PathBuf>>, RepoError> {
        let comparing = || format!("compare {old} with {new}");
        let tree = |commit| find_commit(handle, commit)?.tree().attempting(comparing);
        let diff = handle.diff_tree_to_tree(Some(&tree(old)?), Some(&tree(new)?), None).attempting(comparing)?;
        let mut paths = Vec::new();
        for delta in diff.deltas() {
            let Some(path) = delta.new_file().path().or_else(|| delta.old_file().path()) else { return Ok(None) };
            let is_folder = |path: &Path| fs::symlink_metadata(workdir.join(path)).ok().map(|found| found.is_dir());
            let mut parents = path.ancestors().skip(1).filter(|parent| !parent.as_os_str().is_empty());
            if is_folder(path) == Some(true) || parents.any(|parent| is_folder(parent) == Some(false)) {
                return Ok(None);
            }
            paths.push(path.to_path_buf());
        }
        Ok(Some(paths))
    }

    /// Compares the files and the index of a checkout with `commit`. Does not read the files that `known` knows as unchanged.
    pub(super) fn checkout_diff(
        &self,
        handle: &git2::Repository,
        admin: &Path,
        workdir: &Path,
        known: &StatCache,
        commit: Oid,
    ) -> Result<CheckoutDiff, RepoError> {
        let unreadable = |reason: git2::Error| RepoError::IndexUnreadable { path: workdir.to_path_buf(), reason: reason.message().to_owned() };
        let mut found = CheckoutDiff::default();
        for change in self.changes(workdir, commit, Untracked::Files, known)? {
            let set = if change.status == Delta::Untracked { &mut found.untracked } else { &mut found.tracked };
            set.insert(change.path);
        }
        let index = Index::open(&admin.join("index")).map_err(unreadable)?;
        let tree = find_commit(handle, commit)?.tree().attempting(|| format!("read the files of {commit}"))?;
        let staged = handle.diff_tree_to_index(Some(&tree), Some(&index), None).map_err(unreadable)?;
        let paths = staged.deltas().filter_map(|delta| delta.new_file().path().or_else(|| delta.old_file().path()));
        found.staged = paths.map(Path::to_path_buf).collect();
        Ok(found)
    }
}

/// Classifies a checkout. A path counts as changed if its file or its index entry is neither that of the commit `before` nor that of one in
/// `kept`, whose contents are in the repository after the landing.
fn classify(before: &CheckoutDiff, kept: &[CheckoutDiff]) -> CheckoutState {
    // Untracked files at the paths of new files are tracked afterwards.
    let is_unrelated = |path: &PathBuf| before.untracked.contains(path) && kept.iter().all(|diff| diff.untracked.contains(path));
    if before.tracked.is_empty() && before.staged.is_empty() && before.untracked.iter().all(is_unrelated) {
        return CheckoutState::Clean;
    }
    let differs = |path: &&PathBuf| kept.iter().all(|diff| diff.tracked.contains(*path) || diff.untracked.contains(*path));
    let files: BTreeSet<_> = before.tracked.union(&before.untracked).filter(differs).filter(|path| !is_unrelated(path)).cloned().collect();
    let is_index_kept = |path: &PathBuf| !kept.iter().all(|diff| diff.staged.contains(path));
    if files.is_empty() && before.staged.iter().all(is_index_kept) {
        return CheckoutState::Kept;
    }
    CheckoutState::Dirty(before.tracked.union(&before.staged).cloned().chain(files).collect())
}

/// Names the operation in the middle of which a checkout is.
pub(crate) fn operation_name(state: RepositoryState) -> Option<&'static str> {
    Some(match state {
        RepositoryState::Clean => return None,
        RepositoryState::Merge => "merge",
        RepositoryState::Revert | RepositoryState::RevertSequence => "revert",
        RepositoryState::CherryPick | RepositoryState::CherryPickSequence => "cherry-pick",
        RepositoryState::Bisect => "bisect",
        RepositoryState::ApplyMailbox => "git am",
        RepositoryState::Rebase | RepositoryState::RebaseInteractive | RepositoryState::RebaseMerge | RepositoryState::ApplyMailboxOrRebase => {
            "rebase"
        }
    })
}
