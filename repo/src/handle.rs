//! The one place where a repository is opened, in a way that its contents cannot redirect.
//!
//! A worktree's `.git` file, its on-disk index and `core.worktree` are in the hands of agents. So the common `.git`
//! folder that was recorded at project creation is opened as if it were bare, and the index is a private one in memory.
//! No other file may call an opening function of `git2`; a test reads the sources to prove it.

use std::path::{Path, PathBuf};

use domain::runs::evidence::Sha;
use git2::{ErrorCode, Index, Oid, RepositoryOpenFlags};

use crate::error::{Attempt, RepoError};
use crate::feature;

/// A repository, named by its common `.git` folder. Holds no open file: every call opens it afresh, so it can be kept,
/// cloned and sent between threads, and never works on stale configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    git_dir: PathBuf,
}

impl Repository {
    /// The repository whose common `.git` folder is `git_dir` ([`domain::runs::evidence::Probe::git_dir`]).
    ///
    /// # Errors
    /// As [`Repository::check`].
    pub fn open(git_dir: &Path) -> Result<Self, RepoError> {
        let repository = Self { git_dir: git_dir.to_path_buf() };
        repository.check()?;
        Ok(repository)
    }

    /// Whether the repository is still there and can still be served: cheap enough for every tick of a scheduler.
    ///
    /// # Errors
    /// Names the feature that is not supported, a missing folder, or a foreign owner.
    pub fn check(&self) -> Result<(), RepoError> {
        if !self.git_dir.is_dir() {
            return Err(RepoError::PathMissing { path: self.git_dir.clone() });
        }
        feature::refuse_unsupported(&self.git_dir)?;
        self.handle().map(drop)
    }

    /// The common `.git` folder.
    pub fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    /// A handle without a working directory and with an empty private index: no attribute file of a commit or a
    /// checkout counts.
    pub(crate) fn handle(&self) -> Result<git2::Repository, RepoError> {
        let handle = open_as_bare(&self.git_dir)?;
        attach_index(&handle, None)?;
        Ok(handle)
    }

    /// A handle whose private index is the tree of `commit`, so that the attribute files of that commit count.
    pub(crate) fn handle_with_tree(&self, commit: Oid) -> Result<git2::Repository, RepoError> {
        let handle = open_as_bare(&self.git_dir)?;
        attach_index(&handle, Some(commit))?;
        Ok(handle)
    }

    /// A handle whose working directory is `workdir`, compared with the tree of `commit` and not with any index on disk.
    pub(crate) fn handle_on(&self, workdir: &Path, commit: Oid) -> Result<git2::Repository, RepoError> {
        if !workdir.is_dir() {
            return Err(RepoError::CheckoutMissing { path: workdir.to_path_buf() });
        }
        let handle = self.handle_with_tree(commit)?;
        handle.set_workdir(workdir, false).attempting(|| format!("look at the files in {}", workdir.display()))?;
        Ok(handle)
    }

    /// A handle on one checkout's own folder (`admin`: the common folder or one below `worktrees/`), with that
    /// checkout's HEAD and its index on disk. Only for writing files into `workdir`.
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
    let mut index = Index::new().attempting(|| "make an index in memory".into())?;
    if let Some(commit) = commit {
        let tree = find_commit(handle, commit)?.tree().attempting(|| format!("read the files of {commit}"))?;
        index.read_tree(&tree).attempting(|| format!("list the files of {commit}"))?;
    }
    handle.set_index(&mut index).attempting(|| "use an index in memory".into())
}

/// Reads a full object id; a prefix is refused, because it would be padded with zeros.
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
