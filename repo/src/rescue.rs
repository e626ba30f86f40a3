//! Keeps what an agent made before anything of it is deleted: a commit below `refs/vibe-relay/rescue/`.
//!
//! Touches neither the checkout's files nor its index nor its branch. Files are stored byte by byte, unfiltered.
//! Ignored files are not kept: they are what a build makes.

use std::fs;
use std::path::{Path, PathBuf};

use domain::runs::evidence::Sha;
use git2::{Delta, Index, IndexEntry, IndexTime, Oid};

use crate::branch::{contains, reference_target, set_reference};
use crate::durable::sync_reference;
use crate::error::{Attempt, RepoError};
use crate::handle::{Repository, find_commit, oid, sha};
use crate::workdir::Untracked;

/// Below this all rescue refs live; git keeps what they reach, and no person's branch list shows them.
pub const RESCUE_PREFIX: &str = "refs/vibe-relay/rescue/";

/// A larger file is not kept but named: an agent must not fill the repository with core dumps.
const LARGEST_FILE: u64 = 50 * 1024 * 1024;

/// What was kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rescue {
    /// The commit that the rescue ref points to.
    pub sha: Sha,
    /// Paths that were not kept: too large, unreadable, neither file nor link, or the `.git` folder of a nested repository.
    pub skipped: Vec<String>,
}

impl Repository {
    /// Commits everything in `worktree` that is neither committed in `head` nor ignored on top of `head`, and points
    /// `reference` to it. An earlier rescue under the same name becomes a second parent. None when there is nothing.
    ///
    /// # Errors
    /// `reference` is not below [`RESCUE_PREFIX`], or the checkout cannot be read.
    pub fn rescue(&self, reference: &str, worktree: &Path, head: &Sha) -> Result<Option<Rescue>, RepoError> {
        refuse_other_references(reference)?;
        let head = oid(head)?;
        let changes = self.changes(worktree, head, Untracked::Files)?;
        if changes.is_empty() {
            return Ok(None);
        }
        let handle = self.handle_on(worktree, head)?;
        let parent = find_commit(&handle, head)?;
        let old_tree = parent.tree().attempting(|| format!("read the files of {head}"))?;
        let mut keeper = Keeper { handle: &handle, worktree, index: Index::new().attempting(indexing)?, skipped: Vec::new() };
        keeper.index.read_tree(&old_tree).attempting(indexing)?;
        // Deletions first: a folder may have taken the place of a file.
        let (deleted, written): (Vec<_>, Vec<_>) = changes.into_iter().partition(|change| change.status == Delta::Deleted);
        for change in deleted {
            keeper.index.remove(&change.path, 0).attempting(indexing)?;
        }
        for change in written {
            keeper.keep(&change.path)?;
        }
        let tree = keeper.index.write_tree_to(&handle).attempting(indexing)?;
        let skipped = keeper.skipped;
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
        self.keep(&handle, reference, earlier, kept)?;
        Ok(Some(Rescue { sha: sha(kept), skipped }))
    }

    /// Points `reference` to `commit`, the tip of a branch that is about to be deleted.
    ///
    /// # Errors
    /// [`RepoError::RescueTaken`] when it already keeps work that `commit` does not contain.
    pub fn rescue_tip(&self, reference: &str, commit: &Sha) -> Result<(), RepoError> {
        refuse_other_references(reference)?;
        let handle = self.handle()?;
        let commit = find_commit(&handle, oid(commit)?)?.id();
        let earlier = reference_target(&handle, reference)?;
        match earlier {
            Some(earlier) if contains(&handle, earlier, commit) => self.keep(&handle, reference, Some(earlier), earlier),
            Some(earlier) if !contains(&handle, commit, earlier) => Err(RepoError::RescueTaken { reference: reference.to_owned() }),
            _ => self.keep(&handle, reference, earlier, commit),
        }
    }

    /// Points `reference` from `earlier` to `kept`, which is on the disk before. Also when it points there already: the
    /// attempt that did it may have been killed before it waited for the disk.
    fn keep(&self, handle: &git2::Repository, reference: &str, earlier: Option<Oid>, kept: Oid) -> Result<(), RepoError> {
        self.sync_objects()?;
        if earlier == Some(kept) {
            return sync_reference(self.git_dir(), reference);
        }
        set_reference(handle, reference, earlier, kept, "vibe-relay: rescued")
    }
}

fn refuse_other_references(reference: &str) -> Result<(), RepoError> {
    if reference.starts_with(RESCUE_PREFIX) {
        return Ok(());
    }
    Err(RepoError::ReferenceOutsidePrefix { name: reference.to_owned(), prefix: RESCUE_PREFIX })
}

fn indexing() -> String {
    "list the files to keep".into()
}

/// Puts files of a checkout into an index in memory.
struct Keeper<'a> {
    handle: &'a git2::Repository,
    worktree: &'a Path,
    index: Index,
    skipped: Vec<String>,
}

impl Keeper<'_> {
    fn keep(&mut self, path: &Path) -> Result<(), RepoError> {
        let full = self.worktree.join(path);
        let Ok(found) = full.symlink_metadata() else {
            self.skip(path);
            return Ok(());
        };
        let (content, mode) = if found.is_symlink() {
            (fs::read_link(&full).map(|target| target.into_os_string().into_encoded_bytes()), 0o120_000)
        } else if found.is_dir() {
            return self.keep_nested(path);
        } else if found.is_file() && found.len() <= LARGEST_FILE {
            (fs::read(&full), if is_executable(&found) { 0o100_755 } else { 0o100_644 })
        } else {
            self.skip(path);
            return Ok(());
        };
        let Ok(content) = content else {
            self.skip(path);
            return Ok(());
        };
        let id = self.handle.blob(&content).attempting(|| format!("keep {}", path.display()))?;
        self.index.add(&entry(path, id, mode)).attempting(|| format!("keep {}", path.display()))
    }

    /// A folder is only reported when it is a repository of its own: its files are kept, its `.git` is not.
    fn keep_nested(&mut self, folder: &Path) -> Result<(), RepoError> {
        let Ok(entries) = fs::read_dir(self.worktree.join(folder)) else {
            self.skip(folder);
            return Ok(());
        };
        let mut names: Vec<PathBuf> = entries.flatten().map(|entry| folder.join(entry.file_name())).collect();
        names.sort();
        for path in names {
            if path.file_name().is_some_and(|name| name == ".git") {
                self.skip(&path);
            } else if !self.handle.is_path_ignored(&path).unwrap_or(false) {
                self.keep(&path)?;
            }
        }
        Ok(())
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
