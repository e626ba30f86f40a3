//! Each operation waits for the disk once, and for a commit before the reference that keeps it.

use std::cell::RefCell;

use crate::testing::{TestRepository, write_in};
use crate::{MergeOutcome, RESCUE_PREFIX};

thread_local! {
    static SEEN: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Writes down what the tested code waits for.
pub(super) fn note(what: &str) {
    SEEN.with_borrow_mut(|seen| seen.push(what.to_owned()));
}

/// What `work` waited for, in this order.
fn waited_for<T>(work: impl FnOnce() -> T) -> (T, Vec<String>) {
    SEEN.take();
    let done = work();
    (done, SEEN.take())
}

const PROJECT: &str = "vibe-relay/PROJ-001";

#[test]
fn a_merge_waits_once_for_its_objects_and_then_for_its_branch() {
    let sample = TestRepository::new();
    let repository = sample.repository();
    repository.ensure_project_branch(PROJECT, "main").unwrap();
    let head = sample.commit_on("vr/TASK-001/work", &[("a", Some("a"))], "work");
    let identity = repository.identity("runner").unwrap();
    let merge = |head| repository.merge(PROJECT, &repository.ref_sha(PROJECT).unwrap().unwrap(), head, "Merge", &identity).unwrap();
    let order = ["objects", "refs/heads/vibe-relay/PROJ-001"];
    assert_eq!(waited_for(|| merge(&head)).1, order);
    let (outcome, waits) = waited_for(|| merge(&head));
    assert!(matches!(outcome, MergeOutcome::Merged { already: true, .. }));
    assert_eq!(waits, order, "who merged it may not have waited");

    let there = sample.commit_on("vr/TASK-002/work", &[("a", Some("b"))], "other work");
    let (outcome, waits) = waited_for(|| merge(&there));
    assert!(matches!(outcome, MergeOutcome::Conflict { .. }));
    assert_eq!(waits, [""; 0]);
}

#[test]
fn a_landing_waits_once_for_its_objects_and_then_for_the_base() {
    let sample = TestRepository::new();
    let repository = sample.repository();
    sample.commit_on(PROJECT, &[("a", Some("a"))], "work");
    let identity = repository.identity("runner").unwrap();
    for _ in 0..2 {
        let landed = || repository.land(PROJECT, "main", sample.top(), "Land", &identity).unwrap();
        assert_eq!(waited_for(landed).1, ["objects", "refs/heads/main"]);
    }
}

#[test]
fn a_rescue_waits_once_for_its_objects_and_then_for_its_reference() {
    let sample = TestRepository::new();
    let repository = sample.repository();
    let start = repository.ref_sha("main").unwrap().unwrap();
    let path = sample.beside("TASK-001");
    repository.add_worktree("TASK-001", &path, "vr/TASK-001/work", &start).unwrap();
    let (reference, tip) = (format!("{RESCUE_PREFIX}TASK-001/uncommitted"), format!("{RESCUE_PREFIX}TASK-001/tip"));
    let rescue = || repository.rescue(&reference, &path, &start).unwrap();
    assert_eq!(waited_for(rescue), (None, Vec::new()), "there is nothing to keep");
    write_in(&path, "new.txt", "new\n");
    for _ in 0..2 {
        assert_eq!(waited_for(rescue).1, ["objects", reference.as_str()]);
        assert_eq!(waited_for(|| repository.rescue_tip(&tip, &start).unwrap()).1, ["objects", tip.as_str()]);
    }
}

#[test]
fn a_new_branch_is_waited_for_and_objects_that_were_there_are_not() {
    let sample = TestRepository::new();
    let repository = sample.repository();
    let made = || repository.ensure_project_branch(PROJECT, "main").unwrap();
    assert_eq!(waited_for(made).1, ["refs/heads/vibe-relay/PROJ-001"]);
}
