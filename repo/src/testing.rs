//! Temporary repositories for tests. Writes through git2 alone, so that a test that needs no `git` program runs none.
//!
//! Panics instead of returning errors: a test has nothing to do about them.

use std::fs;
use std::path::{Path, PathBuf};

use domain::runs::evidence::Sha;
use git2::{IndexAddOption, RepositoryInitOptions, Signature};
use tempfile::TempDir;

use crate::Repository;

/// A repository with one commit on `main`, which is checked out at [`Sample::top`].
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
    /// A repository that holds `README.md` with one line.
    pub fn new() -> Self {
        let sample = Self::empty();
        sample.write("README.md", "a sample\n");
        sample.commit_all("start");
        sample
    }

    /// A repository without a commit.
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

    /// The top folder of the checkout.
    pub fn top(&self) -> &Path {
        &self.top
    }

    /// The common `.git` folder.
    pub fn git_dir(&self) -> PathBuf {
        self.top.join(".git")
    }

    /// A path beside the repository, for worktrees.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.top.with_file_name(name)
    }

    /// The folder that is deleted at the end; everything of the sample is in it.
    pub fn root(&self) -> &Path {
        self.dir.path()
    }

    pub fn repository(&self) -> Repository {
        Repository::open(&self.git_dir()).expect("a repository that can be served")
    }

    /// Writes a file of the main checkout, folders included.
    pub fn write(&self, path: &str, content: &str) {
        write_in(&self.top, path, content);
    }

    pub fn read(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.top.join(path)).ok()
    }

    /// Commits everything in the main checkout on its branch.
    pub fn commit_all(&self, message: &str) -> Sha {
        commit_all_in(&self.top, message)
    }

    /// Commits `files` on `branch` without touching a checkout; the branch is created from `main` when it is missing.
    /// No content means that the file is removed.
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

    /// A commit with the files of `files_of` and these parents, on no branch.
    pub fn commit_as(&self, files_of: &str, parents: &[&str], message: &str) -> Sha {
        let git = open(&self.top);
        let commit = |sha: &str| git.find_commit(git2::Oid::from_str(sha).expect("a commit id")).expect("a commit");
        let (tree, parents) = (commit(files_of).tree().expect("a tree"), parents.iter().map(|sha| commit(sha)).collect::<Vec<_>>());
        let signature = signature();
        git.commit(None, &signature, &signature, message, &tree, &parents.iter().collect::<Vec<_>>()).expect("a commit").to_string()
    }

    /// Points `branch` to `commit`, which creates it when it is missing.
    pub fn set_branch(&self, branch: &str, commit: &str) {
        let id = git2::Oid::from_str(commit).expect("a commit id");
        open(&self.top).reference(&format!("refs/heads/{branch}"), id, true, "test").expect("a branch");
    }

    /// Sets an entry of the repository's configuration.
    pub fn configure(&self, name: &str, value: &str) {
        open(&self.top).config().expect("a configuration").set_str(name, value).expect("an entry");
    }
}

/// Writes a file of any checkout, folders included.
pub fn write_in(checkout: &Path, path: &str, content: &str) {
    let path = checkout.join(path);
    fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
    fs::write(path, content).expect("a file");
}

/// Commits everything in any checkout on the branch it stands on, as an agent would.
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

/// The ordinary, trusting way: this stands in for a person or an agent.
fn open(checkout: &Path) -> git2::Repository {
    git2::Repository::open(checkout).expect("a repository")
}

fn signature() -> Signature<'static> {
    Signature::now("Sam Sample", "sam@example.org").expect("a signature")
}
