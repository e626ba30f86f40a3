//! Recognises a repository that was moved, and leads its checkouts to its new place.
//!
//! Must not change anything but the two files that link a checkout with its repository.

use std::path::{Path, PathBuf};

use domain::id::TaskId;
use domain::runs::evidence::{CheckoutRecord, RepositoryRecord};

use crate::branch::tip;
use crate::checkout::read_small;
use crate::error::RepoError;
use crate::handle::{Repository, oid};
use crate::worktree::write_links;

/// The name of the checkout at `path` in its repository.
pub fn checkout_name(path: &Path) -> String {
    format!("vibe-relay-{}", path.file_name().unwrap_or_default().to_string_lossy())
}

impl Repository {
    /// Names what `record` knows and this repository lacks. It is empty if this is the recorded repository.
    ///
    /// # Errors
    /// The repository cannot be read.
    pub fn missing_of(&self, record: &RepositoryRecord) -> Result<Vec<String>, RepoError> {
        let handle = self.handle()?;
        let mut missing = Vec::new();
        for known in &record.commits {
            if handle.find_commit(oid(&known.sha)?).is_err() {
                missing.push(format!("{} ({})", known.name, known.sha.get(..7).unwrap_or_default()));
            }
        }
        for checkout in &record.checkouts {
            if tip(&handle, &checkout.branch)?.is_none() {
                missing.push(format!("the branch {}", checkout.branch));
            }
        }
        Ok(missing)
    }

    /// Links the recorded checkouts with this repository, and returns those that were moved with it from `old_top` to `new_top`.
    ///
    /// # Errors
    /// [`RepoError::PathOccupied`] if the folder of a checkout belongs to something else, or a link cannot be written.
    pub fn relink_checkouts(&self, record: &RepositoryRecord, old_top: &Path, new_top: &Path) -> Result<Vec<(TaskId, String)>, RepoError> {
        let mut moved = Vec::new();
        for checkout in &record.checkouts {
            let recorded = Path::new(&checkout.path);
            let path = present_path(recorded, old_top, new_top);
            self.relink(checkout, &path)?;
            if path != recorded {
                moved.push((checkout.task.clone(), path.to_string_lossy().into_owned()));
            }
        }
        Ok(moved)
    }

    fn relink(&self, checkout: &CheckoutRecord, path: &Path) -> Result<(), RepoError> {
        let name = checkout_name(Path::new(&checkout.path));
        let admin = self.admin_dir(&name)?;
        // A missing checkout is created when its task starts again.
        if !admin.is_dir() || !path.is_dir() {
            return Ok(());
        }
        let dot_git = path.join(".git");
        let is_its_own = match read_small(&dot_git) {
            Some(link) => leads_to(&link, &name),
            None => dot_git.symlink_metadata().is_err(),
        };
        if is_its_own { write_links(&admin, path) } else { Err(RepoError::PathOccupied { path: path.to_path_buf() }) }
    }
}

/// Whether the `.git` file of a checkout names the folder `name` of a repository, wherever that is.
fn leads_to(link: &str, name: &str) -> bool {
    let named = link.trim_end().strip_prefix("gitdir: ").map(Path::new);
    named.is_some_and(|named| named.file_name().is_some_and(|last| last == name) && named.parent().is_some_and(|above| above.ends_with("worktrees")))
}

/// The folder of a checkout: where it was recorded, or at the same place in the moved repository.
fn present_path(recorded: &Path, old_top: &Path, new_top: &Path) -> PathBuf {
    let moved = recorded.strip_prefix(old_top).map(|rest| new_top.join(rest)).ok();
    moved.filter(|moved| !recorded.exists() && moved.is_dir()).unwrap_or_else(|| recorded.to_path_buf())
}

#[cfg(test)]
mod tests;
