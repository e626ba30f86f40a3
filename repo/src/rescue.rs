//! Preserves an agent's work in a commit below `refs/vibe-relay/rescue/` before it is deleted.
//!
//! Must not change the checkout's files, index or branch. Files are stored unfiltered. Ignored files are not preserved,
//! because builds generate them.

mod kept;

pub use kept::KeptCommit;

use std::fs;
use std::path::{Path, PathBuf};

use domain::runs::evidence::Sha;
use git2::{Delta, Index, IndexEntry, IndexTime, Oid};

use crate::branch::{contains, reference_target, set_reference};
use crate::durable::sync_reference;
use crate::error::{Attempt, RepoError};
use crate::handle::{Repository, find_commit, oid, sha};
use crate::workdir::Untracked;

/// Prefix of all rescue refs. git keeps the commits they reach, and branch lists do not show them.
pub const RESCUE_PREFIX: &str = "refs/vibe-relay/rescue/";

/// Maximum size of a preserved file. Larger files are only listed, because core dumps must not fill the repository.
const MAX_FILE_BYTES: u64 = 50 * 1024 * 1024;

/// Maximum size of all preserved files together. More is left where it is, because the human decides what of it matters.
const MAX_TOTAL_BYTES: u64 = 1024 * 1024 * 1024;

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
        require_rescue_prefix(reference)?;
        let head = oid(head)?;
        let changes = self.changes(worktree, head, Untracked::Files)?;
        if changes.is_empty() {
            return Ok(None);
        }
        let handle = self.handle_on(worktree, head)?;
        let parent = find_commit(&handle, head)?;
        let old_tree = parent.tree().attempting(|| format!("read the files of {head}"))?;
        let mut builder = RescueBuilder { handle: &handle, worktree, index: Index::new().attempting(indexing)?, skipped: Vec::new() };
        builder.index.read_tree(&old_tree).attempting(indexing)?;
        // Apply deletions first, because a folder may have replaced a file.
        let (deleted, written): (Vec<_>, Vec<_>) = changes.into_iter().partition(|change| change.status == Delta::Deleted);
        for change in deleted {
            builder.index.remove(&change.path, 0).attempting(indexing)?;
        }
        let mut files = Vec::new();
        for change in written {
            builder.collect(&change.path, &mut files);
        }
        let bytes: u64 = files.iter().map(|(_, found)| found.len()).sum();
        if bytes > MAX_TOTAL_BYTES {
            return Err(RepoError::RescueTooLarge { path: worktree.to_path_buf(), bytes, limit: MAX_TOTAL_BYTES });
        }
        for (path, found) in files {
            builder.add(&path, &found)?;
        }
        let tree = builder.index.write_tree_to(&handle).attempting(indexing)?;
        let skipped = builder.skipped;
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
                let new_tree = handle.find_tree(tree).attempting(indexing)?;
                handle
                    .commit(None, &signature, &signature, &message, &new_tree, &parents)
                    .attempting(|| format!("commit what is in {}", worktree.display()))?
            }
        };
        self.write_rescue_ref(&handle, reference, earlier, kept)?;
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
            Some(earlier) if contains(&handle, earlier, commit) => self.write_rescue_ref(&handle, reference, Some(earlier), earlier),
            Some(earlier) if !contains(&handle, commit, earlier) => Err(RepoError::RescueTaken { reference: reference.to_owned() }),
            _ => self.write_rescue_ref(&handle, reference, earlier, commit),
        }
    }

    /// Syncs the objects, then points `reference` from `earlier` to `kept`. Syncs the reference even if it points there
    /// already, because an earlier attempt may have been killed before its sync.
    pub(crate) fn write_rescue_ref(&self, handle: &git2::Repository, reference: &str, earlier: Option<Oid>, kept: Oid) -> Result<(), RepoError> {
        self.sync_objects()?;
        if earlier == Some(kept) {
            return sync_reference(self.git_dir(), reference);
        }
        set_reference(handle, reference, earlier, kept, "vibe-relay: rescued")
    }
}

pub(crate) fn require_rescue_prefix(reference: &str) -> Result<(), RepoError> {
    if reference.starts_with(RESCUE_PREFIX) {
        return Ok(());
    }
    Err(RepoError::ReferenceOutsidePrefix { name: reference.to_owned(), prefix: RESCUE_PREFIX })
}

fn indexing() -> String {
    "list the files to rescue".into()
}

/// Adds files of a checkout to an index in memory.
struct RescueBuilder<'a> {
    handle: &'a git2::Repository,
    worktree: &'a Path,
    index: Index,
    skipped: Vec<String>,
}

impl RescueBuilder<'_> {
    /// Collects the files and links at `path`: the file itself, or the files of a nested repository, whose commits
    /// [`Repository::rescue_nested`] keeps. git reports a folder as a change only in that case.
    fn collect(&mut self, path: &Path, files: &mut Vec<(PathBuf, fs::Metadata)>) {
        match self.worktree.join(path).symlink_metadata() {
            Ok(found) if found.is_dir() => self.collect_nested(path, files),
            Ok(found) if found.is_symlink() || (found.is_file() && found.len() <= MAX_FILE_BYTES) => files.push((path.to_path_buf(), found)),
            _ => self.skip(path),
        }
    }

    fn collect_nested(&mut self, folder: &Path, files: &mut Vec<(PathBuf, fs::Metadata)>) {
        let Ok(entries) = fs::read_dir(self.worktree.join(folder)) else { return self.skip(folder) };
        let mut names: Vec<PathBuf> = entries.flatten().map(|entry| folder.join(entry.file_name())).collect();
        names.sort();
        for path in names {
            let is_git = path.file_name().is_some_and(|name| name == ".git");
            if !is_git && !self.handle.is_path_ignored(&path).unwrap_or(false) {
                self.collect(&path, files);
            }
        }
    }

    fn add(&mut self, path: &Path, found: &fs::Metadata) -> Result<(), RepoError> {
        let full = self.worktree.join(path);
        let (content, mode) = if found.is_symlink() {
            (fs::read_link(&full).map(|target| target.into_os_string().into_encoded_bytes()), 0o120_000)
        } else {
            (fs::read(&full), if is_executable(found) { 0o100_755 } else { 0o100_644 })
        };
        let Ok(content) = content else {
            self.skip(path);
            return Ok(());
        };
        let id = self.handle.blob(&content).attempting(|| format!("rescue {}", path.display()))?;
        self.index.add(&entry(path, id, mode)).attempting(|| format!("rescue {}", path.display()))
    }

    fn skip(&mut self, path: &Path) {
        self.skipped.push(path.to_string_lossy().into_owned());
    }
}

#[cfg(unix)]
fn is_executable(file: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.permissions().mode() & 0o100 != 0
}

#[cfg(not(unix))]
fn is_executable(_file: &fs::Metadata) -> bool {
    false
}

fn entry(path: &Path, id: Oid, mode: u32) -> IndexEntry {
    let never = IndexTime::new(0, 0);
    IndexEntry {
        ctime: never,
        mtime: never,
        dev: 0,
        ino: 0,
        mode,
        uid: 0,
        gid: 0,
        file_size: 0,
        id,
        flags: 0,
        flags_extended: 0,
        path: path.as_os_str().as_encoded_bytes().to_vec(),
    }
}

#[cfg(test)]
mod tests;
