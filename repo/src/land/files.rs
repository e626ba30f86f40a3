//! Writes the files of a landing into a person's checkout, or names what stands in the way.
//!
//! Moves no branch. Never overwrites a file whose content is in no commit.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use git2::build::CheckoutBuilder;
use git2::{CheckoutNotificationType, Delta, ErrorCode, Index, Oid, RepositoryState};

use crate::error::{Attempt, RepoError};
use crate::handle::{Repository, find_commit};
use crate::land::index::LockedIndex;
use crate::workdir::{Untracked, shown};

/// How a checkout differs from one commit.
#[derive(Debug, Default)]
struct Difference {
    tracked: BTreeSet<PathBuf>,
    untracked: BTreeSet<PathBuf>,
    staged: BTreeSet<PathBuf>,
}

/// What may be done with a checkout that stands at one commit and shall come to another.
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    /// Nothing is changed: files are written where they are as they were.
    Clean,
    /// Every changed path is as it will be: an earlier landing was interrupted, and is finished by force.
    Interrupted,
    /// A person's changes.
    Dirty(BTreeSet<PathBuf>),
}

impl Repository {
    /// Brings the checkout `workdir` (its HEAD and index are in `admin`) from `old` to `new`. Answers the paths that
    /// stand in the way; then nothing was touched.
    pub(super) fn bring_files(&self, admin: &Path, workdir: &Path, old: Oid, new: Oid) -> Result<Vec<String>, RepoError> {
        let handle = self.checkout_handle(admin, workdir)?;
        if let Some(operation) = under_way(handle.state()) {
            return Err(RepoError::OperationInProgress { operation, path: workdir.to_path_buf() });
        }
        if handle.config().is_ok_and(|config| config.get_bool("core.sparseCheckout").unwrap_or(false)) {
            return Err(RepoError::SparseCheckout { path: workdir.to_path_buf() });
        }
        // Held from the first look to the last write: what another program staged in between would be lost, and files that
        // are written while the index cannot be look like somebody's changes.
        let index = LockedIndex::hold(admin, workdir)?;
        let before = self.difference(&handle, admin, workdir, old)?;
        let after = self.difference(&handle, admin, workdir, new)?;
        let mut conflicts = BTreeSet::new();
        let mut options = CheckoutBuilder::new();
        match judge(&before, &after) {
            Verdict::Clean => options.safe(),
            Verdict::Interrupted => options.force(),
            Verdict::Dirty(paths) => return Ok(shown(paths.iter().map(PathBuf::as_path))),
        };
        // Untracked and ignored files in the place of new ones are a person's too.
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
                return Ok(shown(conflicts.iter().map(PathBuf::as_path)));
            }
            done => done.attempting(|| format!("write the landed files to {}", workdir.display()))?,
        }
        index.replace()?;
        Ok(Vec::new())
    }

    fn difference(&self, handle: &git2::Repository, admin: &Path, workdir: &Path, commit: Oid) -> Result<Difference, RepoError> {
        let unreadable = |reason: git2::Error| RepoError::IndexUnreadable { path: workdir.to_path_buf(), reason: reason.message().to_owned() };
        let mut found = Difference::default();
        for change in self.changes(workdir, commit, Untracked::Files)? {
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

/// A path is somebody's change when its file, or its place in the index, is neither as before nor as after.
fn judge(before: &Difference, after: &Difference) -> Verdict {
    if before.tracked.is_empty() && before.staged.is_empty() {
        return Verdict::Clean;
    }
    let differs_before: BTreeSet<_> = before.tracked.union(&before.untracked).collect();
    let differs_after: BTreeSet<_> = after.tracked.union(&after.untracked).collect();
    let unrelated: BTreeSet<_> = before.untracked.intersection(&after.untracked).collect();
    let in_files = differs_before.intersection(&differs_after).filter(|path| !unrelated.contains(**path)).count();
    let in_index = before.staged.intersection(&after.staged).count();
    if in_files == 0 && in_index == 0 {
        return Verdict::Interrupted;
    }
    Verdict::Dirty(before.tracked.union(&before.staged).cloned().collect())
}

fn under_way(state: RepositoryState) -> Option<&'static str> {
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
