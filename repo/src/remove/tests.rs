//! A removal deletes only the named checkout, follows no link and can be repeated.

use std::fs;
use std::path::PathBuf;

use crate::Repository;
use crate::git_program::git;
use crate::testing::{TestRepository, write_in};

fn checkout() -> (TestRepository, Repository, PathBuf) {
    let sample = TestRepository::new();
    let repository = sample.repository();
    let start = repository.ref_sha("main").unwrap().unwrap();
    let path = sample.beside("task");
    repository.add_worktree("task", &path, "vr/TASK-001/work", &start).unwrap();
    (sample, repository, path)
}

#[test]
fn a_removal_leaves_no_trace_and_can_be_repeated() {
    let (sample, repository, path) = checkout();
    write_in(&path, "target/debug/out", "x");
    for _ in 0..2 {
        repository.remove_worktree("task", &path).unwrap();
        assert!(!path.exists());
        assert!(!sample.git_dir().join("worktrees/task").exists());
    }
    assert_eq!(git(sample.top(), &["worktree", "list", "--porcelain"]).matches("worktree ").count(), 1);
    assert!(repository.ref_sha("vr/TASK-001/work").unwrap().is_some(), "the branch stays");
}

#[test]
fn a_killed_removal_is_finished_by_a_repeat() {
    let (sample, repository, path) = checkout();
    fs::remove_file(path.join(".git")).unwrap();
    repository.remove_worktree("task", &path).unwrap();
    assert!(!path.exists() && !sample.git_dir().join("worktrees/task").exists());

    let (sample, repository, path) = checkout();
    fs::remove_dir_all(&path).unwrap();
    repository.remove_worktree("task", &path).unwrap();
    assert!(!sample.git_dir().join("worktrees/task").exists());

    let (_sample, repository, path) = checkout();
    fs::remove_file(repository.git_dir().join("worktrees/task/gitdir")).unwrap();
    repository.remove_worktree("task", &path).unwrap();
    assert!(!path.exists());
}

#[test]
fn other_folders_are_not_removed() {
    let (sample, repository, path) = checkout();
    write_in(&sample.beside("other"), "file", "x");
    for wrong in [sample.beside("other"), sample.top().to_path_buf(), sample.root().to_path_buf(), sample.git_dir()] {
        assert_eq!(repository.remove_worktree("task", &wrong).unwrap_err().code(), "path-occupied", "{}", wrong.display());
        assert!(wrong.exists());
    }
    assert_eq!(repository.remove_worktree("other", &path).unwrap_err().code(), "path-occupied");
    assert!(path.join("README.md").exists());
}

#[cfg(unix)]
#[test]
fn links_are_removed_but_not_followed() {
    let (sample, repository, path) = checkout();
    write_in(&sample.beside("precious"), "file", "x");
    std::os::unix::fs::symlink(sample.beside("precious"), path.join("link")).unwrap();
    repository.remove_worktree("task", &path).unwrap();
    assert!(sample.beside("precious/file").exists());

    let (sample, repository, path) = checkout();
    write_in(&sample.beside("precious"), "file", "x");
    fs::remove_dir_all(&path).unwrap();
    std::os::unix::fs::symlink(sample.beside("precious"), &path).unwrap();
    repository.remove_worktree("task", &path).unwrap();
    assert!(path.symlink_metadata().is_err());
    assert!(sample.beside("precious/file").exists());
}
