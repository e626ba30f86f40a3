//! Branches move only from where they are expected to be, also under contention, and are deleted only when kept.

use std::cell::Cell;
use std::fs;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use git2::{ErrorClass, ErrorCode};

use crate::git_program::git;
use crate::testing::TestRepository;
use crate::{RESCUE_PREFIX, RepoError};

const UNKNOWN: &str = "89abcdef89abcdef89abcdef89abcdef89abcdef";

#[test]
fn a_project_branch_is_made_once() {
    let sample = TestRepository::new();
    let repository = sample.repository();
    let start = repository.ref_sha("main").unwrap().unwrap();
    assert_eq!(repository.ensure_project_branch("vibe-relay/PROJ-001", "main").unwrap(), start);
    sample.commit_on("main", &[("later.txt", Some("later"))], "later");
    assert_eq!(repository.ensure_project_branch("vibe-relay/PROJ-001", "main").unwrap(), start, "it stays where it is");
    assert_eq!(repository.ensure_project_branch("other", "nowhere").unwrap_err().code(), "branch-missing");
}

#[test]
fn taken_names_get_a_number() {
    let sample = TestRepository::new();
    let repository = sample.repository();
    let start = repository.ref_sha("main").unwrap().unwrap();
    assert_eq!(repository.free_branch_name("vr/TASK-001/work").unwrap(), "vr/TASK-001/work");
    sample.set_branch("vr/TASK-001/work", &start);
    sample.set_branch("vr/TASK-001/work-2/below", &start);
    assert_eq!(repository.free_branch_name("vr/TASK-001/work").unwrap(), "vr/TASK-001/work-3");
}

#[test]
fn a_branch_in_the_place_of_a_folder_is_named_loose_and_packed() {
    let sample = TestRepository::new();
    let repository = sample.repository();
    let start = repository.ref_sha("main").unwrap().unwrap();
    sample.set_branch("vr", &start);
    for _ in 0..2 {
        for refusal in
            [repository.free_branch_name("vr/TASK-001/work").unwrap_err(), repository.move_ref("vr/TASK-001/work", None, &start, "test").unwrap_err()]
        {
            assert!(matches!(refusal, RepoError::BranchNameConflict { ref existing, .. } if existing == "vr"), "{refusal}");
        }
        git(sample.top(), &["pack-refs", "--all"]);
    }
    sample.set_branch("a/b/c", &start);
    let refusal = repository.move_ref("a/b", None, &start, "test").unwrap_err();
    assert!(matches!(refusal, RepoError::BranchNameConflict { ref existing, .. } if existing == "a/b/c"), "{refusal}");
}

#[test]
fn a_branch_moves_only_from_its_expected_tip() {
    let sample = TestRepository::new();
    let repository = sample.repository();
    let one = repository.ref_sha("main").unwrap().unwrap();
    let two = sample.commit_on("work", &[("a", Some("a"))], "two");
    let three = sample.commit_on("work", &[("b", Some("b"))], "three");

    repository.move_ref("target", None, &one, "made").unwrap();
    assert_eq!(repository.move_ref("target", None, &two, "again").unwrap_err().code(), "branch-moved");
    repository.move_ref("target", Some(&one), &two, "moved").unwrap();
    let refusal = repository.move_ref("target", Some(&one), &three, "stale").unwrap_err();
    assert!(matches!(refusal, RepoError::Moved { found: Some(ref found), .. } if *found == two), "{refusal}");
    assert_eq!(repository.ref_sha("target").unwrap(), Some(two.clone()));
    assert_eq!(repository.move_ref("gone", Some(&one), &two, "absent").unwrap_err().code(), "branch-moved");
    assert_eq!(repository.move_ref("target", Some(&two), &UNKNOWN.to_owned(), "x").unwrap_err().code(), "commit-missing");
}

#[test]
fn of_many_movers_exactly_the_winners_moved_it() {
    let sample = TestRepository::new();
    let start = sample.repository().ref_sha("main").unwrap().unwrap();
    sample.set_branch("race", &start);
    let wins = AtomicU32::new(0);
    let tip = std::sync::Mutex::new(());
    thread::scope(|scope| {
        for mover in 0..4 {
            let (sample, wins, tip) = (&sample, &wins, &tip);
            scope.spawn(move || {
                let repository = sample.repository();
                for round in 0..10 {
                    let old = repository.ref_sha("race").unwrap().unwrap();
                    // Objects are made one at a time; only the move itself is raced for.
                    let new = {
                        let _one = tip.lock().unwrap();
                        let side = format!("side-{mover}-{round}");
                        sample.set_branch(&side, &old);
                        sample.commit_on(&side, &[("file", Some(&side))], &side)
                    };
                    match repository.move_ref("race", Some(&old), &new, "race") {
                        Ok(()) => _ = wins.fetch_add(1, Ordering::Relaxed),
                        Err(RepoError::Moved { .. }) => {}
                        Err(other) => panic!("{other}"),
                    }
                }
            });
        }
    });
    let count = git(sample.top(), &["rev-list", "--count", &format!("{start}..race")]);
    assert_eq!(count, wins.into_inner().to_string());
    assert_ne!(count, "0");
}

