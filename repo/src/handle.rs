//! Opens repositories. No other file may do so, because the contents of a repository must not redirect the access.
//!
//! Agents control a worktree's `.git` file, its on-disk index and `core.worktree`. This file therefore opens the common
//! `.git` folder recorded at project creation as if it were bare, with a private index in memory.
//! A test reads the sources and finds any other call of an opening function of `git2`.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use domain::runs::evidence::Sha;
use git2::{ErrorCode, Index, ObjectType, Oid, RepositoryOpenFlags};

use crate::error::{Attempt, RepoError};
use crate::feature;
use crate::file_stat::plain_entry;

/// A repository, identified by its common `.git` folder. Holds no open file. Every call opens the repository again, so
/// this can be stored, cloned and sent between threads, and never uses stale configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    git_dir: PathBuf,
}

impl Repository {
    /// Opens the repository whose common `.git` folder is `git_dir` ([`domain::runs::evidence::RepositoryInfo::git_dir`]).
    ///
    /// # Errors
    /// Same as [`Repository::check`].
    pub fn open(git_dir: &Path) -> Result<Self, RepoError> {
        let repository = Self { git_dir: git_dir.to_path_buf() };
        repository.check()?;
        Ok(repository)
    }

    /// Makes an empty bare repository with the folders above it, whose branch is `main`. It copies no template, because that can have hooks.
    pub(crate) fn make_bare(git_dir: &Path) -> Result<(), RepoError> {
        let mut options = git2::RepositoryInitOptions::new();
        options.bare(true).external_template(false).initial_head("main").mkpath(true);
        git2::Repository::init_opts(git_dir, &options).map(drop).attempting(|| format!("make the repository {}", git_dir.display()))
    }

    /// Names a repository without a look at it.
    pub(crate) fn at(git_dir: PathBuf) -> Self {
        Self { git_dir }
    }

    /// Checks that the repository exists and is supported. Cheap enough for every tick of a scheduler.
    ///
    /// # Errors
    /// The folder is missing, belongs to another user, or uses an unsupported feature.
    pub fn check(&self) -> Result<(), RepoError> {
        if !self.git_dir.is_dir() {
            return Err(RepoError::RepositoryMissing { path: self.git_dir.clone() });
        }
        feature::check_features(&self.git_dir)?;
        self.handle().map(drop)
    }

    /// Returns the common `.git` folder.
    pub fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    /// Opens a handle without a working directory and with an empty private index, so attribute files of commits and
    /// checkouts are ignored.
    pub(crate) fn handle(&self) -> Result<git2::Repository, RepoError> {
        let handle = open_as_bare(&self.git_dir)?;
        attach_index(&handle, None)?;
        Ok(handle)
    }

    /// Opens a handle whose private index is the tree of `commit`, so the attribute files of that commit apply.
    pub(crate) fn handle_with_tree(&self, commit: Oid) -> Result<git2::Repository, RepoError> {
        let handle = open_as_bare(&self.git_dir)?;
        attach_index(&handle, Some(commit))?;
        Ok(handle)
    }

    /// Opens a handle on `workdir` that compares it with the tree of `commit`, never with an index on disk.
    pub(crate) fn handle_on(&self, workdir: &Path, commit: Oid) -> Result<git2::Repository, RepoError> {
        self.handle_on_index(workdir, |handle| tree_index(handle, commit)).map(|(handle, _)| handle)
    }

    /// Opens a handle on `workdir` that compares it with the private index that `list` makes of the repository.
    pub(crate) fn handle_on_index(
        &self,
        workdir: &Path,
        list: impl FnOnce(&git2::Repository) -> Result<Index, RepoError>,
    ) -> Result<(git2::Repository, Index), RepoError> {
        if !workdir.is_dir() {
            return Err(RepoError::CheckoutMissing { path: workdir.to_path_buf() });
        }
        let handle = open_as_bare(&self.git_dir)?;
        let mut index = list(&handle)?;
        handle.set_index(&mut index).attempting(|| "use an index in memory".into())?;
        handle.set_workdir(workdir, false).attempting(|| format!("read the files in {}", workdir.display()))?;
        Ok((handle, index))
    }

