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
mod tests {
    use super::*;

    fn changes(given: &[(&str, Option<&str>)]) -> BTreeMap<String, Option<String>> {
        given.iter().map(|(path, content)| ((*path).to_owned(), content.map(str::to_owned))).collect()
    }

    /// The paths of a commit with their contents.
    fn files(git_dir: &Path, commit: &str) -> Vec<(String, String)> {
        let handle = git2::Repository::open_bare(git_dir).unwrap();
        let tree = handle.find_commit(commit.parse().unwrap()).unwrap().tree().unwrap();
        let mut files = Vec::new();
        tree.walk(git2::TreeWalkMode::PreOrder, |folder, entry| {
            if let Some(blob) = entry.to_object(&handle).unwrap().as_blob() {
                files.push((format!("{folder}{}", entry.name().unwrap()), String::from_utf8_lossy(blob.content()).into_owned()));
            }
            git2::TreeWalkResult::Ok
        })
        .unwrap();
        files
    }

    #[test]
    fn each_change_is_one_commit_and_a_repetition_none() {
        let folder = tempfile::tempdir().unwrap();
        let git_dir = folder.path().join("knowledge/PROJ-001.git");
        let first = changes(&[("intel/deps.md", Some("It breaks")), ("mara/notes.md", Some("Hm"))]);
        let one = record_files(&git_dir, &first, "mara").unwrap().unwrap();
        assert_eq!(record_files(&git_dir, &first, "mara").unwrap(), None);
        let second = changes(&[("intel/deps.md", None), ("intel/gone.md", None), ("intel/archived/deps-1.md", Some("It broke"))]);
        let two = record_files(&git_dir, &second, "ole").unwrap().unwrap();
        let named = |commit: &str| files(&git_dir, commit).into_iter().map(|(path, _)| path).collect::<Vec<_>>();
        assert_eq!(named(&one), ["intel/deps.md", "mara/notes.md"]);
        assert_eq!(named(&two), ["intel/archived/deps-1.md", "mara/notes.md"], "what is not named stays");
        assert_eq!(record_files(&git_dir, &second, "ole").unwrap(), None);
        let handle = git2::Repository::open_bare(&git_dir).unwrap();
        let tip = handle.head().unwrap().peel_to_commit().unwrap();
        assert_eq!((tip.id().to_string(), tip.parent_id(0).unwrap().to_string(), tip.message()), (two, one, Ok("ole")));
    }

    #[test]
    fn a_file_is_never_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        let git_dir = folder.path().join("a.git");
        record_files(&git_dir, &changes(&[("a.md", Some("x"))]), "x").unwrap();
        assert!(record_files(&git_dir, &changes(&[("a.md/b.md", Some("x"))]), "x").is_err());
        assert!(record_files(&git_dir, &changes(&[("../b.md", Some("x"))]), "x").is_err());
    }
}
