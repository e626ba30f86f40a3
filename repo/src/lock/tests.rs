//! A lock keeps everybody else out, is given back, and is taken away from the dead alone.

use std::fs;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use super::{LockFile, lock_of, remove_left_over};

#[test]
fn one_at_a_time_holds_it() {
    let folder = tempfile::tempdir().unwrap();
    // Its folder is made, too, and removed by whoever is done, as if a neighbour had been deleted.
    let target = folder.path().join("vr/TASK-001/work");
    let holders = AtomicU32::new(0);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..25 {
                    let lock = LockFile::hold(&target, "work").unwrap();
                    assert_eq!(holders.fetch_add(1, Ordering::SeqCst), 0);
                    thread::yield_now();
                    assert_eq!(holders.fetch_sub(1, Ordering::SeqCst), 1);
                    drop(lock);
                    _ = fs::remove_dir(target.parent().unwrap());
                }
            });
        }
    });
    assert!(!lock_of(&target).exists());
}

#[test]
fn only_a_dead_lock_of_ours_is_taken_away() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("packed-refs");
    assert!(!remove_left_over(&target).unwrap(), "there is none");
    let lock = LockFile::hold(&target, "packed-refs").unwrap();
    assert!(!remove_left_over(&target).unwrap(), "its holder lives");
    assert!(lock_of(&target).exists());
    let ours = fs::read(lock_of(&target)).unwrap();
    drop(lock);
    for foreign in ["", "vibe", "4711\n"] {
        fs::write(lock_of(&target), foreign).unwrap();
        assert!(!remove_left_over(&target).unwrap(), "{foreign:?}");
    }
    fs::write(lock_of(&target), ours).unwrap();
    assert!(remove_left_over(&target).unwrap());
    assert!(!lock_of(&target).exists());
}

#[test]
fn what_somebody_put_in_its_place_is_not_removed() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("index");
    let lock = LockFile::hold(&target, "index").unwrap();
    fs::remove_file(lock_of(&target)).unwrap();
    fs::write(lock_of(&target), "theirs").unwrap();
    drop(lock);
    assert!(lock_of(&target).exists());
}
