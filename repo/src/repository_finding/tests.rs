//! Each fixture has the finding that is expected of it, and an ordinary repository has none.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use domain::runs::repository_finding::RepositoryFinding;

use crate::git_program::git;
use crate::probe;
use crate::testing::TestRepository;

fn findings(path: &Path) -> Vec<RepositoryFinding> {
    probe(path, None).unwrap().findings
}

fn kinds(path: &Path) -> Vec<String> {
    findings(path).into_iter().map(|finding| finding.kind).collect()
}

/// A clone whose `main` follows that of `origin`, which is `ahead` commits ahead.
fn cloned(origin: &TestRepository, ahead: usize) -> std::path::PathBuf {
    git(origin.root(), &["clone", "-q", origin.top().to_str().unwrap(), "clone"]);
    let clone = origin.beside("clone");
    for number in 0..ahead {
        origin.write("README.md", &format!("{number}\n"));
        origin.commit_all("more");
    }
    git(&clone, &["fetch", "-q"]);
    clone
}

#[test]
fn ordinary_repository_has_no_finding() {
    let sample = TestRepository::new();
    let found = probe(sample.top(), None).unwrap();
    assert_eq!((found.findings, found.checkout_bytes), (Vec::new(), 9), "the file has 9 bytes");
}

#[test]
fn branch_behind_its_upstream_is_told_from_one_that_diverged() {
    let origin = TestRepository::new();
    let clone = cloned(&origin, 2);
    let found = findings(&clone);
    assert_eq!(found[0].finding, "`main` lacks 2 commits of `origin/main`, as of the last fetch.");
    assert_eq!(found.len(), 1);
    git(&clone, &["commit", "-q", "--allow-empty", "-m", "mine"]);
    assert_eq!(kinds(&clone), ["diverged-from-upstream"]);
    git(&clone, &["reset", "-q", "--hard", "origin/main"]);
    git(&clone, &["commit", "-q", "--allow-empty", "-m", "mine"]);
    assert_eq!(kinds(&clone), [] as [&str; 0], "a branch that is ahead lacks nothing");
}

#[test]
fn unusual_checkouts_are_found() {
    let sample = TestRepository::new();
    sample.write("src/a.rs", "a");
    sample.commit_all("code");
    git(sample.top(), &["update-index", "--split-index"]);
    assert_eq!(kinds(sample.top()), ["split-index"]);
    git(sample.top(), &["update-index", "--no-split-index"]);
    git(sample.top(), &["sparse-checkout", "set", "--cone", "src"]);
    assert_eq!(kinds(sample.top()), ["sparse-checkout"]);
    git(sample.top(), &["sparse-checkout", "set", "--cone", "--sparse-index", "src"]);
    assert_eq!(kinds(sample.top()), ["sparse-checkout"]);
}

#[test]
fn base_in_another_checkout_is_named() {
    let sample = TestRepository::new();
    git(sample.top(), &["worktree", "add", "-q", "-b", "side", "../linked"]);
    let found = probe(&sample.beside("linked"), Some("main")).unwrap().findings;
    assert_eq!(found[0].kind, "base-checked-out-elsewhere");
    assert!(found[0].finding.contains(sample.top().to_str().unwrap()), "{}", found[0].finding);
    assert_eq!(kinds(&sample.beside("linked")), [] as [&str; 0]);
}

#[test]
fn hooks_count_if_git_would_run_them() {
    let sample = TestRepository::new();
    let hook = sample.git_dir().join("hooks/pre-commit");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::write(&hook, "#!/bin/sh\n").unwrap();
    fs::write(hook.with_extension("sample"), "#!/bin/sh\n").unwrap();
    assert_eq!(kinds(sample.top()), [] as [&str; 0], "it is not executable");
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(kinds(sample.top()), ["commit-hooks"]);
    sample.configure("core.hooksPath", ".husky");
    assert_eq!(kinds(sample.top()), [] as [&str; 0], "another folder has the hooks");
    sample.write(".husky/commit-msg", "#!/bin/sh\n");
    fs::set_permissions(sample.top().join(".husky/commit-msg"), fs::Permissions::from_mode(0o755)).unwrap();
    assert!(findings(sample.top())[0].finding.contains("`commit-msg`"));
}

#[test]
fn signing_submodules_shallow_history_and_names_are_found() {
    let sample = TestRepository::new();
    sample.configure("commit.gpgSign", "true");
    assert_eq!(kinds(sample.top()), ["signed-commits"]);

    let inner = TestRepository::new();
    let outer = TestRepository::new();
    let address = inner.top().to_str().unwrap().to_owned();
    git(outer.top(), &["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &address, "vendor/inner"]);
    git(outer.top(), &["commit", "-q", "-m", "submodule"]);
    let found = findings(outer.top());
    assert_eq!(found[0].finding, "The repository has 1 submodule: `vendor/inner`.");
    assert!(found[0].remedy.contains("--submodules true"));

    inner.write("b", "b");
    inner.commit_all("second");
    let url = format!("file://{address}");
    git(inner.root(), &["clone", "-q", "--depth", "1", &url, "shallow"]);
    assert_eq!(kinds(&inner.beside("shallow")), ["shallow-clone"]);

    let names = TestRepository::new();
    fs::write(names.top().join(std::ffi::OsStr::from_bytes(b"caf\xe9.txt")), "x").unwrap();
    names.commit_all("a name");
    assert_eq!(findings(names.top())[0].finding, "1 file has a name that is not valid UTF-8, such as `caf\u{fffd}.txt`.");
}
