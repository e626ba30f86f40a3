//! Lists the checkouts of a repository and the branch that each of them uses, from the `.git` folder alone.
//!
//! Reads the small files that git documents (gitrepository-layout): HEAD, `worktrees/*/gitdir` and the branch names of
//! a rebase. Must not change anything.

use std::fs;
use std::path::{Path, PathBuf};

use domain::runs::evidence::Sha;

use crate::branch;
use crate::error::{Attempt, RepoError};
use crate::handle::{Repository, sha};

/// The content of a HEAD file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Head {
    /// A full reference name.
    Reference(String),
    /// A commit id.
    Detached(String),
}

/// One checkout: the main one or a linked worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Checkout {
    /// The folder of its HEAD and index.
    pub(crate) admin: PathBuf,
    /// The top folder of its files. Only a guess for a main checkout with a separate `.git` folder.
    pub(crate) workdir: PathBuf,
    /// Whether this crate created it for an agent.
    pub(crate) ours: bool,
    head: Option<Head>,
    /// The branch that a rebase in progress will move.
    rebasing: Option<String>,
}

impl Checkout {
    /// Returns whether this checkout uses `branch`, which then must not be moved or deleted on its own.
    pub(crate) fn occupies(&self, branch: &str) -> bool {
        let name = branch::branch_ref(branch);
        self.head == Some(Head::Reference(name.clone())) || self.rebasing.as_deref() == Some(&name)
    }

    /// Returns whether `.git` at `workdir` leads to this checkout.
    pub(crate) fn is_at(&self, workdir: &Path) -> bool {
        let dot_git = workdir.join(".git");
        let target = match read_small(&dot_git) {
            Some(text) => text.trim_end().strip_prefix("gitdir: ").map(|named| workdir.join(named)),
            None => Some(dot_git),
        };
        target.and_then(|target| target.canonicalize().ok()).is_some_and(|target| Some(target) == self.admin.canonicalize().ok())
    }
}

impl Repository {
    /// Lists every checkout, the main one first. A bare repository has no main checkout.
    pub(crate) fn checkouts(&self) -> Result<Vec<Checkout>, RepoError> {
        let mut found = Vec::new();
        let bare = self.handle()?.config().and_then(|config| config.get_bool("core.bare")).unwrap_or(false);
        if !bare {
            let workdir = self.git_dir().parent().unwrap_or(self.git_dir()).to_path_buf();
            found.push(describe(self.git_dir().to_path_buf(), workdir));
        }
        let folder = self.git_dir().join("worktrees");
        let Ok(entries) = fs::read_dir(&folder) else { return Ok(found) };
        let mut admins = Vec::new();
        for entry in entries {
            admins.push(entry.attempting(|| format!("list {}", folder.display()))?.path());
        }
        admins.sort();
        for admin in admins {
            let Some(workdir) = linked_workdir(&admin) else { continue };
            // Keep a locked checkout without files: its drive may be disconnected.
            if workdir.exists() || admin.join("locked").exists() {
                found.push(describe(admin, workdir));
            }
        }
        Ok(found)
    }

    /// Lists the human checkouts that use `branch`. Ignores agents' checkouts, because an agent must not be able to block
    /// others by switching to another branch.
    pub(crate) fn occupied_by_people(&self, branch: &str) -> Result<Vec<Checkout>, RepoError> {
        let mut checkouts = self.checkouts()?;
        checkouts.retain(|checkout| !checkout.ours && checkout.occupies(branch));
        Ok(checkouts)
    }

    /// Lists the checkouts of agents below `folder`, also those that this board does not know.
    ///
    /// # Errors
    /// The repository cannot be read.
    pub fn agent_checkouts(&self, folder: &Path) -> Result<Vec<PathBuf>, RepoError> {
        let ours = self.checkouts()?.into_iter().filter(|checkout| checkout.ours && checkout.workdir.starts_with(folder));
        Ok(ours.map(|checkout| checkout.workdir).collect())
    }

