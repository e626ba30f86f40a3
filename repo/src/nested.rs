//! Nested repositories of a checkout: finds them, and keeps their commits in the main repository before the checkout is removed.
//!
//! An agent controls every file in them, so a nested repository is opened like the main one, and only after a look at its files. Must not
//! remove anything.

mod find;
mod link;

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use git2::{Oid, Revwalk};

use crate::branch::{contains, reference_target};
use crate::checkout::{Head, read_head};
use crate::error::{Attempt, RepoError};
use crate::handle::{Repository, find_commit, oid, sha};
use crate::rescue::{RESCUE_PREFIX, RESCUED, require_rescue_prefix};
use crate::stat_cache::StatCache;

pub(crate) use link::nested_links;

/// A repository inside a checkout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NestedRepository {
    /// The folder of its files, relative to the checkout. Of a submodule without files, its name.
    pub path: String,
    git_dir: PathBuf,
    /// The folder of its files, unless git does not track changes there.
    workdir: Option<PathBuf>,
}

impl NestedRepository {
    /// Returns a name for this repository that can be part of a reference.
    pub fn reference_name(&self) -> String {
        let name: String = self.path.chars().map(|letter| if letter.is_ascii_alphanumeric() || letter == '_' { letter } else { '-' }).collect();
        let digest = Oid::hash_object(git2::ObjectType::Blob, self.path.as_bytes()).map(|id| id.to_string()).unwrap_or_default();
        format!("{}-{}", name.trim_matches('-'), digest.get(..8).unwrap_or_default())
    }
}

/// The outcome of keeping the commits of a nested repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NestedWork {
    /// It has no commit that is not also elsewhere.
    Nothing,
    /// The reference keeps its commits and its uncommitted files.
    Kept,
    /// They cannot be kept, for this reason.
    NotKept { why: String },
}

/// The largest nested repository that is copied.
const MAX_BYTES: u64 = 512 * 1024 * 1024;

impl Repository {
    /// Copies the commits of `nested` that neither its remotes nor this repository have, with their history, and points `reference` to
    /// them. Uncommitted files become a commit first. Several tips, and an earlier rescue of that name, become parents of one commit.
    ///
    /// # Errors
    /// `reference` is not below [`RESCUE_PREFIX`], or this repository cannot be written.
    pub fn rescue_nested(&self, reference: &str, nested: &NestedRepository) -> Result<NestedWork, RepoError> {
        require_rescue_prefix(reference)?;
        let inner = Self::at(nested.git_dir.clone());
        let handle = self.handle()?;
        let tips = match inner.check_files().and_then(|()| inner.copy_tips(&handle, nested, reference)) {
            Ok(tips) if tips.is_empty() => return Ok(NestedWork::Nothing),
            Ok(tips) => tips,
            Err(error) => return Ok(NestedWork::NotKept { why: error.to_string() }),
        };
        // Opened again, because the other handle does not know the new objects.
        let handle = self.handle()?;
        let earlier = reference_target(&handle, reference)?;
        let parents: Vec<Oid> = tips.iter().copied().chain(earlier).collect();
        let kept = match (earlier, parents.as_slice()) {
            (Some(earlier), _) if tips.iter().all(|tip| contains(&handle, earlier, *tip)) => earlier,
            (_, [only]) => *only,
            (_, parents) => self.join(&handle, &nested.path, parents)?,
        };
        self.keep_commit(&handle, reference, earlier, kept, RESCUED)?;
        Ok(NestedWork::Kept)
    }

    /// Creates a commit that keeps several tips reachable.
    fn join(&self, handle: &git2::Repository, path: &str, parents: &[Oid]) -> Result<Oid, RepoError> {
        let commits = parents.iter().map(|id| find_commit(handle, *id)).collect::<Result<Vec<_>, _>>()?;
        let joining = || format!("join the branches of the nested repository {path}");
        let tree = commits.first().ok_or(RepoError::NotASha { sha: String::new() })?.tree().attempting(joining)?;
        let signature = self.identity("rescue")?.signature()?;
        let message = format!("Branches of the nested repository {path}\n");
        handle.commit(None, &signature, &signature, &message, &tree, &commits.iter().collect::<Vec<_>>()).attempting(joining)
    }

