//! Each operation syncs once, and syncs objects before the reference that keeps them.

use std::cell::RefCell;

use crate::testing::{TestRepository, write_in};
use crate::{LandRequest, MergeOutcome, RESCUE_PREFIX};

thread_local! {
    static SYNCED: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Records one sync of the tested code.
pub(super) fn record_sync(what: &str) {
    SYNCED.with_borrow_mut(|seen| seen.push(what.to_owned()));
}

/// Runs `work` and returns its syncs in order.
fn synced_by<T>(work: impl FnOnce() -> T) -> (T, Vec<String>) {
    SYNCED.take();
    let done = work();
    (done, SYNCED.take())
}

const PROJECT: &str = "vibe-relay/PROJ-001";

#[test]
fn a_merge_syncs_its_objects_before_its_branch() {
    let sample = TestRepository::new();
    let repository = sample.repository();
    repository.ensure_project_branch(PROJECT, "main").unwrap();
    let head = sample.commit_on("vr/TASK-001/work", &[("a", Some("a"))], "work");
    let identity = repository.identity("runner").unwrap();
    let merge = |head| repository.merge(PROJECT, &repository.ref_sha(PROJECT).unwrap().unwrap(), head, "Merge", &identity).unwrap();
    let order = ["objects", "refs/heads/vibe-relay/PROJ-001"];
    assert_eq!(synced_by(|| merge(&head)).1, order);
    let (outcome, waits) = synced_by(|| merge(&head));
    assert!(matches!(outcome, MergeOutcome::Merged { already: true, .. }));
    assert_eq!(waits, order, "the first merge may have been killed before its sync");

    let there = sample.commit_on("vr/TASK-002/work", &[("a", Some("b"))], "other work");
    let (outcome, waits) = synced_by(|| merge(&there));
    assert!(matches!(outcome, MergeOutcome::Conflict { .. }));
    assert_eq!(waits, [""; 0]);
}

#[test]
fn a_landing_syncs_its_objects_before_the_base() {
    let sample = TestRepository::new();
    let repository = sample.repository();
    sample.commit_on(PROJECT, &[("a", Some("a"))], "work");
    let identity = repository.identity("runner").unwrap();
    for _ in 0..2 {
        let base_head = &repository.ref_sha("main").unwrap().unwrap();
        let (project_branch, base_branch, workdir, message, identity) = (PROJECT, "main", sample.top(), "Land", &identity);
        let request = LandRequest { project_branch, base_branch, base_head, bring_back: None, workdir, message, identity };
        let landed = || repository.land(request).unwrap();
        assert_eq!(synced_by(landed).1, ["objects", "refs/heads/main"]);
    }
}

#[test]
fn a_rescue_syncs_its_objects_before_its_reference() {
    let sample = TestRepository::new();
    let repository = sample.repository();
    let start = repository.ref_sha("main").unwrap().unwrap();
    let path = sample.beside("TASK-001");
    repository.add_worktree("TASK-001", &path, "vr/TASK-001/work", &start).unwrap();
    let (reference, tip) = (format!("{RESCUE_PREFIX}TASK-001/uncommitted"), format!("{RESCUE_PREFIX}TASK-001/tip"));
    let rescue = || repository.rescue(&reference, &path, &start).unwrap();
    assert_eq!(synced_by(rescue), (None, Vec::new()), "a clean checkout needs no rescue");
    write_in(&path, "new.txt", "new\n");
    for _ in 0..2 {
        assert_eq!(synced_by(rescue).1, ["objects", reference.as_str()]);
        assert_eq!(synced_by(|| repository.rescue_tip(&tip, &start).unwrap()).1, ["objects", tip.as_str()]);
    }
}

#[test]
fn a_new_branch_is_synced_without_existing_objects() {
    let sample = TestRepository::new();
    let repository = sample.repository();
    let made = || repository.ensure_project_branch(PROJECT, "main").unwrap();
    assert_eq!(synced_by(made).1, ["refs/heads/vibe-relay/PROJ-001"]);
}
