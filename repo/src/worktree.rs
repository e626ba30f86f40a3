//! Makes checkouts for agents, so that a kill after any step and a repeat end in the same state.
//!
//! git's own files are written here in a fixed order, each step repeatable, instead of through libgit2's `worktree add`:
//! that one cannot be repeated after a failure, cannot make a detached checkout, and opens the new folder through its
//! `.git` file. An index that is not empty, which the checkout writes last, marks a complete checkout; only an incomplete
//! one is filled.

use std::fs;
use std::path::Path;

use domain::runs::evidence::Sha;
use git2::Oid;
use git2::build::CheckoutBuilder;

use crate::branch;
use crate::checkout::{Head, LOCK_REASON, linked_workdir, read_head, read_small};
use crate::error::{Attempt, RepoError};
use crate::handle::{Repository, find_commit, oid, sha};
use crate::rescue::RESCUE_PREFIX;

impl Repository {
    /// Makes the checkout `name` at `path` on `branch`. The branch is created at `start` when it does not exist; an
    /// existing one is checked out where it is. A complete checkout is left as it is, only its links are repaired.
    ///
    /// `name` has to be unique for the path: it becomes a folder below `.git/worktrees`.
    ///
    /// # Errors
    /// The path or name is taken by something else, the branch is checked out elsewhere, or another branch stands in
    /// the way.
    pub fn add_worktree(&self, name: &str, path: &Path, branch: &str, start: &Sha) -> Result<(), RepoError> {
        let admin = self.admin_dir(name)?;
        let elsewhere = self.checkouts()?.into_iter().find(|other| other.admin != admin && other.occupies(branch));
        if let Some(other) = elsewhere {
            return Err(RepoError::CheckedOut { branch: branch.to_owned(), path: other.workdir });
        }
        let handle = self.handle()?;
        let tip = match branch::tip(&handle, branch)? {
            Some(tip) => tip,
            None => {
                let start = find_commit(&handle, oid(start)?)?.id();
                branch::set_reference(&handle, &branch::full_name(branch), None, start, "vibe-relay: task started")?;
                start
            }
        };
        self.lay_out(name, path, &Head::Reference(branch::full_name(branch)), tip)
    }

    /// Makes the throw-away checkout `name` of exactly `commit` at `path`, on no branch.
    ///
    /// # Errors
    /// As [`Repository::add_worktree`], or the commit is missing.
    pub fn add_detached(&self, name: &str, path: &Path, commit: &Sha) -> Result<(), RepoError> {
        let id = find_commit(&self.handle()?, oid(commit)?)?.id();
        self.lay_out(name, path, &Head::Detached(commit.clone()), id)
    }

    fn lay_out(&self, name: &str, path: &Path, head: &Head, commit: Oid) -> Result<(), RepoError> {
        let admin = self.admin_dir(name)?;
        if !path.is_absolute() || self.git_dir().starts_with(path) {
            return Err(RepoError::PathOccupied { path: path.to_path_buf() });
        }
        if linked_workdir(&admin).is_some_and(|other| other != path && other.exists()) {
            return Err(RepoError::CheckoutName { name: name.to_owned(), why: "another checkout has it" });
        }
        let filled = holds_anything(path);
        let index = fs::metadata(admin.join("index")).ok().filter(fs::Metadata::is_file);
        let complete = filled && index.as_ref().is_some_and(|index| index.len() > 0);
        if filled && !complete && !links_to(path, &admin) {
            return Err(RepoError::PathOccupied { path: path.to_path_buf() });
        }

        if filled && !complete && index.is_some() {
            // Empty: what a power cut leaves of one that was just written. By whom cannot be told any more, so what is
            // there may be an agent's work.
            self.rescue(&format!("{RESCUE_PREFIX}{name}/power-cut"), path, &sha(commit))?;
        }
        create_folder(&admin)?;
        write_file(&admin, "locked", LOCK_REASON)?;
        write_file(&admin, "commondir", "../..\n")?;
        write_file(&admin, "gitdir", &format!("{}\n", path.join(".git").display()))?;
        if !complete {
            // Also when the files of a once complete checkout are gone: its index would make it look like deletions.
            remove_if_there(&admin.join("index"))?;
            remove_if_there(&admin.join("index.lock"))?;
        }
        if !complete || read_head(&admin).is_none() {
            let text = match head {
                Head::Reference(reference) => format!("ref: {reference}\n"),
                Head::Detached(id) => format!("{id}\n"),
            };
            write_file(&admin, "HEAD", &text)?;
        }
        create_folder(path)?;
        write_file(path, ".git", &format!("gitdir: {}\n", admin.display()))?;
        if complete { Ok(()) } else { self.fill(&admin, path, commit) }
    }

    /// Writes the files of `commit`, then the index. Forced, because what is there is left from an earlier attempt.
    fn fill(&self, admin: &Path, path: &Path, commit: Oid) -> Result<(), RepoError> {
        let handle = self.checkout_handle(admin, path)?;
        let tree = find_commit(&handle, commit)?.into_object();
        handle.checkout_tree(&tree, Some(CheckoutBuilder::new().force())).attempting(|| format!("check out {commit} to {}", path.display()))
    }
}

/// Whether something is at `path` besides a draft of our own.
fn holds_anything(path: &Path) -> bool {
    match fs::read_dir(path) {
        Ok(entries) => entries.flatten().any(|entry| entry.file_name() != draft_of(".git").as_str()),
        Err(_) => path.symlink_metadata().is_ok(),
    }
}

fn draft_of(name: &str) -> String {
    format!("{name}.vibe-relay")
}

/// Whether the `.git` file at `path` names `admin`.
pub(crate) fn links_to(path: &Path, admin: &Path) -> bool {
    read_small(&path.join(".git")).is_some_and(|text| text.trim_end().strip_prefix("gitdir: ").map(Path::new) == Some(admin))
}

fn create_folder(path: &Path) -> Result<(), RepoError> {
    fs::create_dir_all(path).attempting(|| format!("make the folder {}", path.display()))
}

/// Writes a small file whole or not at all. A symbolic link in its place is replaced, not followed.
fn write_file(folder: &Path, name: &str, text: &str) -> Result<(), RepoError> {
    let target = folder.join(name);
    if read_small(&target).is_some_and(|found| found == text) {
        return Ok(());
    }
    let draft = folder.join(draft_of(name));
    let writing = || format!("write {}", target.display());
    remove_if_there(&draft)?;
    fs::write(&draft, text).attempting(writing)?;
    if target.is_dir() && !target.is_symlink() {
        // An agent ran `git init` in its checkout. The new folder is kept aside, so that nothing in it is lost.
        fs::rename(&target, folder.join(format!("{name}.found"))).attempting(writing)?;
    }
    fs::rename(&draft, &target).attempting(writing)
}

fn remove_if_there(path: &Path) -> Result<(), RepoError> {
    match fs::remove_file(path) {
        Err(reason) if reason.kind() != std::io::ErrorKind::NotFound => {
            Err(RepoError::Io { attempted: format!("remove {}", path.display()), reason })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
