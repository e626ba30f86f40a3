//! Writes the files of a landing into a human's checkout, or lists the files that keep it from doing so.
//!
//! Must not move a branch, and must not overwrite a file whose content is in no commit. Writes no path that both commits have alike, and
//! keeps its index entry.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use domain::runs::land::blocking::BlockingFiles;
use git2::build::CheckoutBuilder;
use git2::{DiffOptions, Index, IndexEntry, Oid, RepositoryState};

use crate::checkout::is_sparse;
use crate::error::{Attempt, RepoError};
use crate::filter::Filters;
use crate::handle::{Repository, find_commit, tree_index_of};
use crate::land::index::LockedIndex;
use crate::land::overlap::{ASSUME_UNCHANGED, LandedPath, Overlap, SKIP_WORKTREE};

impl Repository {
    /// Updates the checkout `workdir` (its HEAD and index are in `admin`) from `old` to `new`. Returns the files that block this; if there are
    /// any, nothing was changed.
    pub(super) fn write_landed_files(&self, admin: &Path, workdir: &Path, old: Oid, new: Oid) -> Result<BlockingFiles, RepoError> {
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
        let mut draft = index.draft()?;
        let changed = changed_paths(&handle, old, new)?;
        let files_of = |commit| tree_index_of(&handle, commit, changed.iter().map(PathBuf::as_path));
        let kept = self.landing_snapshots(&handle, old, new)?.into_iter().map(files_of).collect::<Result<Vec<_>, _>>()?;
        let found = self.overlap(workdir, &draft, (files_of(old)?, files_of(new)?), kept)?;
        if !found.blocking.is_empty() || found.landed.is_empty() {
            return Ok(found.blocking);
        }
        let flags = flags_of(&draft, &found);
        let filters = Filters::new(self, &handle);
        let landed = |index: &Index| {
            let files: Vec<IndexEntry> = changed.iter().filter_map(|path| index.get_path(path, 0)).collect();
            filters.pick(&files, |path| found.is_landed(path))
        };
        let had_conversions = !landed(&draft)?.is_empty();
        let attempted = || format!("write the landed files to {}", workdir.display());
        handle.set_index(&mut draft).attempting(attempted)?;
        let commit = |id| find_commit(&handle, id).map(git2::Commit::into_object);
        if found.exchanges_folders() {
            if found.is_interrupted {
                remove_new_files(workdir, &mut draft, &found)?;
                let known = found.landed.iter().filter(|landed| !landed.is_new());
                handle.checkout_tree(&commit(old)?, Some(limited_to(known).force())).attempting(attempted)?;
            }
            // git exchanges a folder and a file only in a whole checkout, in which nothing may be forced.
            handle.checkout_tree(&commit(new)?, Some(CheckoutBuilder::new().safe().overwrite_ignored(false))).attempting(attempted)?;
        } else {
            let mut options = limited_to(found.landed.iter());
            // Files that an interrupted landing wrote, that a snapshot keeps, or that a filter converted look like changes. Otherwise git looks
            // at each file once more before it writes the first.
            let options = if found.is_interrupted || had_conversions { options.force() } else { options.safe() };
            handle.checkout_tree(&commit(new)?, Some(options)).attempting(attempted)?;
        }
        let converted = filters.smudge(workdir, &landed(&draft)?)?;
        if !converted.is_empty() {
            converted.iter().try_for_each(|file| draft.add(file)).and_then(|()| draft.write()).attempting(attempted)?;
        }
        restore_flags(&mut draft, flags).attempting(|| format!("keep the flags in the index of {}", workdir.display()))?;
        index.replace()?;
        Ok(BlockingFiles::default())
    }
}

/// The paths that differ between two commits, with the attribute files that say something about them. Folders that are the same in both are
/// not read, so the cost grows with what lands and not with the checkout.
fn changed_paths(handle: &git2::Repository, old: Oid, new: Oid) -> Result<BTreeSet<PathBuf>, RepoError> {
    let comparing = || format!("compare the files of {old} and {new}");
    let tree = |commit| find_commit(handle, commit)?.tree().attempting(comparing);
    let diff = handle.diff_tree_to_tree(Some(&tree(old)?), Some(&tree(new)?), Some(DiffOptions::new().include_typechange(true)));
    let diff = diff.attempting(comparing)?;
    let paths = diff.deltas().filter_map(|delta| delta.new_file().path().or_else(|| delta.old_file().path()).map(Path::to_path_buf));
    let mut changed: BTreeSet<PathBuf> = paths.collect();
    let attributes: Vec<PathBuf> = changed.iter().flat_map(|path| path.ancestors().skip(1).map(|folder| folder.join(".gitattributes"))).collect();
    changed.extend(attributes);
    Ok(changed)
}

fn limited_to<'a>(landed: impl Iterator<Item = &'a LandedPath>) -> CheckoutBuilder<'static> {
    let mut options = CheckoutBuilder::new();
    options.disable_pathspec_match(true).overwrite_ignored(false);
    for LandedPath { path, .. } in landed {
        options.path(path);
    }
    options
}

/// Removes the new files that an interrupted landing wrote. They are written again.
fn remove_new_files(workdir: &Path, index: &mut Index, found: &Overlap) -> Result<(), RepoError> {
    for LandedPath { path, .. } in found.landed.iter().filter(|landed| landed.is_new()) {
        let file = workdir.join(path);
        let removing = || format!("remove {}", file.display());
        if !found.pending.contains(path) {
            fs::remove_file(&file).attempting(removing)?;
            // A folder with other files stays.
            let mut folders = path.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
            while folders.next().is_some_and(|folder| fs::remove_dir(workdir.join(folder)).is_ok()) {}
        }
        if index.get_path(path, 0).is_some() {
            index.remove_path(path).attempting(removing)?;
        }
    }
    Ok(())
}

/// The flags of the entries that are written again, which git would forget.
fn flags_of(index: &Index, found: &Overlap) -> Vec<(PathBuf, u16, u16)> {
    let entries = found.landed.iter().filter_map(|landed| Some((landed.path.clone(), index.get_path(&landed.path, 0)?)));
    let flags = entries.map(|(path, entry)| (path, entry.flags & ASSUME_UNCHANGED, entry.flags_extended & SKIP_WORKTREE));
    flags.filter(|(_, flags, extended)| flags | extended != 0).collect()
}

fn restore_flags(index: &mut Index, flags: Vec<(PathBuf, u16, u16)>) -> Result<(), git2::Error> {
    if flags.is_empty() {
        return Ok(());
    }
    for (path, flags, extended) in flags {
        if let Some(mut entry) = index.get_path(&path, 0) {
            entry.flags |= flags;
            entry.flags_extended |= extended;
            index.add(&entry)?;
        }
    }
    index.write()
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
