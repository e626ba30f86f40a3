//! Checkouts and their branches are listed as git itself sees them.

use crate::git_program::{git, run};
use crate::testing::TestRepository;

fn checkouts_using(sample: &TestRepository, branch: &str) -> Vec<String> {
    let checkouts = sample.repository().checkouts().unwrap();
    let names = checkouts.into_iter().filter(|checkout| checkout.occupies(branch));
    names.map(|checkout| checkout.workdir.file_name().unwrap().to_string_lossy().into_owned()).collect()
}

#[test]
fn main_and_linked_checkouts_are_listed() {
    let sample = TestRepository::new();
    git(sample.top(), &["worktree", "add", "-q", "-b", "side", "../linked"]);
    git(sample.top(), &["worktree", "add", "-q", "--detach", "../loose"]);
    assert_eq!(checkouts_using(&sample, "main"), ["repository"]);
    assert_eq!(checkouts_using(&sample, "side"), ["linked"]);
    assert_eq!(checkouts_using(&sample, "other"), Vec::<String>::new());
}

#[test]
fn a_bare_repository_uses_no_branch() {
    let sample = TestRepository::new();
    sample.configure("core.bare", "true");
    assert_eq!(checkouts_using(&sample, "main"), Vec::<String>::new());
}

#[test]
fn a_branch_under_rebase_is_in_use() {
    let sample = TestRepository::new();
    sample.commit_on("side", &[("README.md", Some("theirs\n"))], "theirs");
    sample.write("README.md", "ours\n");
    sample.commit_all("ours");
    assert!(!run(sample.top(), &["rebase", "side"]).status.success(), "the rebase must stop at a conflict");
    assert_eq!(checkouts_using(&sample, "main"), ["repository"]);
}

#[test]
fn a_commit_on_a_detached_head_is_reported() {
    let sample = TestRepository::new();
    let repository = sample.repository();
    let start = repository.ref_sha("main").unwrap().unwrap();
    let path = sample.beside("task");
    repository.add_worktree("task", &path, "vr/TASK-001/work", &start).unwrap();
    assert_eq!(repository.worktree_head("task").unwrap(), Some(start));
    git(&path, &["checkout", "-q", "--detach"]);
    git(&path, &["commit", "-q", "--allow-empty", "-m", "loose"]);
    assert_eq!(repository.worktree_head("task").unwrap(), Some(git(&path, &["rev-parse", "HEAD"])));
    assert_eq!(repository.worktree_head("nobody").unwrap(), None);
    assert_eq!(repository.worktree_head("../up").unwrap_err().code(), "checkout-name");
}

#[cfg(unix)]
#[test]
fn a_pipe_in_place_of_a_git_file_does_not_block() {
    let sample = TestRepository::new();
    let repository = sample.repository();
    let start = repository.ref_sha("main").unwrap().unwrap();
    let path = sample.beside("task");
    repository.add_worktree("task", &path, "vr/TASK-001/work", &start).unwrap();
    let admin = sample.git_dir().join("worktrees/task");
    for file in [admin.join("HEAD"), admin.join("gitdir"), path.join(".git")] {
        std::fs::remove_file(&file).unwrap();
        let made = crate::git_program::mkfifo(&file);
        assert!(made, "no pipe at {}", file.display());
    }
    assert_eq!(checkouts_using(&sample, "main"), ["repository"]);
    repository.evidence(&path, "vr/TASK-001/work", "main", &[]).unwrap();
    repository.add_worktree("task", &path, "vr/TASK-001/work", &start).unwrap();
    assert_eq!(git(&path, &["status", "--porcelain"]), "");
}
