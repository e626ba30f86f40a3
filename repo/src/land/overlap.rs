//! Compares a checkout with the two commits between which a landing moves it, only in the paths that differ between them.
//!
//! A file blocks if its content, or its index entry, is that of neither commit and of no snapshot that lands. Must not write, and must not trust flags of the index.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use domain::runs::land::blocking::BlockingFiles;
use git2::{DiffOptions, Index, Oid};

use crate::error::{Attempt, RepoError};
use crate::handle::Repository;

/// The flag assume-unchanged of an index entry, as git's index format numbers it.
pub(super) const ASSUME_UNCHANGED: u16 = 0x8000;
/// The flag skip-worktree of an index entry, among its extended flags.
pub(super) const SKIP_WORKTREE: u16 = 0x4000;

/// Content and mode of a path; `None` if it does not exist.
type Entry = Option<(Oid, u32)>;

/// A path that differs between the two commits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LandedPath {
    pub(super) path: PathBuf,
    old: Entry,
    pub(super) new: Entry,
}

impl LandedPath {
    pub(super) fn is_new(&self) -> bool {
        self.old.is_none()
    }
}

/// A checkout that is about to move from one commit to another.
#[derive(Debug, Default)]
pub(super) struct Overlap {
    /// The paths that differ between the commits, in their order.
    pub(super) landed: Vec<LandedPath>,
    pub(super) blocking: BlockingFiles,
    /// The paths of `landed` whose file is not yet that of the new commit.
    pub(super) pending: BTreeSet<PathBuf>,
    /// Whether some files or index entries are those of the new commit, because an earlier landing was interrupted, or of a snapshot.
    pub(super) is_interrupted: bool,
}

impl Overlap {
    pub(super) fn is_landed(&self, path: &Path) -> bool {
        is_landed(&self.landed, path)
    }

    /// Whether a folder becomes a file, or a file a folder.
    pub(super) fn exchanges_folders(&self) -> bool {
        // In the order of their parts, a path is followed by those below it.
        self.landed.windows(2).any(|pair| pair[1].path.starts_with(&pair[0].path))
    }
}

impl Repository {
    /// Compares `workdir` and its `index` with the files of both commits, and with those of the snapshots that land (`kept`): their contents are in
    /// the repository afterwards.
    pub(super) fn overlap(&self, workdir: &Path, index: &Index, (old, new): (Index, Index), kept: Vec<Index>) -> Result<Overlap, RepoError> {
        let landed = landed_paths(&self.handle()?, &old, &new)?;
        if landed.is_empty() {
            return Ok(Overlap::default());
        }
        let (differs_old, differs_new) = (self.differing(workdir, old, &landed)?, self.differing(workdir, new, &landed)?);
        let kept = kept.into_iter().map(|kept| {
            let entries: Vec<Entry> = landed.iter().map(|landed| entry_of(&kept, &landed.path)).collect();
            Ok((entries, self.differing(workdir, kept, &landed)?))
        });
        let kept = kept.collect::<Result<Vec<(Vec<Entry>, BTreeSet<PathBuf>)>, RepoError>>()?;
        let mut found = Overlap::default();
        for (place, LandedPath { path, old, new }) in landed.iter().enumerate() {
            let staged = index.get_path(path, 0).map(|entry| ((entry.id, entry.mode), entry.flags, entry.flags_extended));
            let entry: Entry = staged.map(|(entry, ..)| entry);
            let (file_is_old, file_is_new) = (!differs_old.contains(path), !differs_new.contains(path));
            let file_is_kept = kept.iter().any(|(_, differs)| !differs.contains(path));
            let entry_is_kept = kept.iter().any(|(entries, _)| entries[place] == entry);
            found.is_interrupted |= ((file_is_new || file_is_kept) && !file_is_old) || ((entry == *new || entry_is_kept) && entry != *old);
            if !file_is_new {
                found.pending.insert(path.clone());
            }
            let is_known = (file_is_old || file_is_new || file_is_kept) && (entry == *old || entry == *new || entry_is_kept);
            if let Some(obstacle) = new.and_then(|_| obstacle(workdir, path)).filter(|obstacle| !is_landed(&landed, obstacle)) {
                found.blocking.untracked.push(display(&obstacle));
            } else if !is_known {
                let list = match staged {
                    None if old.is_none() => &mut found.blocking.untracked,
                    Some((_, flags, _)) if flags & ASSUME_UNCHANGED != 0 => &mut found.blocking.assume_unchanged,
                    Some((_, _, extended)) if extended & SKIP_WORKTREE != 0 => &mut found.blocking.skip_worktree,
                    _ => &mut found.blocking.changed,
                };
                list.push(display(path));
            }
        }
        // Files in a folder that a person put in the place of a landed file.
        let inside = differs_new.iter().filter(|path| !is_landed(&landed, path));
        found.blocking.untracked.extend(inside.map(|path| display(path)));
        found.blocking.untracked.sort_unstable();
        found.blocking.untracked.dedup();
        found.landed = landed;
        Ok(found)
    }

    /// Lists what differs between `workdir` and `index` at the landed paths and below them, ignored files included. Reads each of these files.
    fn differing(&self, workdir: &Path, index: Index, landed: &[LandedPath]) -> Result<BTreeSet<PathBuf>, RepoError> {
        let (handle, index) = self.handle_on_index(workdir, |_| Ok(index))?;
        let mut options = DiffOptions::new();
        options.include_untracked(true).recurse_untracked_dirs(true).include_ignored(true).include_typechange(true).ignore_submodules(true);
        options.disable_pathspec_match(true);
        for LandedPath { path, .. } in landed {
            options.pathspec(path);
        }
        let diff = handle.diff_index_to_workdir(Some(&index), Some(&mut options));
        let diff = diff.attempting(|| format!("compare {} with what lands", workdir.display()))?;
        Ok(self.differences(&handle, workdir, &index, &diff)?.into_iter().map(|change| change.path).collect())
    }
}

/// Lists the paths that differ between two commits, in their order.
fn landed_paths(handle: &git2::Repository, old: &Index, new: &Index) -> Result<Vec<LandedPath>, RepoError> {
    let mut options = DiffOptions::new();
    let diff = handle.diff_index_to_index(old, new, Some(options.include_typechange(true)));
    let diff = diff.attempting(|| "compare the files of two commits".into())?;
    let mut paths: Vec<LandedPath> = Vec::new();
    for delta in diff.deltas() {
        let Some(path) = delta.new_file().path().or_else(|| delta.old_file().path()) else { continue };
        paths.push(LandedPath { path: path.to_path_buf(), old: entry_of(old, path), new: entry_of(new, path) });
    }
    paths.sort();
    Ok(paths)
}

fn entry_of(index: &Index, path: &Path) -> Entry {
    index.get_path(path, 0).map(|entry| (entry.id, entry.mode))
}

fn is_landed(landed: &[LandedPath], path: &Path) -> bool {
    landed.binary_search_by(|known| known.path.as_path().cmp(path)).is_ok()
}

/// Returns the file or link that is in the place of a folder above `path`.
fn obstacle(workdir: &Path, path: &Path) -> Option<PathBuf> {
    let parents = path.ancestors().skip(1).filter(|parent| !parent.as_os_str().is_empty());
    parents.filter(|parent| fs::symlink_metadata(workdir.join(parent)).is_ok_and(|found| !found.is_dir())).last().map(Path::to_path_buf)
}

fn display(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
