//! A project begins where the person wants it, and the person's checkout stays byte for byte as it is.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use domain::runs::evidence::Sha;

use crate::git_program::git;
use crate::testing::TestRepository;
use crate::{LandOutcome, LandRequest, probe, probe_or_plan_base};

/// A named change to a checkout.
type Case = (&'static str, fn(&TestRepository));

const PROJECT: &str = "vibe-relay/PROJ-001";

/// The files of a checkout, its index and its branches.
fn state(top: &Path) -> (BTreeMap<PathBuf, Vec<u8>>, String) {
    let mut files = BTreeMap::new();
    let mut folders = vec![top.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.is_symlink() {
                if path.file_name().unwrap() != ".git" {
                    folders.push(path);
                }
            } else {
                files.insert(path.clone(), fs::read(&path).unwrap_or_default());
            }
        }
    }
    files.insert("index".into(), fs::read(top.join(".git/index")).unwrap());
    (files, git(top, &["for-each-ref", "refs/heads", "refs/tags"]))
}

fn snapshot(sample: &TestRepository) -> Result<Option<Sha>, crate::RepoError> {
    let base = sample.repository().ref_sha("main").unwrap().unwrap();
    sample.repository().start_with_snapshot(sample.top(), "main", &base, |path| path.starts_with(".env"))
}

fn land(sample: &TestRepository) -> LandOutcome {
    let repository = sample.repository();
    let (identity, base) = (repository.identity("land").unwrap(), repository.ref_sha("main").unwrap().unwrap());
    let request = LandRequest {
        project_branch: PROJECT,
        base_branch: "main",
        base_head: &base,
        bring_back: None,
        workdir: sample.top(),
        message: "land",
        identity: &identity,
    };
    repository.land(request).unwrap()
}

/// A checkout with every kind of uncommitted change, of which nothing is staged.
fn dirty() -> TestRepository {
    let sample = TestRepository::new();
    sample.write(".gitignore", "*.log\n");
    for name in ["edited", "deleted", "replaced", "later"] {
        sample.write(name, "old\n");
    }
    sample.commit_all("files");
    sample.write("edited", "mine\n");
    sample.write("later", "mine\n");
    fs::remove_file(sample.top().join("deleted")).unwrap();
    fs::remove_file(sample.top().join("replaced")).unwrap();
    symlink("edited", sample.top().join("replaced")).unwrap();
    sample.write("new/file", "new\n");
    sample.write(".env.local", "KEY=1\n");
    sample.write("build.log", "ignored\n");
    sample
}

#[test]
fn snapshot_has_the_uncommitted_files_and_changes_nothing_of_the_person() {
    let sample = dirty();
    crate::testing::init_in(&sample.top().join("nested"));
    sample.write("nested/inner", "x");
    let before = state(sample.top());
    let start = snapshot(&sample).unwrap().unwrap();
    assert_eq!(state(sample.top()), before);
    let changed = git(sample.top(), &["diff-tree", "--no-commit-id", "--name-status", "-r", &start]);
    assert_eq!(changed, "D\tdeleted\nM\tedited\nM\tlater\nA\tnew/file\nT\treplaced", "no secret, no ignored file, no nested repository");
    assert_eq!(git(sample.top(), &["rev-parse", &format!("{start}^")]), git(sample.top(), &["rev-parse", "main"]));
    git(sample.top(), &["gc", "-q", "--prune=now"]);
    assert_eq!(git(sample.top(), &["cat-file", "-t", &start]), "commit", "a reference keeps it");
}

#[test]
fn snapshot_lands_in_the_checkout_that_still_has_the_files() {
    let sample = dirty();
    let start = snapshot(&sample).unwrap().unwrap();
    sample.set_branch(PROJECT, &start);
    let head = sample.commit_on(PROJECT, &[("later", Some("an agent\n")), ("agent", Some("x\n"))], "work");
    let secret = fs::read(sample.top().join(".env.local")).unwrap();
    assert_eq!(land(&sample), LandOutcome::Landed { sha: head, fast_forward: true });
    assert_eq!(git(sample.top(), &["status", "--porcelain"]), "?? .env.local", "the checkout is at what landed");
    assert_eq!(fs::read(sample.top().join(".env.local")).unwrap(), secret);
    assert_eq!(sample.read("later").as_deref(), Some("an agent\n"), "the snapshot keeps what was there before");
    assert_eq!(git(sample.top(), &["show", &format!("{start}:later")]), "mine");
}

#[test]
fn changes_after_the_snapshot_are_not_overwritten() {
    let changes: [Case; 3] = [
        ("an edited file", |sample| sample.write("edited", "newer\n")),
        ("a new file", |sample| sample.write("new/file", "newer\n")),
        ("a staged file", |sample| {
            sample.write("edited", "staged\n");
            git(sample.top(), &["add", "edited"]);
            sample.write("edited", "mine\n");
        }),
    ];
    for (name, change) in changes {
        let sample = dirty();
        let start = snapshot(&sample).unwrap().unwrap();
        sample.set_branch(PROJECT, &start);
        sample.commit_on(PROJECT, &[("agent", Some("x\n"))], "work");
        change(&sample);
        let before = state(sample.top());
        assert!(matches!(land(&sample), LandOutcome::Dirty { .. }), "{name}");
        assert_eq!(state(sample.top()), before, "{name}");
    }
}

