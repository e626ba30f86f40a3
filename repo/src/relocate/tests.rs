//! Moved repositories with checkouts: recognised, linked again, and told from others.

use std::fs;

use domain::runs::evidence::KnownCommit;

use super::*;
use crate::git_program::git;
use crate::testing::TestRepository;

/// A repository with the checkout of a task, and the record of both.
fn with_checkout(path: &Path, sample: &TestRepository) -> RepositoryRecord {
    let head = sample.repository().base_tip("main").unwrap();
    sample.repository().add_worktree(&checkout_name(path), path, "vr/TASK-001/work", &head).unwrap();
    let checkout = CheckoutRecord { task: TaskId::new(1), branch: "vr/TASK-001/work".to_owned(), path: path.display().to_string() };
    RepositoryRecord { commits: vec![KnownCommit { name: "the tip of main".to_owned(), sha: head }], checkouts: vec![checkout] }
}

fn moved(sample: &TestRepository) -> Repository {
    let to = sample.beside("moved");
    fs::rename(sample.top(), &to).unwrap();
    Repository::open(&to.join(".git")).unwrap()
}

#[test]
fn checkouts_of_a_moved_repository_work_again() {
    let sample = TestRepository::new();
    let path = sample.beside("TASK-001");
    let record = with_checkout(&path, &sample);
    let repository = moved(&sample);
    assert_eq!(repository.missing_of(&record).unwrap(), Vec::<String>::new());
    for _ in 0..2 {
        assert_eq!(repository.relink_checkouts(&record, sample.top(), &sample.beside("moved")).unwrap(), []);
        assert_eq!(git(&path, &["rev-parse", "--abbrev-ref", "HEAD"]), "vr/TASK-001/work");
        assert_eq!(git(&path, &["status", "--porcelain"]), "");
    }
}

#[test]
fn checkouts_inside_a_moved_repository_are_found() {
    let sample = TestRepository::new();
    sample.write(".gitignore", "agents/\n");
    sample.commit_all("ignore");
    let record = with_checkout(&sample.top().join("agents/TASK-001"), &sample);
    let repository = moved(&sample);
    let path = sample.beside("moved").join("agents/TASK-001");
    let found = repository.relink_checkouts(&record, sample.top(), &sample.beside("moved")).unwrap();
    assert_eq!(found, [(TaskId::new(1), path.display().to_string())]);
    assert_eq!(git(&path, &["status", "--porcelain"]), "");
}

#[test]
fn another_repository_lacks_the_recorded_commits() {
    let (sample, other) = (TestRepository::new(), TestRepository::new());
    sample.commit_on("main", &[("only", Some("here"))], "only here");
    let record = with_checkout(&sample.beside("TASK-001"), &sample);
    let missing = other.repository().missing_of(&record).unwrap();
    let short = record.commits[0].sha[..7].to_owned();
    assert_eq!(missing, [format!("the tip of main ({short})"), "the branch vr/TASK-001/work".to_owned()]);
}

#[test]
fn foreign_folders_are_not_linked() {
    let sample = TestRepository::new();
    let path = sample.beside("TASK-001");
    let record = with_checkout(&path, &sample);
    let repository = moved(&sample);
    let relink = || repository.relink_checkouts(&record, sample.top(), &sample.beside("moved")).map(drop);
    fs::write(path.join(".git"), "gitdir: /home/ann/other/.git/worktrees/mine\n").unwrap();
    assert_eq!(relink().unwrap_err().code(), "path-occupied");
    fs::remove_file(path.join(".git")).unwrap();
    git(&path, &["init", "-q"]);
    assert_eq!(relink().unwrap_err().code(), "path-occupied");
    fs::remove_dir_all(&path).unwrap();
    relink().unwrap();
    assert!(!path.exists(), "a removed checkout is created when its task starts");
}