    /// Opens a handle on one checkout's own folder (`admin`: the common folder or one below `worktrees/`), with that
    /// checkout's HEAD and index on disk. Use it only to write files into `workdir`.
    pub(crate) fn checkout_handle(&self, admin: &Path, workdir: &Path) -> Result<git2::Repository, RepoError> {
        let handle = open_as_bare(admin)?;
        handle.set_workdir(workdir, false).attempting(|| format!("write files to {}", workdir.display()))?;
        Ok(handle)
    }
}

fn open_as_bare(git_dir: &Path) -> Result<git2::Repository, RepoError> {
    let flags = RepositoryOpenFlags::BARE | RepositoryOpenFlags::NO_SEARCH | RepositoryOpenFlags::NO_DOTGIT;
    git2::Repository::open_ext(git_dir, flags, std::iter::empty::<&Path>()).map_err(|reason| match reason.code() {
        ErrorCode::Owner => RepoError::WrongOwner { path: git_dir.to_path_buf() },
        ErrorCode::NotFound => RepoError::NotARepository { path: git_dir.to_path_buf() },
        _ => RepoError::Git { attempted: format!("open the repository {}", git_dir.display()), reason },
    })
}

fn attach_index(handle: &git2::Repository, commit: Option<Oid>) -> Result<(), RepoError> {
    let mut index = match commit {
        Some(commit) => tree_index(handle, commit)?,
        None => empty_index()?,
    };
    handle.set_index(&mut index).attempting(|| "use an index in memory".into())
}

/// Lists the files of `commit` in a private index.
pub(crate) fn tree_index(handle: &git2::Repository, commit: Oid) -> Result<Index, RepoError> {
    let tree = find_commit(handle, commit)?.tree().attempting(|| format!("read the files of {commit}"))?;
    let mut index = empty_index()?;
    index.read_tree(&tree).attempting(|| format!("list the files of {commit}"))?;
    Ok(index)
}

/// Lists those of `paths` that are files in `commit` in a private index. The cost grows with their number alone.
pub(crate) fn tree_index_of<'a>(handle: &git2::Repository, commit: Oid, paths: impl IntoIterator<Item = &'a Path>) -> Result<Index, RepoError> {
    let listing = || format!("list files of {commit}");
    let tree = find_commit(handle, commit)?.tree().attempting(|| format!("read the files of {commit}"))?;
    let mut index = empty_index()?;
    for path in paths {
        let entry = match tree.get_path(path) {
            Ok(entry) if entry.kind() == Some(ObjectType::Tree) => continue,
            Ok(entry) => plain_entry(path.as_os_str().as_bytes(), entry.id(), entry.filemode().cast_unsigned()),
            Err(error) if error.code() == ErrorCode::NotFound => continue,
            Err(error) => return Err(error).attempting(listing),
        };
        index.add(&entry).attempting(listing)?;
    }
    Ok(index)
}

fn empty_index() -> Result<Index, RepoError> {
    Index::new().attempting(|| "create an index in memory".into())
}

/// Parses a full object id. Rejects a prefix, because libgit2 would pad it with zeros.
pub(crate) fn oid(sha: &str) -> Result<Oid, RepoError> {
    let whole = sha.len() == 40;
    Oid::from_str(sha).ok().filter(|_| whole).ok_or_else(|| RepoError::NotASha { sha: sha.to_owned() })
}

pub(crate) fn sha(oid: Oid) -> Sha {
    oid.to_string()
}

pub(crate) fn find_commit(handle: &git2::Repository, commit: Oid) -> Result<git2::Commit<'_>, RepoError> {
    handle.find_commit(commit).map_err(|reason| match reason.code() {
        ErrorCode::NotFound => RepoError::CommitMissing { sha: sha(commit) },
        _ => RepoError::Git { attempted: format!("read the commit {commit}"), reason },
    })
}

#[cfg(test)]
mod tests;
