//! Tests files whose names are not valid UTF-8: every function of this crate serves them, byte for byte.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::git_program::{git, run};
use crate::testing::{TaskCheckout, commit_all_in};
use crate::{DiffLimits, LandOutcome, LandRequest, MergeOutcome};

const PROJECT: &str = "vibe-relay/PROJ-001";
const BRANCH: &str = "vr/TASK-001/work";
const SHOWN: &str = "f\u{fffd}lder/caf\u{fffd}.txt";

fn name() -> PathBuf {
    PathBuf::from(OsStr::from_bytes(b"f\xf6lder/caf\xe9.txt"))
}

fn write(checkout: &Path, content: &str) {
    let path = checkout.join(name());
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

fn read(checkout: &Path) -> Option<String> {
    fs::read_to_string(checkout.join(name())).ok()
}

/// The content of the file in a commit, as git sees it.
fn stored(checkout: &Path, commit: &str) -> Option<String> {
    let listed = run(checkout, &["ls-tree", "-r", "-z", commit]).stdout;
    let entry = listed.split(|byte| *byte == 0).find(|entry| entry.ends_with(name().as_os_str().as_bytes()))?;
    let id = String::from_utf8_lossy(entry).split_whitespace().nth(2).unwrap().to_owned();
    Some(git(checkout, &["cat-file", "blob", &id]))
}

#[test]
fn file_is_seen_submitted_merged_and_landed() {
    let checkout = TaskCheckout::new(&[("a", "a\n")]);
    let (sample, repository, path) = (&checkout.sample, &checkout.repository, &checkout.path);
    repository.ensure_project_branch(PROJECT, "main").unwrap();
    write(path, "one\n");
    let seen = repository.evidence(path, BRANCH, PROJECT, &[]).unwrap();
    assert_eq!((seen.dirty_count, seen.dirty_paths), (1, vec!["f\u{fffd}lder/".to_owned()]));
    let rescued = repository.rescue("refs/vibe-relay/rescue/TASK-001", path, &checkout.head).unwrap().unwrap();
    assert_eq!(stored(path, &rescued.sha).as_deref(), Some("one"));

    let first = commit_all_in(path, "work");
    let seen = repository.evidence(path, BRANCH, PROJECT, &["f*/**".to_owned()]).unwrap();
    assert_eq!((seen.dirty_count, seen.changed_paths, seen.protected.is_some()), (0, vec![SHOWN.to_owned()], true));
    write(path, "two\n");
    assert_eq!(repository.evidence(path, BRANCH, PROJECT, &[]).unwrap().dirty_paths, [SHOWN]);
    let taken = repository.take_checkpoint("TASK-001", "task", path, &first).unwrap().unwrap();
    assert_eq!(stored(path, &taken.sha).as_deref(), Some("two"));
    let second = commit_all_in(path, "more work");

    let diff = repository.diff(&checkout.head, &second, DiffLimits::default()).unwrap();
    assert_eq!((diff.files.len(), diff.files[0].path.as_str(), diff.files[0].added), (1, SHOWN, 1));
    let one = repository.diff_between(&checkout.head, &second, &[SHOWN], DiffLimits::REVIEW_FILE).unwrap();
    assert_eq!((one.files.len(), one.files[0].hunks.len()), (1, 1));

    let identity = repository.identity("runner").unwrap();
    let tip = repository.ref_sha(PROJECT).unwrap().unwrap();
    assert!(matches!(repository.merge(PROJECT, &tip, &second, "merge", &identity).unwrap(), MergeOutcome::Merged { .. }));
    let landed = repository.land(LandRequest {
        project_branch: PROJECT,
        base_branch: "main",
        base_head: &checkout.head,
        bring_back: None,
        workdir: sample.top(),
        message: "land",
        identity: &identity,
    });
    assert!(matches!(landed.unwrap(), LandOutcome::Landed { .. }));
    assert_eq!(read(sample.top()).as_deref(), Some("two\n"));
    assert_eq!(git(sample.top(), &["status", "--porcelain"]), "");
    repository.add_detached("review", &sample.beside("review"), &second).unwrap();
    assert_eq!(read(&sample.beside("review")).as_deref(), Some("two\n"));
}

#[test]
fn conflict_names_the_file() {
    let checkout = TaskCheckout::new(&[("a", "a\n")]);
    let repository = &checkout.repository;
    write(&checkout.path, "theirs\n");
    let theirs = commit_all_in(&checkout.path, "theirs");
    write(checkout.sample.top(), "ours\n");
    let ours = checkout.sample.commit_all("ours");
    let identity = repository.identity("runner").unwrap();
    let merged = repository.merge_commit(&ours, &theirs, "merge", &identity).unwrap();
    assert_eq!(merged, MergeOutcome::Conflict { paths: vec![SHOWN.to_owned()] });
    assert_eq!(repository.conflicts(&ours, &theirs).unwrap().len(), 1);
}

#[test]
fn uncommitted_file_stays_at_a_landing_and_is_in_a_snapshot() {
    let checkout = TaskCheckout::new(&[("a", "a\n")]);
    let (sample, repository) = (&checkout.sample, &checkout.repository);
    write(sample.top(), "mine\n");
    let start = repository.start_with_snapshot(sample.top(), "main", &checkout.head, |_| false).unwrap().unwrap();
    assert_eq!(stored(sample.top(), &start).as_deref(), Some("mine"));
    sample.commit_all("mine");
    write(sample.top(), "newer\n");
    sample.commit_on(PROJECT, &[("b", Some("b"))], "work");
    let base = repository.ref_sha("main").unwrap().unwrap();
    let identity = repository.identity("land").unwrap();
    let landed = repository.land(LandRequest {
        project_branch: PROJECT,
        base_branch: "main",
        base_head: &base,
        bring_back: None,
        workdir: sample.top(),
        message: "land",
        identity: &identity,
    });
    assert!(matches!(landed.unwrap(), LandOutcome::Landed { .. }));
    assert_eq!(read(sample.top()).as_deref(), Some("newer\n"));
}

#[test]
fn ignored_file_is_copied() {
    let checkout = TaskCheckout::new(&[(".gitignore", "*.txt\n")]);
    write(checkout.sample.top(), "KEY=1\n");
    let found = checkout.repository.ignored_files(checkout.sample.top(), |path| path.ends_with(".txt")).unwrap();
    assert_eq!(found.paths, [name()]);
    checkout.repository.copy_files(checkout.sample.top(), &checkout.path, &found.paths).unwrap();
    assert_eq!(read(&checkout.path).as_deref(), Some("KEY=1\n"));
}