#[test]
fn a_left_over_lock_is_reported_and_can_be_cleared() {
    let sample = TestRepository::new();
    let repository = sample.repository();
    let start = repository.ref_sha("main").unwrap().unwrap();
    let next = sample.commit_on("side", &[("a", Some("a"))], "next");
    repository.move_ref("vr/TASK-001/work", None, &start, "made").unwrap();
    fs::write(sample.git_dir().join("refs/heads/vr/TASK-001/work.lock"), "").unwrap();
    let refusal = repository.move_ref("vr/TASK-001/work", Some(&start), &next, "moved").unwrap_err();
    assert_eq!(refusal.code(), "branch-locked");
    assert!(refusal.hint().contains("refs/heads/vr/TASK-001/work.lock"), "{}", refusal.hint());
    repository.clear_locks("PROJ-001-TASK-001", "vr/TASK-001/work").unwrap();
    repository.clear_locks("PROJ-001-TASK-001", "vr/TASK-001/work").unwrap();
    repository.move_ref("vr/TASK-001/work", Some(&start), &next, "moved").unwrap();
    fs::write(sample.git_dir().join("refs/heads/vr/TASK-001/work.lock"), "").unwrap();
    assert!(repository.clear_lock("vr/TASK-001/work").unwrap());
    assert!(!repository.clear_lock("refs/heads/vr/TASK-001/work").unwrap(), "by its whole name too, and as often as one likes");
    repository.move_ref("vr/TASK-001/work", Some(&next), &start, "moved back").unwrap();
}

#[test]
fn a_folder_that_vanishes_is_made_again_but_not_for_ever() {
    let sample = TestRepository::new();
    let handle = sample.repository().handle().unwrap();
    let gone = || git2::Error::new(ErrorCode::GenericError, ErrorClass::Os, "failed to make directory");
    let attempts = Cell::new(0);
    let vanishing = |times: u32| {
        attempts.set(0);
        super::patiently(&handle, "refs/heads/vr/TASK-001/work", None, || {
            attempts.update(|number| number + 1);
            if attempts.get() <= times { Err(gone()) } else { Ok(()) }
        })
    };
    vanishing(2).unwrap();
    assert_eq!(attempts.get(), 3);
    assert_eq!(vanishing(u32::MAX).unwrap_err().code(), "git");
    assert_eq!(attempts.get(), 4);
}

#[test]
fn the_lock_on_packed_references_is_named_when_it_is_in_the_way() {
    let sample = TestRepository::new();
    let repository = sample.repository();
    sample.commit_on("vr/TASK-001/work", &[("a", Some("a"))], "work");
    git(sample.top(), &["pack-refs", "--all"]);
    repository.rescue_tip(&format!("{RESCUE_PREFIX}TASK-001/tip"), &repository.ref_sha("vr/TASK-001/work").unwrap().unwrap()).unwrap();
    fs::write(sample.git_dir().join("packed-refs.lock"), "").unwrap();
    let refusal = repository.delete_branch("vr/TASK-001/work", "main").unwrap_err();
    assert_eq!(refusal.code(), "branch-locked");
    assert!(refusal.hint().contains("packed-refs.lock"), "{}", refusal.hint());
    assert!(repository.ref_sha("vr/TASK-001/work").unwrap().is_some());
}

#[test]
fn a_branch_is_deleted_only_when_something_keeps_it() {
    let sample = TestRepository::new();
    let repository = sample.repository();
    let tip = sample.commit_on("vr/TASK-001/work", &[("a", Some("a"))], "work");
    assert!(!repository.delete_branch("vr/TASK-009/work", "main").unwrap(), "there is none");
    assert_eq!(repository.delete_branch("vr/TASK-001/work", "main").unwrap_err().code(), "branch-not-kept");
    assert_eq!(repository.delete_branch("vr/TASK-001/work", "vr/TASK-001/work").unwrap_err().code(), "branch-not-kept");
    assert_eq!(repository.delete_branch("main", "vr/TASK-001/work").unwrap_err().code(), "branch-checked-out");

    repository.rescue_tip("refs/vibe-relay/rescue/PROJ-001/TASK-001", &tip).unwrap();
    git(sample.top(), &["pack-refs", "--all"]);
    assert!(repository.delete_branch("vr/TASK-001/work", "main").unwrap());
    assert_eq!(repository.ref_sha("vr/TASK-001/work").unwrap(), None);
    assert_eq!(git(sample.top(), &["rev-parse", "refs/vibe-relay/rescue/PROJ-001/TASK-001"]), tip);

    let merged = sample.commit_on("vr/TASK-002/work", &[("b", Some("b"))], "work");
    sample.set_branch("vibe-relay/PROJ-001", &merged);
    assert!(repository.delete_branch("vr/TASK-002/work", "vibe-relay/PROJ-001").unwrap());
}
