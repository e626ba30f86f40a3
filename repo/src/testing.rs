//! Temporary repositories for tests, written through git2 so that most tests need no `git` program.
//!
//! Panics instead of returning errors, because a test cannot handle them. Must not be part of the product.

pub mod hostile;

use std::fs;
use std::path::{Path, PathBuf};

use domain::runs::evidence::Sha;
use git2::{IndexAddOption, RepositoryInitOptions, Signature};
use tempfile::TempDir;

use crate::Repository;

/// A repository with one commit on `main`, which is checked out at [`TestRepository::top`].
#[derive(Debug)]
pub struct TestRepository {
    dir: TempDir,
    top: PathBuf,
}

impl Default for TestRepository {
    fn default() -> Self {
        Self::new()
    }
}

impl TestRepository {
    /// Creates a repository whose only file is a `README.md` with one line.
    pub fn new() -> Self {
        let sample = Self::empty();
        sample.write("README.md", "a sample\n");
        sample.commit_all("start");
        sample
    }

    /// Creates a repository without a commit.
    pub fn empty() -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let top = dir.path().canonicalize().expect("a real path").join("repository");
        let mut options = RepositoryInitOptions::new();
        let made = git2::Repository::init_opts(&top, options.initial_head("main")).expect("a repository");
        let mut config = made.config().expect("a configuration");
        config.set_str("user.name", "Sam Sample").expect("a name");
        config.set_str("user.email", "sam@example.org").expect("an address");
        Self { dir, top }
    }

    /// Returns the top folder of the checkout.
    pub fn top(&self) -> &Path {
        &self.top
    }

    /// Returns the common `.git` folder.
    pub fn git_dir(&self) -> PathBuf {
        self.top.join(".git")
    }

    /// Returns a path next to the repository, for worktrees.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.top.with_file_name(name)
    }

    /// Returns the temporary folder with all files of the test. It is deleted on drop.
    pub fn root(&self) -> &Path {
        self.dir.path()
    }

    pub fn repository(&self) -> Repository {
        Repository::open(&self.git_dir()).expect("a supported repository")
    }

    /// Writes a file of the main checkout, and creates its folders.
    pub fn write(&self, path: &str, content: &str) {
        write_in(&self.top, path, content);
    }

    pub fn read(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.top.join(path)).ok()
    }

    /// Commits all changes of the main checkout on its branch.
    pub fn commit_all(&self, message: &str) -> Sha {
        commit_all_in(&self.top, message)
    }

    /// Commits `files` on `branch` without changing a checkout. Creates the branch from `main` if it is missing.
    /// A file without content is removed.
    pub fn commit_on(&self, branch: &str, files: &[(&str, Option<&str>)], message: &str) -> Sha {
        let git = open(&self.top);
        let name = format!("refs/heads/{branch}");
        let parent = git.find_reference(&name).or_else(|_| git.find_reference("refs/heads/main")).expect("a start");
        let parent = parent.peel_to_commit().expect("a commit");
        let mut changes = git2::build::TreeUpdateBuilder::new();
        for (path, content) in files {
            match content {
                Some(content) => changes.upsert(*path, git.blob(content.as_bytes()).expect("a blob"), git2::FileMode::Blob),
                None => changes.remove(*path),
            };
        }
        let tree = changes.create_updated(&git, &parent.tree().expect("a tree")).expect("a new tree");
        let tree = git.find_tree(tree).expect("the new tree");
        let signature = signature();
        let commit = git.commit(None, &signature, &signature, message, &tree, &[&parent]).expect("a commit");
        git.reference(&name, commit, true, message).expect("a branch");
        commit.to_string()
    }

    /// Creates a commit with the files of `files_of` and these parents, on no branch.
    pub fn commit_as(&self, files_of: &str, parents: &[&str], message: &str) -> Sha {
        let git = open(&self.top);
        let commit = |sha: &str| git.find_commit(git2::Oid::from_str(sha).expect("a commit id")).expect("a commit");
        let (tree, parents) = (commit(files_of).tree().expect("a tree"), parents.iter().map(|sha| commit(sha)).collect::<Vec<_>>());
        let signature = signature();
        git.commit(None, &signature, &signature, message, &tree, &parents.iter().collect::<Vec<_>>()).expect("a commit").to_string()
    }

    /// Points `branch` to `commit`, and creates the branch if it is missing.
    pub fn set_branch(&self, branch: &str, commit: &str) {
        self.set_reference(&format!("refs/heads/{branch}"), commit);
    }

    /// Points the reference `name` to `commit`, and creates it if it is missing.
    pub fn set_reference(&self, name: &str, commit: &str) {
        let id = git2::Oid::from_str(commit).expect("a commit id");
        open(&self.top).reference(name, id, true, "test").expect("a reference");
    }

    /// Deletes `branch`, even the checked-out one.
    pub fn delete_branch(&self, branch: &str) {
        self.delete_reference(&format!("refs/heads/{branch}"));
    }

    pub fn delete_reference(&self, name: &str) {
        open(&self.top).find_reference(name).and_then(|mut found| found.delete()).expect("a deleted reference");
    }

    /// Sets an entry of the repository's configuration.
    pub fn configure(&self, name: &str, value: &str) {
        open(&self.top).config().expect("a configuration").set_str(name, value).expect("an entry");
    }
}