#[test]
fn staged_files_of_the_snapshot_land_too() {
    let sample = dirty();
    git(sample.top(), &["add", "edited", "new/file"]);
    let before = state(sample.top());
    let start = snapshot(&sample).unwrap().unwrap();
    assert_eq!(state(sample.top()), before);
    sample.set_branch(PROJECT, &start);
    let head = sample.commit_on(PROJECT, &[("edited", Some("an agent\n"))], "work");
    assert_eq!(land(&sample), LandOutcome::Landed { sha: head, fast_forward: true });
    assert_eq!(git(sample.top(), &["status", "--porcelain"]), "?? .env.local");
}

#[test]
fn line_ends_are_stored_as_git_stores_them() {
    let sample = TestRepository::new();
    sample.write(".gitattributes", "*.txt text eol=crlf\n");
    sample.commit_all("attributes");
    sample.write("a.txt", "one\r\ntwo\r\n");
    let start = snapshot(&sample).unwrap().unwrap();
    assert_eq!(git(sample.top(), &["cat-file", "-s", &format!("{start}:a.txt")]), "8");
    sample.set_branch(PROJECT, &start);
    let head = sample.commit_on(PROJECT, &[("agent", Some("x\n"))], "work");
    assert_eq!(land(&sample), LandOutcome::Landed { sha: head, fast_forward: true });
    assert_eq!(sample.read("a.txt").as_deref(), Some("one\r\ntwo\r\n"));
}

#[test]
fn snapshot_is_refused_where_it_would_be_wrong() {
    let sample = TestRepository::new();
    assert_eq!(snapshot(&sample).unwrap(), None, "nothing is uncommitted");
    sample.write("large.bin", "x");
    fs::File::options().write(true).open(sample.top().join("large.bin")).unwrap().set_len(51 << 20).unwrap();
    assert_eq!(snapshot(&sample).unwrap_err().code(), "snapshot-incomplete");
    fs::remove_file(sample.top().join("large.bin")).unwrap();
    git(sample.top(), &["switch", "-q", "-c", "side"]);
    sample.write("a", "a");
    assert!(snapshot(&sample).unwrap().is_some(), "another branch at the same commit has the same files");
    git(sample.top(), &["commit", "-q", "--allow-empty", "-m", "side"]);
    assert_eq!(snapshot(&sample).unwrap_err().code(), "checkout-elsewhere");
}

/// A clone of `origin`, which has the branch `next`, the tag `v1`, and one commit more than the clone's `main`.
fn clone(origin: &TestRepository) -> PathBuf {
    let start = origin.repository().ref_sha("main").unwrap().unwrap();
    origin.set_branch("next", &start);
    git(origin.top(), &["tag", "-a", "-m", "one", "v1"]);
    git(origin.root(), &["clone", "-q", origin.top().to_str().unwrap(), "clone"]);
    origin.write("README.md", "newer\n");
    origin.commit_all("newer");
    let clone = origin.beside("clone");
    git(&clone, &["fetch", "-q"]);
    clone
}

#[test]
fn project_begins_at_the_newer_upstream_only() {
    let origin = TestRepository::new();
    let clone = clone(&origin);
    let found = probe(&clone, None).unwrap();
    assert_eq!(found.newer_upstream.as_deref(), Some("origin/main"));
    let repository = crate::Repository::open(&clone.join(".git")).unwrap();
    let newest = git(&clone, &["rev-parse", "origin/main"]);
    assert_eq!(repository.start_at_upstream("main", &found.base_sha).unwrap(), Some(newest.clone()));
    assert_eq!(repository.start_at_upstream("main", &newest).unwrap(), None);
    let mine = git(&clone, &["commit-tree", "-p", "main", "-m", "mine", "main^{tree}"]);
    assert_eq!(repository.start_at_upstream("main", &mine).unwrap_err().code(), "upstream-diverged");
    git(&clone, &["branch", "-q", "--no-track", "alone"]);
    assert_eq!(repository.start_at_upstream("alone", &found.base_sha).unwrap_err().code(), "no-upstream");
}

#[test]
fn remote_branch_or_tag_becomes_a_base_when_the_person_wants_it() {
    let origin = TestRepository::new();
    let clone = clone(&origin);
    assert_eq!(probe(&clone, None).unwrap().remote_branches, ["origin/next"]);
    let refused = |name| probe(&clone, Some(name)).unwrap_err();
    assert_eq!(refused("origin/next").code(), "branch-not-local");
    assert!(refused("v1").hint().contains("from-v1"), "{}", refused("v1").hint());
    assert!(refused("origin/main").hint().contains("Name the local branch main"));
    assert_eq!(probe_or_plan_base(&clone, Some("origin/main")).unwrap_err().code(), "branch-not-local");
    let repository = crate::Repository::open(&clone.join(".git")).unwrap();
    for (named, local) in [("origin/next", "next"), ("v1", "from-v1")] {
        let planned = probe_or_plan_base(&clone, Some(named)).unwrap();
        assert_eq!((planned.base_branch.as_str(), planned.base_made_from.as_deref()), (local, Some(named)));
        assert!(planned.findings.iter().any(|finding| finding.kind == "base-is-made"));
        assert_eq!(repository.ref_sha(local).unwrap(), None, "looking makes nothing");
        repository.make_base(local, &planned.base_sha, named).unwrap();
        assert_eq!(repository.ref_sha(local).unwrap(), Some(planned.base_sha));
    }
    assert_eq!(git(&clone, &["rev-parse", "--abbrev-ref", "next@{upstream}"]), "origin/next");
}