    /// Refuses what would block or mislead a reader: a pipe or device among git's files, a partial history, or a very large repository.
    fn check_files(&self) -> Result<(), RepoError> {
        let reading = || format!("read {}", self.git_dir().display());
        let bytes = total_size(self.git_dir()).attempting(reading)?;
        if bytes > MAX_BYTES {
            return Err(not_copied(format!("it has {} MB, and at most {} MB are copied", bytes >> 20, MAX_BYTES >> 20)));
        }
        if self.git_dir().join("shallow").exists() {
            return Err(not_copied("it is a shallow clone".to_owned()));
        }
        self.check()
    }

    /// Copies what only this nested repository has to `main`, and returns the tips that reach all of it. Commits that its remotes have do
    /// not count, nor do those that `main` has under another name than `reference`.
    fn copy_tips(&self, main: &git2::Repository, nested: &NestedRepository, reference: &str) -> Result<Vec<Oid>, RepoError> {
        let handle = self.handle()?;
        let listing = || format!("list the commits of {}", nested.path);
        let (mut own, mut on_remotes) = (BTreeSet::new(), Vec::new());
        for found in handle.references().attempting(listing)? {
            let found = found.attempting(listing)?;
            let Ok(commit) = found.peel_to_commit() else { continue };
            if found.is_remote() {
                on_remotes.push(commit.id());
            } else {
                own.insert(commit.id());
            }
        }
        if let Some(head) = self.head_commit(&handle)? {
            own.insert(head);
            if let Some(workdir) = &nested.workdir
                // Files beside a nested repository belong to the agent.
                && let Some(rescue) = self.rescue_files(&format!("{RESCUE_PREFIX}uncommitted"), workdir, &sha(head), &StatCache::default())?
            {
                if !rescue.skipped.is_empty() {
                    return Err(not_copied(format!("these files cannot be kept: {}", rescue.skipped.join(", "))));
                }
                own.insert(oid(&rescue.sha)?);
            }
        }
        let mut in_main = Vec::new();
        for found in main.references().attempting(listing)? {
            let found = found.attempting(listing)?;
            let is_other = found.name_bytes() != reference.as_bytes();
            in_main.extend(found.peel_to_commit().ok().map(|commit| commit.id()).filter(|id| is_other && handle.find_commit(*id).is_ok()));
        }
        let unique = walk(&handle, &own, on_remotes.iter().chain(&in_main)).and_then(Iterator::collect::<Result<Vec<_>, _>>).attempting(listing)?;
        let mut parents = BTreeSet::new();
        for id in &unique {
            parents.extend(find_commit(&handle, *id)?.parent_ids());
        }
        let tips: Vec<Oid> = unique.into_iter().filter(|id| !parents.contains(id)).collect();
        if !tips.is_empty() {
            let copying = || format!("copy the commits of {}", nested.path);
            let mut builder = handle.packbuilder().attempting(copying)?;
            builder.insert_walk(&mut walk(&handle, &tips, &in_main).attempting(copying)?).attempting(copying)?;
            builder.write(&main.path().join("objects/pack"), 0o444).attempting(copying)?;
        }
        Ok(tips)
    }

    fn head_commit(&self, handle: &git2::Repository) -> Result<Option<Oid>, RepoError> {
        match read_head(self.git_dir()) {
            Some(Head::Detached(id)) => Ok(Some(oid(&id)?)),
            Some(Head::Reference(name)) => reference_target(handle, &name),
            None => Ok(None),
        }
    }
}

fn walk<'a, 'b>(
    handle: &'a git2::Repository,
    tips: impl IntoIterator<Item = &'b Oid>,
    hidden: impl IntoIterator<Item = &'b Oid>,
) -> Result<Revwalk<'a>, git2::Error> {
    let mut walk = handle.revwalk()?;
    for tip in tips {
        walk.push(*tip)?;
    }
    for hidden in hidden {
        walk.hide(*hidden)?;
    }
    Ok(walk)
}

fn not_copied(why: String) -> RepoError {
    RepoError::Io { attempted: "copy it".to_owned(), reason: io::Error::other(why) }
}

/// The size of all files below `folder`. Fails at a file that would block its reader.
fn total_size(folder: &Path) -> io::Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let found = path.symlink_metadata()?;
        if found.is_dir() {
            bytes += total_size(&path)?;
        } else if found.is_file() {
            bytes += found.len();
        } else {
            return Err(io::Error::other(format!("{} is neither a file nor a folder", path.display())));
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests;