/// A repository with the checkout `task` of an agent.
#[cfg(test)]
pub(crate) struct TaskCheckout {
    pub(crate) sample: TestRepository,
    pub(crate) repository: Repository,
    pub(crate) path: PathBuf,
    /// The commit that it started from.
    pub(crate) head: Sha,
}

#[cfg(test)]
impl TaskCheckout {
    /// Creates the files, which are committed, and the checkout. The folder `target` is ignored.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let sample = TestRepository::new();
        sample.write(".gitignore", "target/\n");
        for (path, content) in files {
            sample.write(path, content);
        }
        let head = sample.commit_all("start");
        let repository = sample.repository();
        let path = sample.beside("task");
        repository.add_worktree("task", &path, "vr/TASK-001/work", &head).unwrap();
        Self { sample, repository, path, head }
    }
}

/// Writes a file of any checkout, and creates its folders.
pub fn write_in(checkout: &Path, path: &str, content: &str) {
    let path = checkout.join(path);
    fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
    fs::write(path, content).expect("a file");
}

/// Creates an empty repository in a folder, as an agent would.
pub fn init_in(folder: &Path) {
    git2::Repository::init(folder).expect("a repository");
}

/// Creates an empty bare repository, as a remote.
pub fn init_bare_in(folder: &Path) {
    git2::Repository::init_bare(folder).expect("a bare repository");
}

/// Commits all changes of any checkout on its current branch, as an agent would.
pub fn commit_all_in(checkout: &Path, message: &str) -> Sha {
    let git = open(checkout);
    let mut index = git.index().expect("an index");
    index.add_all(["*"], IndexAddOption::DEFAULT, None).expect("added files");
    index.update_all(["*"], None).expect("removed files");
    index.write().expect("a written index");
    let tree = git.find_tree(index.write_tree().expect("a tree")).expect("the tree");
    let parent = git.head().ok().and_then(|head| head.peel_to_commit().ok());
    let parents: Vec<_> = parent.iter().collect();
    let signature = signature();
    git.commit(Some("HEAD"), &signature, &signature, message, &tree, &parents).expect("a commit").to_string()
}

/// Opens a repository the ordinary way, as a human or an agent would.
fn open(checkout: &Path) -> git2::Repository {
    git2::Repository::open(checkout).expect("a repository")
}

fn signature() -> Signature<'static> {
    Signature::now("Sam Sample", "sam@example.org").expect("a signature")
}
