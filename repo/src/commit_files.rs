//! Lists the files at the tip of a branch with their sizes. Must not read what is in them.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use domain::warroom::commit_files::{CommitFile, CommitFiles};
use git2::{ObjectType, Oid, TreeWalkMode, TreeWalkResult};

use crate::branch::tip;
use crate::error::{Attempt, RepoError};
use crate::handle::{Repository, find_commit, sha};
use crate::lane::{Effort, in_lane};
use crate::probe::{branches, similar_names};

/// The most files that are listed.
const MAX_FILES: usize = 100_000;
/// Trees whose files are remembered, because a page asks for the same one again and again. The files of a tree never change.
const MAX_KNOWN: usize = 4;

type KnownTrees = VecDeque<(Oid, Arc<Vec<CommitFile>>)>;

static KNOWN: LazyLock<Mutex<KnownTrees>> = LazyLock::new(Mutex::default);

/// Lists the files of the first of `branches` that exists, and passes them to `work`, which may take as long as reading them.
///
/// # Errors
/// No branch exists, or the repository cannot be read or does not respond.
pub async fn with_commit_files<T: Send + 'static>(
    git_dir: &Path,
    branches: Vec<String>,
    work: impl FnOnce(&CommitFiles) -> T + Send + 'static,
) -> Result<T, RepoError> {
    let opened: PathBuf = git_dir.to_owned();
    in_lane(git_dir, Effort::Long, move || Ok(work(&Repository::open(&opened)?.commit_files(&branches)?))).await?
}

impl Repository {
    /// Lists the files of the first of `names` that is a branch. Symbolic links and submodules are no files of their own.
    ///
    /// # Errors
    /// [`RepoError::BranchMissing`] if none exists.
    pub fn commit_files(&self, names: &[String]) -> Result<CommitFiles, RepoError> {
        let handle = self.handle()?;
        for branch in names {
            let Some(commit) = tip(&handle, branch)? else { continue };
            let tree = find_commit(&handle, commit)?.tree().attempting(|| format!("list the files of {branch}"))?;
            let files = match known(tree.id()) {
                Some(files) => files,
                None => remember(tree.id(), list(&handle, &tree)?),
            };
            return Ok(CommitFiles { branch: branch.clone(), commit: sha(commit), files: files.as_ref().clone() });
        }
        let branch = names.last().cloned().unwrap_or_default();
        Err(RepoError::BranchMissing { near: similar_names(&branch, &branches(&handle, None)?), branch })
    }
}

fn list(handle: &git2::Repository, tree: &git2::Tree<'_>) -> Result<Vec<CommitFile>, RepoError> {
    let listing = || "list the files of a commit".to_owned();
    let objects = handle.odb().attempting(listing)?;
    let mut files = Vec::new();
    let mut failed = None;
    let walked = tree.walk(TreeWalkMode::PreOrder, |folder, entry| {
        let is_file = entry.kind() == Some(ObjectType::Blob) && entry.filemode() != i32::from(git2::FileMode::Link);
        if is_file && files.len() < MAX_FILES {
            match objects.read_header(entry.id()) {
                Ok((bytes, _)) => {
                    files.push(CommitFile { path: format!("{folder}{}", String::from_utf8_lossy(entry.name_bytes())), bytes: bytes as u64 });
                }
                Err(reason) => {
                    failed = Some(reason);
                    return TreeWalkResult::Abort;
                }
            }
        }
        TreeWalkResult::Ok
    });
    match failed {
        Some(reason) => Err(RepoError::Git { attempted: listing(), reason }),
        None => walked.map(|()| files).attempting(listing),
    }
}

fn known(tree: Oid) -> Option<Arc<Vec<CommitFile>>> {
    let known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.iter().find(|(id, _)| *id == tree).map(|(_, files)| files.clone())
}

fn remember(tree: Oid, files: Vec<CommitFile>) -> Arc<Vec<CommitFile>> {
    let files = Arc::new(files);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.push_front((tree, files.clone()));
    known.truncate(MAX_KNOWN);
    files
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestRepository;

    #[test]
    fn files_of_the_first_branch_that_exists_have_their_sizes() {
        let sample = TestRepository::new();
        let head = sample.commit_on("work", &[("src/b.rs", Some("four")), ("README.md", None)], "work");
        let repository = sample.repository();
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        for _ in 0..2 {
            let found = repository.commit_files(&names(&["gone", "work", "main"])).unwrap();
            assert_eq!((found.branch.as_str(), &found.commit), ("work", &head));
            assert_eq!(found.files, [CommitFile { path: "src/b.rs".to_owned(), bytes: 4 }]);
        }
        assert_eq!(repository.commit_files(&names(&["main"])).unwrap().files[0].path, "README.md");
        let error = repository.commit_files(&names(&["gone"])).unwrap_err();
        assert!(matches!(error, RepoError::BranchMissing { .. }), "{error}");
    }
}
