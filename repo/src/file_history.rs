//! Keeps the history of text files in a bare repository of its own, without a checkout.
//!
//! Must not know what the files say. The folder belongs to this program, so it is made when it is missing.

use std::collections::BTreeMap;
use std::path::Path;

use domain::runs::evidence::Sha;
use git2::build::TreeUpdateBuilder;
use git2::{FileMode, Signature};

use crate::branch::reference_target;
use crate::error::{Attempt, RepoError};
use crate::handle::{Repository, find_commit, sha};

const BRANCH: &str = "refs/heads/main";
const AUTHOR: &str = "vibe-relay";
const EMAIL: &str = "vibe-relay@localhost";

/// Commits changes of files to the history at `git_dir`: the content of each path, or none to remove it. `None` if nothing changed, so that a
/// repetition after a crash makes no second commit.
///
/// # Errors
/// When the repository cannot be made or written, or a path is the folder of another.
pub fn record_files(git_dir: &Path, changes: &BTreeMap<String, Option<String>>, message: &str) -> Result<Option<Sha>, RepoError> {
    if git_dir.symlink_metadata().is_err() {
        Repository::make_bare(git_dir)?;
    }
    let handle = Repository::open(git_dir)?.handle()?;
    let attempted = || format!("write files to {}", git_dir.display());
    let tip = reference_target(&handle, BRANCH)?;
    let parent = tip.map(|tip| find_commit(&handle, tip)).transpose()?;
    let before = match &parent {
        Some(parent) => parent.tree().attempting(attempted)?,
        None => {
            let empty = handle.treebuilder(None).and_then(|builder| builder.write()).attempting(attempted)?;
            handle.find_tree(empty).attempting(attempted)?
        }
    };
    let mut update = TreeUpdateBuilder::new();
    for (path, content) in changes {
        match content {
            Some(content) => {
                let blob = handle.blob(content.as_bytes()).attempting(attempted)?;
                update.upsert(path, blob, FileMode::Blob);
            }
            None if before.get_path(Path::new(path)).is_ok() => {
                update.remove(path);
            }
            None => {}
        }
    }
    let tree = update.create_updated(&handle, &before).attempting(attempted)?;
    if tree == before.id() {
        return Ok(None);
    }
    let signature = Signature::now(AUTHOR, EMAIL).attempting(attempted)?;
    let tree = handle.find_tree(tree).attempting(attempted)?;
    let parents: Vec<_> = parent.iter().collect();
    let commit = handle.commit(Some(BRANCH), &signature, &signature, message, &tree, &parents).attempting(attempted)?;
    Ok(Some(sha(commit)))
}

#[cfg(test)]
mod tests;
