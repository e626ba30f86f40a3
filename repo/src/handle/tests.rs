//! The handle rejects unsuitable folders, and no other file opens a repository.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Repository, oid};
use crate::RepoError;
use crate::testing::TestRepository;

#[test]
fn a_missing_repository_is_reported() {
    let sample = TestRepository::new();
    let repository = sample.repository();
    fs::remove_dir_all(sample.top()).unwrap();
    assert_eq!(repository.check().unwrap_err().code(), "repository-missing");
}

#[test]
fn a_folder_without_a_repository_is_rejected() {
    let sample = TestRepository::new();
    fs::create_dir(sample.beside("empty")).unwrap();
    assert_eq!(Repository::open(&sample.beside("empty")).unwrap_err().code(), "not-a-repository");
    assert_eq!(Repository::open(sample.top()).unwrap_err().code(), "not-a-repository", "the checkout is not its .git folder");
}

#[cfg(unix)]
#[test]
fn a_repository_of_another_user_is_rejected() {
    let sample = TestRepository::new();
    // Only root can change the owner of a file, so other users cannot run this check.
    if std::os::unix::fs::chown(sample.git_dir(), Some(12_345), None).is_ok() {
        assert!(matches!(sample.repository_error(), RepoError::WrongOwner { .. }));
    }
}

#[test]
fn a_short_commit_id_is_rejected() {
    assert!(oid("89abcdef89abcdef89abcdef89abcdef89abcdef").is_ok());
    assert_eq!(oid("89abcdef").unwrap_err().code(), "not-a-sha");
    assert_eq!(oid("main").unwrap_err().code(), "not-a-sha");
}

impl TestRepository {
    fn repository_error(&self) -> RepoError {
        Repository::open(&self.git_dir()).unwrap_err()
    }
}

/// A handle opened through a worktree would trust data that an agent controls.
#[test]
fn repositories_are_opened_in_one_place() {
    let forbidden = ["git2::Repository::open", "open_from_worktree", "open_bare(", "Repository::discover(", "open_from_env", "use git2::Repository"];
    let mut seen = 0;
    for file in sources(Path::new(env!("CARGO_MANIFEST_DIR")).join("src")) {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        if name == "tests.rs" || name == "testing.rs" || name == "hostile.rs" {
            continue;
        }
        seen += 1;
        for (number, line) in fs::read_to_string(&file).unwrap().lines().enumerate() {
            let allowed = name == "handle.rs" && line.contains("git2::Repository::open_ext(git_dir, flags");
            let found = forbidden.iter().find(|call| line.contains(**call));
            assert!(allowed || found.is_none(), "{}:{}: {found:?}", file.display(), number + 1);
        }
    }
    assert!(seen > 10, "the sources were not found");
}

fn sources(folder: PathBuf) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources(path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}
