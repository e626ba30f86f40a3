//! Branches move only from the expected tip, even under contention, and are deleted only if another reference keeps them.

use std::cell::Cell;
use std::fs;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use git2::{ErrorClass, ErrorCode};

use crate::git_program::git;
use crate::testing::TestRepository;
use crate::{RESCUE_PREFIX, RepoError, check_start_branch};

const UNKNOWN: &str = "89abcdef89abcdef89abcdef89abcdef89abcdef";

#[test]
fn a_project_branch_is_created_once() {
    let sample = TestRepository::new();
    let repository = sample.repository();
    let start = repository.ref_sha("main").unwrap().unwrap();
    assert_eq!(repository.ensure_project_branch("vibe-relay/PROJ-001", "main").unwrap(), start);
    sample.commit_on("main", &[("later.txt", Some("later"))], "later");
    assert_eq!(repository.ensure_project_branch("vibe-relay/PROJ-001", "main").unwrap(), start, "it stays where it is");
    assert_eq!(repository.ensure_project_branch("other", "nowhere").unwrap_err().code(), "branch-missing");
}

#[test]
fn a_used_branch_name_gets_a_number() {
    let sample = TestRepository::new();
    let repository = sample.repository();
    let start = repository.ref_sha("main").unwrap().unwrap();
    assert_eq!(repository.free_branch_name("vr/TASK-001/work").unwrap(), "vr/TASK-001/work");
    sample.set_branch("vr/TASK-001/work", &start);
    sample.set_branch("vr/TASK-001/work-2/below", &start);
    assert_eq!(repository.free_branch_name("vr/TASK-001/work").unwrap(), "vr/TASK-001/work-3");
}

#[test]
fn a_branch_name_conflict_is_reported_loose_and_packed() {
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
fn concurrent_moves_succeed_exactly_as_often_as_reported() {
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
                    // Create objects one at a time, so that only the move itself is a race.
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
fn a_stale_lock_is_reported_and_can_be_cleared() {
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
    assert!(!repository.clear_lock("refs/heads/vr/TASK-001/work").unwrap(), "a full name works too, and a repeat does nothing");
    repository.move_ref("vr/TASK-001/work", Some(&next), &start, "moved back").unwrap();
}

#[test]
fn a_vanished_folder_is_recreated_a_limited_number_of_times() {
    let sample = TestRepository::new();
    let handle = sample.repository().handle().unwrap();
    let gone = || git2::Error::new(ErrorCode::GenericError, ErrorClass::Os, "failed to make directory");
    let attempts = Cell::new(0);
    let vanishing = |times: u32| {
        attempts.set(0);
        super::retry_while_locked(&handle, "refs/heads/vr/TASK-001/work", None, || {
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
fn a_blocking_packed_refs_lock_is_named_in_the_hint() {
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
fn a_branch_is_deleted_only_if_its_commits_are_kept() {
    let sample = TestRepository::new();
    let repository = sample.repository();
    let tip = sample.commit_on("vr/TASK-001/work", &[("a", Some("a"))], "work");
    assert!(!repository.delete_branch("vr/TASK-009/work", "main").unwrap(), "the branch does not exist");
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

#[test]
fn a_branch_moves_on_only_with_everything_it_held() {
    let sample = TestRepository::new();
    let (repository, start) = (sample.repository(), sample.repository().ref_sha("main").unwrap().unwrap());
    let moved_on = |known: &String| repository.moved_on("main", known).unwrap();
    assert_eq!(moved_on(&start), None, "it is where it was");
    let next = sample.commit_on("main", &[("a", Some("a"))], "next");
    assert_eq!(moved_on(&start), Some(next.clone()));
    sample.set_branch("main", &start);
    assert_eq!(moved_on(&next), None, "it lost a commit");
    assert_eq!(moved_on(&"1".repeat(40)), Some(start), "nobody can find out");
    assert_eq!(repository.moved_on("gone", &next).unwrap(), None);
}

#[tokio::test]
async fn task_begins_at_a_local_branch_alone() {
    let sample = TestRepository::new();
    check_start_branch(&sample.git_dir(), "main").await.unwrap().unwrap();
    for name in ["my-idea", "refs/heads/main", "HEAD", "a b", ""] {
        let refusal = check_start_branch(&sample.git_dir(), name).await.unwrap().unwrap_err();
        assert_eq!(refusal.to_string(), format!("from_branch: the repository has no local branch {name}"));
    }
}
