//! Removes a checkout: first its files, then git's data about it, so a repeated call finishes a killed removal.
//!
//! Must not rescue anything. The caller rescues uncommitted work first (see `rescue`).

use std::fs;
use std::io;
use std::path::Path;

use crate::checkout::linked_workdir;
use crate::error::{Attempt, RepoError};
use crate::handle::Repository;
use crate::stat_cache;
use crate::worktree::links_to;

impl Repository {
    /// Removes the checkout `name` at `path`. Does nothing if neither exists.
    ///
    /// # Errors
    /// [`RepoError::PathOccupied`] if `path` is not that checkout or contains the repository itself.
    pub fn remove_worktree(&self, name: &str, path: &Path) -> Result<(), RepoError> {
        let admin = self.admin_dir(name)?;
        let is_this_checkout = linked_workdir(&admin).is_some_and(|workdir| workdir == path) || links_to(path, &admin);
        let exists = path.symlink_metadata().is_ok();
        if self.git_dir().starts_with(path) || (exists && !is_this_checkout) {
            return Err(RepoError::PathOccupied { path: path.to_path_buf() });
        }
        let removing = |folder: &Path| format!("remove {}", folder.display());
        stat_cache::forget(path)?;
        remove_folder(path).attempting(|| removing(path))?;
        if is_this_checkout || !linked_workdir(&admin).is_some_and(|other| other.exists()) {
            remove_folder(&admin).attempting(|| removing(&admin))?;
        }
        Ok(())
    }
}

/// Removes a folder with all its contents. Follows no symbolic link, not even `path` itself.
fn remove_folder(path: &Path) -> io::Result<()> {
    let found = match path.symlink_metadata() {
        Ok(found) => found,
        Err(reason) if reason.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(reason) => return Err(reason),
    };
    if !found.is_dir() {
        return fs::remove_file(path);
    }
    match fs::remove_dir_all(path) {
        Err(reason) if reason.kind() == io::ErrorKind::PermissionDenied => {
            make_writable(path)?;
            fs::remove_dir_all(path)
        }
        done => done,
    }
}

/// Makes a folder writable. Build tools leave read-only folders (such as Go's module cache) that cannot be emptied.
fn make_writable(folder: &Path) -> io::Result<()> {
    let mut permissions = fs::metadata(folder)?.permissions();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        permissions.set_mode(permissions.mode() | 0o700);
    }
    #[cfg(not(unix))]
    permissions.set_readonly(false);
    fs::set_permissions(folder, permissions)?;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            make_writable(&entry.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
