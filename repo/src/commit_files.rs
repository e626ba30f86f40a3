//! Lists the files at the tip of a branch with their sizes. Must not read what is in them.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

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

#[derive(Debug, Default)]
struct KnownTrees(Mutex<VecDeque<(Oid, Arc<[CommitFile]>)>>);

static KNOWN: KnownTrees = KnownTrees(Mutex::new(VecDeque::new()));

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
            let files = KNOWN.files(tree.id(), || list(&handle, &tree))?;
            return Ok(CommitFiles { branch: branch.clone(), commit: sha(commit), files });
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

impl KnownTrees {
    /// Returns the files of a tree, which `list` reads if nobody asked for them lately.
    fn files(&self, tree: Oid, list: impl FnOnce() -> Result<Vec<CommitFile>, RepoError>) -> Result<Arc<[CommitFile]>, RepoError> {
        let newest_first = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, files)) = newest_first().iter().find(|(id, _)| *id == tree) {
            return Ok(files.clone());
        }
        // Without the lock, because it reads the disk.
        let files: Arc<[CommitFile]> = list()?.into();
        let mut known = newest_first();
        known.push_front((tree, files.clone()));
        known.truncate(MAX_KNOWN);
        Ok(files)
    }
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
            assert_eq!(*found.files, [CommitFile { path: "src/b.rs".to_owned(), bytes: 4 }]);
        }
        assert_eq!(repository.commit_files(&names(&["main"])).unwrap().files[0].path, "README.md");
        let error = repository.commit_files(&names(&["gone"])).unwrap_err();
        assert!(matches!(error, RepoError::BranchMissing { .. }), "{error}");
    }

    #[test]
    fn tree_that_is_asked_for_again_is_not_read_again() {
        let known = KnownTrees::default();
        let tree = |number: usize| Oid::from_bytes(&[u8::try_from(number).unwrap(); 20]).unwrap();
        let file = |path: &str| CommitFile { path: path.to_owned(), bytes: 1 };
        let read = |number: usize| known.files(tree(number), || Ok(vec![file("read")])).unwrap();
        assert_eq!(known.files(tree(0), || Ok(vec![file("first")])).unwrap()[0].path, "first");
        assert_eq!(read(0)[0].path, "first");
        for number in 1..=MAX_KNOWN {
            read(number);
        }
        assert_eq!(known.0.lock().unwrap().len(), MAX_KNOWN);
        assert_eq!(read(0)[0].path, "read", "few trees are remembered");
    }
}