    /// Returns the commit at HEAD of the checkout `name`. An agent may have committed on a detached HEAD, and that commit
    /// must be rescued too. `None` if the checkout does not exist or its HEAD has no commit.
    ///
    /// # Errors
    /// The repository cannot be read, or `name` is not the name of a checkout.
    pub fn worktree_head(&self, name: &str) -> Result<Option<Sha>, RepoError> {
        let handle = self.handle()?;
        Ok(match read_head(&self.admin_dir(name)?) {
            Some(Head::Detached(id)) => Some(id),
            Some(Head::Reference(reference)) => branch::reference_target(&handle, &reference)?.map(sha),
            None => None,
        })
    }

    /// Returns the folder in which git keeps the data of the checkout `name`.
    pub(crate) fn admin_dir(&self, name: &str) -> Result<PathBuf, RepoError> {
        let refuse = |why| Err(RepoError::CheckoutName { name: name.to_owned(), why });
        if name.is_empty() || name.starts_with('.') {
            return refuse("it must begin with a letter or a digit");
        }
        if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)) {
            return refuse("it must be one path component");
        }
        Ok(self.git_dir().join("worktrees").join(name))
    }
}

/// Whether a checkout has only some of the files. `handle` is on it.
pub(crate) fn is_sparse(handle: &git2::Repository) -> bool {
    handle.config().is_ok_and(|config| config.get_bool("core.sparseCheckout").unwrap_or(false))
}

/// Whether libgit2 reads the index in `admin`: one that is split or sparse it does not.
pub(crate) fn has_readable_index(admin: &Path) -> bool {
    // An index does not exist before the first file is added.
    git2::Index::open(&admin.join("index")).map_or_else(|reason| reason.code() == git2::ErrorCode::NotFound, |_| true)
}

/// The lock reason of managed checkouts. It keeps git from pruning them and marks them in `git worktree list`.
pub(crate) const LOCK_REASON: &str = "vibe-relay";

/// Returns the folder that the `gitdir` file of a linked worktree names, without the final `.git`.
pub(crate) fn linked_workdir(admin: &Path) -> Option<PathBuf> {
    let text = read_small(&admin.join("gitdir"))?;
    let named = Path::new(text.trim_end());
    // git may write the path relative to the admin folder (worktree.useRelativePaths).
    let absolute = if named.is_absolute() { named.to_path_buf() } else { fs::canonicalize(admin.join(named)).ok()? };
    Some(absolute.parent()?.to_path_buf())
}

pub(crate) fn read_head(admin: &Path) -> Option<Head> {
    let text = read_small(&admin.join("HEAD"))?;
    let text = text.trim();
    match text.strip_prefix("ref:") {
        Some(reference) => Some(Head::Reference(reference.trim().to_owned())),
        None if text.len() == 40 => Some(Head::Detached(text.to_owned())),
        None => None,
    }
}

/// Reads one of git's small files. Refuses anything but a regular file, because an agent may have put a pipe in its
/// place, which would block the reader, or a link.
pub(crate) fn read_small(path: &Path) -> Option<String> {
    const MAX_BYTES: u64 = 64 * 1024;
    let found = path.symlink_metadata().ok()?;
    if found.is_file() && found.len() <= MAX_BYTES { fs::read_to_string(path).ok() } else { None }
}

fn describe(admin: PathBuf, workdir: PathBuf) -> Checkout {
    let rebasing = ["rebase-merge/head-name", "rebase-apply/head-name"].iter().find_map(|file| read_small(&admin.join(file)));
    Checkout {
        head: read_head(&admin),
        rebasing: rebasing.map(|name| name.trim().to_owned()),
        ours: read_small(&admin.join("locked")).is_some_and(|reason| reason.trim() == LOCK_REASON),
        admin,
        workdir,
    }
}

#[cfg(test)]
mod tests;
