//! A named path leads to its repository or to a specific error with a hint.

use std::fs;
use std::path::Path;

use tokio_util::sync::CancellationToken;

use super::{conflicting_name, probe};
use crate::git_program::{git, serve_calls};
use crate::testing::TestRepository;

fn refusal(path: &Path, base: Option<&str>) -> String {
    let refusal = probe(path, base).unwrap_err();
    assert!(!refusal.hint().is_empty());
    refusal.code().to_owned()
}

fn uncommitted(path: &Path) -> u32 {
    super::uncommitted(path, &CancellationToken::new()).unwrap()
}

#[test]
fn a_subfolder_leads_to_its_repository() {
    let sample = TestRepository::new();
    sample.write("src/deep/a.rs", "a");
    sample.write(".gitignore", "*.log\n");
    let start = sample.commit_all("code");
    sample.set_branch("another", &start);
    sample.write("src/deep/a.rs", "edited");
    sample.write("new/one", "x");
    sample.write("new/two", "x");
    sample.write("build.log", "ignored");
    let probe = probe(&sample.top().join("src/deep"), None).unwrap();
    assert_eq!(probe.repo_path, sample.top().to_str().unwrap());
    assert_eq!(probe.git_dir, sample.git_dir().to_str().unwrap());
    assert_eq!((probe.base_branch.as_str(), probe.base_sha), ("main", start));
    assert_eq!(probe.branches, ["main", "another"], "the checked-out branch comes first");
    assert_eq!(uncommitted(sample.top()), 3);
    assert_eq!(probe.identity.as_deref(), Some("Sam Sample <sam@example.org>"));
}

#[test]
fn a_linked_worktree_leads_to_the_common_git_folder() {
    let sample = TestRepository::new();
    git(sample.top(), &["worktree", "add", "-q", "-b", "side", "../linked"]);
    let probe = probe(&sample.beside("linked"), None).unwrap();
    assert_eq!(probe.repo_path, sample.beside("linked").to_str().unwrap());
    assert_eq!(probe.git_dir, sample.git_dir().to_str().unwrap());
    assert_eq!(probe.base_branch, "side");
}

#[test]
fn unsuitable_paths_are_rejected() {
    let sample = TestRepository::new();
    assert_eq!(refusal(&sample.beside("nothing"), None), "path-missing");
    fs::create_dir(sample.beside("plain")).unwrap();
    assert_eq!(refusal(&sample.beside("plain"), None), "not-a-repository");
    assert_eq!(refusal(TestRepository::empty().top(), None), "no-commit");
    assert_eq!(refusal(TestRepository::empty().top(), Some("main")), "no-commit");
    git(sample.root(), &["clone", "-q", "--bare", sample.top().to_str().unwrap(), "bare.git"]);
    assert_eq!(refusal(&sample.beside("bare.git"), None), "bare-repository");
}

#[test]
fn a_checkout_of_a_bare_repository_is_accepted() {
    let sample = TestRepository::new();
    git(sample.root(), &["clone", "-q", "--bare", sample.top().to_str().unwrap(), "bare.git"]);
    git(&sample.beside("bare.git"), &["worktree", "add", "-q", "../checkout", "main"]);
    let probe = probe(&sample.beside("checkout"), None).unwrap();
    assert_eq!(probe.git_dir, sample.beside("bare.git").to_str().unwrap());
}

#[test]
fn a_missing_base_suggests_similar_names() {
    let sample = TestRepository::new();
    let start = sample.repository().ref_sha("main").unwrap().unwrap();
    for branch in ["develop", "zebra", "release"] {
        sample.set_branch(branch, &start);
    }
    let refusal = probe(sample.top(), Some("devlop")).unwrap_err();
    insta::assert_snapshot!(refusal, @"the branch devlop does not exist; similar branches: develop, release, zebra");
    assert_eq!(refusal.code(), "branch-missing");
}

