//! Deleting one branch never loses another, even while other programs write, and a killed deletion can be finished.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::delete;
use crate::git_program::{git, run};
use crate::handle::oid;
use crate::testing::TestRepository;
use crate::{RepoError, Repository};

const BRANCH: &str = "vr/TASK-001/work";
const NAME: &str = "refs/heads/vr/TASK-001/work";

/// A state that a kill leaves, and the function that produces it.
type Step = (&'static str, fn(&TestRepository));

fn sample() -> (TestRepository, Repository, String) {
    let sample = TestRepository::new();
    let repository = sample.repository();
    let start = repository.ref_sha("main").unwrap().unwrap();
    (sample, repository, start)
}

/// The branches that `git` lists, as one line.
fn branches(sample: &TestRepository) -> String {
    git(sample.top(), &["branch", "--format=%(refname:short)"]).replace('\n', " ")
}

/// Packs so many references that writing the file takes long enough for a race.
fn pack_many(sample: &TestRepository, start: &str, deleted: usize) {
    let mut names: Vec<String> = (0..deleted).map(|number| format!("refs/heads/done/{number:04}")).collect();
    names.extend((0..3_000).map(|number| format!("refs/tags/v{number:04}")));
    let mut text = "# pack-refs with: peeled fully-peeled sorted \n".to_owned();
    names.iter().for_each(|name| text.push_str(&format!("{start} {name}\n")));
    fs::write(sample.git_dir().join("packed-refs"), text).unwrap();
}

#[test]
fn branches_packed_during_a_deletion_survive() {
    const DELETED: usize = 60;
    let (sample, repository, start) = sample();
    pack_many(&sample, &start, DELETED);
    let done = AtomicBool::new(false);
    let packed = thread::scope(|scope| {
        let packer = scope.spawn(|| {
            let folder = sample.git_dir().join("refs/heads/fresh");
            let mut made = 0;
            while !done.load(Ordering::Relaxed) {
                fs::create_dir_all(&folder).unwrap();
                // `git` removes the folder after packing its branches.
                if fs::write(folder.join(made.to_string()), format!("{start}\n")).is_ok() {
                    made += 1;
                    run(sample.top(), &["pack-refs", "--all"]);
                }
            }
            made
        });
        let deleted: Vec<_> = (0..DELETED).map(|number| repository.delete_branch(&format!("done/{number:04}"), "main")).collect();
        done.store(true, Ordering::Relaxed);
        assert!(deleted.iter().all(|deleted| matches!(deleted, Ok(true))), "{deleted:?}");
        packer.join().unwrap()
    });
    let count = |pattern: &str| git(sample.top(), &["for-each-ref", "--format=.", pattern]).lines().count();
    assert!(packed > 0);
    assert_eq!(count("refs/heads/fresh"), packed, "branches that git packed were lost");
    assert_eq!(count("refs/heads/done"), 0);
    assert_eq!(count("refs/tags"), 3_000);
}

#[test]
fn a_deletion_removes_every_trace_and_nothing_else() {
    let (sample, repository, start) = sample();
    git(sample.top(), &["tag", "-a", "-m", "a tag", "v1"]);
    git(sample.top(), &["branch", BRANCH]);
    git(sample.top(), &["branch", "vr/TASK-002/work"]);
    git(sample.top(), &["pack-refs", "--all"]);
    let packed = sample.git_dir().join("packed-refs");
    let before = fs::read_to_string(&packed).unwrap();
    // The branch now also has a loose value, which hides the packed one.
    let next = sample.commit_on(BRANCH, &[("a", Some("a"))], "next");
    sample.set_branch("kept", &next);
    assert!(repository.delete_branch(BRANCH, "kept").unwrap());
    assert_eq!(fs::read_to_string(&packed).unwrap(), before.replace(&format!("{start} {NAME}\n"), ""));
    assert_eq!(branches(&sample), "kept main vr/TASK-002/work");
    assert!(!sample.git_dir().join("logs").join(NAME).parent().unwrap().exists(), "the reflog folder remains");
    assert!(!sample.git_dir().join("refs/heads/vr").exists(), "the folders of the lock remain");
    assert!(sample.git_dir().join("logs/refs/heads/vr/TASK-002/work").exists());
    git(sample.top(), &["fsck", "--strict"]);
}

#[test]
fn a_killed_deletion_is_finished_by_a_repeat() {
    fn reference_locked(sample: &TestRepository) {
        stale_lock(&sample.git_dir().join(format!("{NAME}.lock")));
    }
    fn locked(sample: &TestRepository) {
        reference_locked(sample);
        stale_lock(&sample.git_dir().join("packed-refs.lock"));
    }
    /// Writes one of our locks whose process has exited.
    fn stale_lock(lock: &Path) {
        fs::create_dir_all(lock.parent().unwrap()).unwrap();
        fs::write(lock, "vibe-relay\n").unwrap();
    }
    fn no_reflog(sample: &TestRepository) {
        locked(sample);
        fs::remove_file(sample.git_dir().join("logs").join(NAME)).unwrap();
    }
    fn drafted(sample: &TestRepository) {
        no_reflog(sample);
        fs::write(sample.git_dir().join("packed-refs.vibe-relay"), "# pack").unwrap();
    }
    fn not_packed(sample: &TestRepository) {
        no_reflog(sample);
        let packed = sample.git_dir().join("packed-refs");
        let text = fs::read_to_string(&packed).unwrap();
        let rest: Vec<_> = text.lines().filter(|line| !line.ends_with(NAME)).collect();
        fs::write(packed, rest.join("\n") + "\n").unwrap();
    }
    fn not_loose(sample: &TestRepository) {
        not_packed(sample);
        fs::remove_file(sample.git_dir().join(NAME)).unwrap();
    }
    let steps: [Step; 6] = [
        ("the branch is locked", reference_locked),
        ("packed-refs is locked too", locked),
        ("the reflog is gone", no_reflog),
        ("a partial draft exists", drafted),
        ("the packed value is gone", not_packed),
        ("the loose value is gone too", not_loose),
    ];
    for (state, kill) in steps {
        let (sample, repository, _) = sample();
        git(sample.top(), &["branch", BRANCH]);
        git(sample.top(), &["pack-refs", "--all"]);
        let next = sample.commit_on(BRANCH, &[("a", Some("a"))], "next");
        sample.set_branch("kept", &next);
        kill(&sample);
        let existed = repository.ref_sha(BRANCH).unwrap().is_some();
        assert_eq!(repository.delete_branch(BRANCH, "kept").unwrap(), existed, "{state}");
        assert_eq!(branches(&sample), "kept main", "{state}");
        assert!(!sample.git_dir().join("refs/heads/vr").exists(), "{state}");
        git(sample.top(), &["pack-refs", "--all"]);
    }
}

#[test]
fn a_branch_that_moved_is_not_deleted() {
    let (sample, repository, start) = sample();
    let next = sample.commit_on(BRANCH, &[("a", Some("a"))], "next");
    for _ in 0..2 {
        let refusal = delete(&sample.git_dir(), NAME, oid(&start).unwrap()).unwrap_err();
        assert!(matches!(refusal, RepoError::Moved { found: Some(ref found), .. } if *found == next), "{refusal}");
        assert_eq!(repository.ref_sha(BRANCH).unwrap().as_ref(), Some(&next));
        git(sample.top(), &["pack-refs", "--all"]);
    }
    assert!(!delete(&sample.git_dir(), "refs/heads/vr/TASK-002/work", oid(&start).unwrap()).unwrap(), "a missing reference is not an error");
}

#[test]
fn a_symbolic_branch_is_not_deleted() {
    let (sample, repository, _) = sample();
    sample.commit_on("other", &[("a", Some("a"))], "other");
    sample.set_branch("kept", &repository.ref_sha("other").unwrap().unwrap());
    git(sample.top(), &["symbolic-ref", NAME, "refs/heads/other"]);
    let refusal = repository.delete_branch(BRANCH, "kept").unwrap_err();
    assert!(matches!(refusal, RepoError::Symbolic { ref target, .. } if target == "refs/heads/other"), "{refusal}");
    fs::remove_file(sample.git_dir().join(NAME)).unwrap();
    std::os::unix::fs::symlink("../../other", sample.git_dir().join(NAME)).unwrap();
    assert_eq!(repository.delete_branch(BRANCH, "kept").unwrap_err().code(), "branch-symbolic");
    assert_eq!(branches(&sample), "kept main other vr/TASK-001/work");
}

/// Each deletion removes the folder in which the other thread creates its next branch.
#[test]
fn neighbours_created_during_a_deletion_survive() {
    const ROUNDS: usize = 60;
    let (sample, repository, start) = sample();
    thread::scope(|scope| {
        let maker = scope.spawn(|| {
            for round in 0..ROUNDS {
                repository.move_ref(&format!("vr/made/{round}"), None, &start, "made").unwrap();
                git(sample.top(), &["branch", &format!("vr/theirs/{round}")]);
                assert!(repository.delete_branch(&format!("vr/made/{round}"), "main").unwrap());
            }
        });
        let mut round = 0;
        while !maker.is_finished() {
            let branch = format!("vr/deleted/{round}");
            repository.move_ref(&branch, None, &start, "made").unwrap();
            assert!(repository.delete_branch(&branch, "main").unwrap());
            round += 1;
        }
        maker.join().unwrap();
    });
    assert_eq!(git(sample.top(), &["for-each-ref", "--format=.", "refs/heads/vr"]).lines().count(), ROUNDS);
}
