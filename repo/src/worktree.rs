//! Creates checkouts for agents. After a kill at any step, a repeated call ends in the same state.
//!
//! Must not use libgit2's `worktree add`, which cannot be repeated after a failure, cannot create a detached checkout,
//! and opens the new folder through its `.git` file. This file writes git's own files in a fixed order, and each step
//! can be repeated. A non-empty index, which is written last, marks a complete checkout. Only incomplete checkouts get
//! their files written.

mod new_files;

use std::fs;
use std::path::Path;

use domain::runs::evidence::Sha;
use git2::build::CheckoutBuilder;
use git2::{Index, IndexEntry, Oid};

use crate::branch;
use crate::checkout::{Head, LOCK_REASON, linked_workdir, read_head, read_small};
use crate::error::{Attempt, RepoError};
use crate::filter::Filters;
use crate::handle::{Repository, find_commit, oid, sha, tree_index};
use crate::rescue::RESCUE_PREFIX;
use crate::stat_cache;

impl Repository {
    /// Creates the checkout `name` at `path` on `branch`. Creates the branch at `start` if it does not exist, and does not
    /// move an existing one. In a complete checkout, repairs only the links.
    ///
    /// `name` must be unique for the path, because it becomes a folder below `.git/worktrees`.
    ///
    /// # Errors
    /// The path or name is in use, the branch is checked out elsewhere, or another branch conflicts with its name.
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
                branch::set_reference(&handle, &branch::branch_ref(branch), None, start, "vibe-relay: task started")?;
                start
            }
        };
        self.lay_out(name, path, &Head::Reference(branch::branch_ref(branch)), tip)
    }

    /// Creates the temporary checkout `name` of exactly `commit` at `path`, on no branch.
    ///
    /// # Errors
    /// Same as [`Repository::add_worktree`], or the commit is missing.
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
            return Err(RepoError::CheckoutName { name: name.to_owned(), why: "another checkout uses it" });
        }
        let filled = is_not_empty(path);
        let index = fs::metadata(admin.join("index")).ok().filter(fs::Metadata::is_file);
        let complete = filled && index.as_ref().is_some_and(|index| index.len() > 0);
        if filled && !complete && !links_to(path, &admin) {
            return Err(RepoError::PathOccupied { path: path.to_path_buf() });
        }

        if filled && !complete && index.is_some() {
            // An empty index is the result of a power cut. The files may be an agent's work, so rescue them first.
            self.rescue(&format!("{RESCUE_PREFIX}{name}/power-cut"), path, &sha(commit))?;
        }
        create_folder(&admin)?;
        write_file(&admin, "locked", LOCK_REASON)?;
        write_file(&admin, "commondir", "../..\n")?;
        write_link_to_files(&admin, path)?;
        if !complete {
            // Remove the index even if all files are gone, because it would show them as deleted.
            remove_if_exists(&admin.join("index"))?;
            remove_if_exists(&admin.join("index.lock"))?;
        }
        if !complete || read_head(&admin).is_none() {
            let text = match head {
                Head::Reference(reference) => format!("ref: {reference}\n"),
                Head::Detached(id) => format!("{id}\n"),
            };
            write_file(&admin, "HEAD", &text)?;
        }
        create_folder(path)?;
        write_link_to_repository(&admin, path)?;
        if complete {
            return Ok(());
        }
        stat_cache::forget(path)?;
        self.write_files(&admin, path, commit, !filled)?;
        stat_cache::write_copy(&admin, path)
    }

    /// Puts a checkout on exactly `commit`, whatever it was on.
    pub(crate) fn set_detached_head(&self, admin: &Path, commit: &Sha) -> Result<(), RepoError> {
        write_file(admin, "HEAD", &format!("{commit}\n"))
    }

    /// Writes the files of `commit`, then the index. Overwrites existing files, which are left from an earlier attempt.
    pub(crate) fn write_files(&self, admin: &Path, path: &Path, commit: Oid, is_new: bool) -> Result<(), RepoError> {
        let checking_out = || format!("check out {commit} to {}", path.display());
        let attributes = self.handle_with_tree(commit)?;
        let files: Vec<IndexEntry> = tree_index(&attributes, commit)?.iter().collect();
        let draft = admin.join(draft_name("index"));
        remove_if_exists(&draft)?;
        let mut index = Index::open(&draft).attempting(checking_out)?;
        if !is_new || !self.write_new_files(&mut index, path, &files)? {
            let handle = self.checkout_handle(admin, path)?;
            handle.set_index(&mut index).attempting(checking_out)?;
            let tree = find_commit(&handle, commit)?.into_object();
            handle.checkout_tree(&tree, Some(CheckoutBuilder::new().force())).attempting(checking_out)?;
        }
        let filters = Filters::new(self, &attributes);
        for file in filters.smudge(path, &filters.pick(&files, |_| true)?)? {
            index.add(&file).attempting(checking_out)?;
        }
        // Last, because it marks a complete checkout.
        index.write().attempting(checking_out)?;
        fs::rename(&draft, admin.join("index")).attempting(checking_out)
    }
}

/// Returns whether `path` contains anything except our own draft file.
fn is_not_empty(path: &Path) -> bool {
    match fs::read_dir(path) {
        Ok(entries) => entries.flatten().any(|entry| entry.file_name() != draft_name(".git").as_str()),
        Err(_) => path.symlink_metadata().is_ok(),
    }
}

fn draft_name(name: &str) -> String {
    format!("{name}.vibe-relay")
}

/// Returns whether the `.git` file at `path` names `admin`.
pub(crate) fn links_to(path: &Path, admin: &Path) -> bool {
    read_small(&path.join(".git")).is_some_and(|text| text.trim_end().strip_prefix("gitdir: ").map(Path::new) == Some(admin))
}

/// Links an existing checkout with the folder that git keeps its data in.
pub(crate) fn write_links(admin: &Path, path: &Path) -> Result<(), RepoError> {
    write_link_to_files(admin, path)?;
    write_link_to_repository(admin, path)
}

fn write_link_to_files(admin: &Path, path: &Path) -> Result<(), RepoError> {
    write_file(admin, "gitdir", &format!("{}\n", path.join(".git").display()))
}

pub(crate) fn write_link_to_repository(admin: &Path, path: &Path) -> Result<(), RepoError> {
    write_file(path, ".git", &format!("gitdir: {}\n", admin.display()))
}

fn create_folder(path: &Path) -> Result<(), RepoError> {
    fs::create_dir_all(path).attempting(|| format!("create the folder {}", path.display()))
}

/// Writes a small file atomically. Replaces a symbolic link instead of following it.
fn write_file(folder: &Path, name: &str, text: &str) -> Result<(), RepoError> {
    let target = folder.join(name);
    if read_small(&target).is_some_and(|found| found == text) {
        return Ok(());
    }
    let draft = folder.join(draft_name(name));
    let writing = || format!("write {}", target.display());
    remove_if_exists(&draft)?;
    fs::write(&draft, text).attempting(writing)?;
    if target.is_dir() && !target.is_symlink() {
        // An agent ran `git init` in its checkout. Move the new folder aside to keep its contents.
        fs::rename(&target, folder.join(format!("{name}.found"))).attempting(writing)?;
    }
    fs::rename(&draft, &target).attempting(writing)
}

pub(crate) fn remove_if_exists(path: &Path) -> Result<(), RepoError> {
    match fs::remove_file(path) {
        Err(reason) if reason.kind() != std::io::ErrorKind::NotFound => {
            Err(RepoError::Io { attempted: format!("remove {}", path.display()), reason })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