#[test]
fn a_detached_head_requires_a_named_base() {
    let sample = TestRepository::new();
    git(sample.top(), &["checkout", "-q", "--detach"]);
    assert_eq!(refusal(sample.top(), None), "detached-head");
    assert_eq!(probe(sample.top(), Some("main")).unwrap().base_branch, "main");
}

#[test]
fn each_unsupported_format_has_its_own_code() {
    let sample = TestRepository::new();
    for (arguments, folder, code) in [
        (&["init", "-q", "--object-format=sha256"][..], "sha256", "sha256-objects"),
        (&["init", "-q", "--ref-format=reftable"][..], "reftable", "reftable"),
    ] {
        git(sample.root(), &[arguments, &[folder]].concat());
        assert_eq!(refusal(&sample.root().join(folder), None), code);
    }
    sample.configure("uploadpack.allowFilter", "true");
    let url = format!("file://{}", sample.top().display());
    git(sample.root(), &["clone", "-q", "--filter=blob:none", &url, "partial"]);
    assert_eq!(refusal(&sample.root().join("partial"), None), "partial-clone");
}

#[test]
fn filters_of_a_repository_alone_are_rejected() {
    serve_calls();
    let sample = TestRepository::new();
    sample.write(".gitattributes", "*.md filter=own\n");
    sample.commit_all("a filter");
    assert_eq!(probe(sample.top(), None).unwrap().findings, []);
    sample.configure("filter.own.clean", "cat");
    assert_eq!(refusal(sample.top(), None), "filters");
}

#[test]
fn a_conflicting_branch_is_rejected_loose_and_packed() {
    let sample = TestRepository::new();
    let start = sample.repository().ref_sha("main").unwrap().unwrap();
    sample.set_branch("vr/TASK-007", &start);
    assert_eq!(refusal(sample.top(), None), "name-blocked");
    git(sample.top(), &["pack-refs", "--all"]);
    let refusal = probe(sample.top(), None).unwrap_err();
    insta::assert_snapshot!(refusal, @"the branch vr/TASK-007 conflicts with the branch name vr/TASK-007/work");
    insta::assert_snapshot!(refusal.hint(), @"Rename your branch: `git branch -m vr/TASK-007 my-vr-TASK-007`.");
}

#[test]
fn only_colliding_names_conflict() {
    let conflicting = ["vr", "vibe-relay", "vr/TASK-001", concat!("vr/TASK-001/work", "/x"), "vibe-relay/PROJ-001/x"];
    let fine = ["main", "vr/feature", "vr/TASK-001/work", "vr/TASK-001/work-2", "vibe-relay/PROJ-001", "vibe-relay/docs/x", "vrx"];
    assert!(conflicting.iter().all(|name| conflicting_name(name).is_some()));
    assert!(fine.iter().all(|name| conflicting_name(name).is_none()));
}

#[test]
fn files_missing_from_a_sparse_checkout_do_not_count() {
    let sample = TestRepository::new();
    sample.write("src/a.rs", "a\n");
    sample.write("docs/b.md", "b\n");
    sample.commit_all("folders");
    git(sample.top(), &["sparse-checkout", "set", "--cone", "src"]);
    assert!(!sample.top().join("docs").exists());
    assert_eq!(uncommitted(sample.top()), 0);
}

#[test]
fn hidden_changes_count_too() {
    let sample = TestRepository::new();
    sample.write("one.txt", "one\n");
    sample.write("two.txt", "two\n");
    sample.commit_all("files");
    git(sample.top(), &["update-index", "--skip-worktree", "one.txt"]);
    git(sample.top(), &["update-index", "--assume-unchanged", "two.txt"]);
    sample.write("one.txt", "1\n");
    sample.write("two.txt", "2\n");
    assert_eq!(git(sample.top(), &["status", "--porcelain"]), "");
    assert_eq!(uncommitted(sample.top()), 2);
}

#[test]
fn a_cancelled_count_ends() {
    let sample = TestRepository::new();
    let cancelled = CancellationToken::new();
    cancelled.cancel();
    assert_eq!(super::uncommitted(sample.top(), &cancelled).unwrap_err().code(), "interrupted");
}
