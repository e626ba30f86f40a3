//! Reads what a profile depends on: the files that show which tools and checks a repository has, and the contents of its lock files.
//!
//! It reads commits and no checkout, so what an agent left uncommitted has no effect. Must not run or interpret anything.

use std::collections::BTreeMap;

use domain::runs::evidence::Sha;
use domain::runs::profile::detection::{Detection, checks, detect, is_lock_file};
use git2::{ObjectType, TreeWalkMode, TreeWalkResult};

use crate::error::{Attempt, RepoError};
use crate::handle::{Repository, find_commit, oid, sha};

/// The file with patterns of ignored files for worktrees, as Claude Code reads it.
const WORKTREE_INCLUDE: &str = ".worktreeinclude";
/// Folders below the root whose files show tools.
const FOLDERS: [&str; 1] = [".devcontainer"];

impl Repository {
    /// Proposes a profile for the files of a commit.
    ///
    /// # Errors
    /// The commit is missing.
    pub fn detect_profile(&self, commit: &Sha) -> Result<Detection, RepoError> {
        let reading = || format!("list the files of {commit}");
        let handle = self.handle()?;
        let tree = find_commit(&handle, oid(commit)?)?.tree().attempting(reading)?;
        let mut paths = Vec::new();
        for entry in &tree {
            let name = String::from_utf8_lossy(entry.name_bytes()).into_owned();
            if entry.kind() == Some(ObjectType::Tree) && FOLDERS.contains(&name.as_str()) {
                let folder = handle.find_tree(entry.id()).attempting(reading)?;
                paths.extend(folder.iter().map(|inner| format!("{name}/{}", String::from_utf8_lossy(inner.name_bytes()))));
            } else if entry.kind() == Some(ObjectType::Blob) {
                paths.push(name);
            }
        }
        let mut detection = detect(paths.iter().map(String::as_str));
        let mut texts = BTreeMap::new();
        for name in checks::FILES.into_iter().filter(|name| paths.iter().any(|path| path == name)) {
            texts.extend(self.file_at(commit, name)?.map(|text| (name, String::from_utf8_lossy(&text).into_owned())));
        }
        let has_file = |name: &str| paths.iter().any(|path| path == name);
        detection.profile.checks = checks::propose(&detection.tools, has_file, |name| texts.get(name).cloned());
        if let Some(text) = self.file_at(commit, WORKTREE_INCLUDE)? {
            detection.include(&String::from_utf8_lossy(&text));
        }
        Ok(detection)
    }

    /// Returns each lock file of a commit with the id of its contents, in order. Costs a walk of the commit's folders.
    ///
    /// # Errors
    /// The commit is missing.
    pub fn lock_files(&self, commit: &Sha) -> Result<Vec<(String, Sha)>, RepoError> {
        let reading = || format!("list the files of {commit}");
        let handle = self.handle()?;
        let tree = find_commit(&handle, oid(commit)?)?.tree().attempting(reading)?;
        let mut found = Vec::new();
        let walked = tree.walk(TreeWalkMode::PreOrder, |folder, entry| {
            let path = || format!("{folder}{}", String::from_utf8_lossy(entry.name_bytes()));
            if entry.kind() == Some(ObjectType::Blob) && is_lock_file(&String::from_utf8_lossy(entry.name_bytes())) {
                found.push((path(), sha(entry.id())));
            }
            TreeWalkResult::Ok
        });
        walked.attempting(reading)?;
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::TestRepository;

    #[test]
    fn tools_are_detected_in_the_commit_and_not_in_the_checkout() {
        let sample = TestRepository::new();
        sample.write("yarn.lock", "");
        let files = [
            ("package.json", Some(r#"{"scripts": {"test": "node --test"}}"#)),
            ("package-lock.json", Some("{}")),
            (".devcontainer/devcontainer.json", Some("{}")),
            ("docs/go.mod", Some("")),
            (".worktreeinclude", Some("# local\nconfig/local.toml\n/certs/\n!no\n\n../x\n")),
        ];
        let commit = sample.commit_on("main", &files, "Use npm");
        let found = sample.repository().detect_profile(&commit).unwrap();
        let names: Vec<_> = found.tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, ["npm", "devcontainer"]);
        assert_eq!(found.profile.setup, ["npm ci"]);
        assert_eq!(found.profile.checks.full.commands, ["npm run test"]);
        assert_eq!(found.profile.copy, [".env*", "config/local.toml", "certs"]);
    }

    #[test]
    fn lock_files_are_found_in_every_folder_with_their_contents() {
        let sample = TestRepository::new();
        let first = sample.commit_on("main", &[("a/package-lock.json", Some("1")), ("Cargo.lock", Some("2")), ("src/x.rs", Some("3"))], "first");
        let second = sample.commit_on("main", &[("a/package-lock.json", Some("4")), ("src/x.rs", Some("5"))], "second");
        let repository = sample.repository();
        let (before, after) = (repository.lock_files(&first).unwrap(), repository.lock_files(&second).unwrap());
        let paths: Vec<_> = before.iter().map(|(path, _)| path.as_str()).collect();
        assert_eq!(paths, ["Cargo.lock", "a/package-lock.json"]);
        assert_eq!(before[0], after[0]);
        assert_ne!(before[1].1, after[1].1);
    }
}
