//! A lock is exclusive, is released on drop, and is removed by others only if its process has exited.

use std::fs;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use super::{LockFile, lock_path, remove_stale};
use crate::error::RepoError;

#[test]
fn a_lock_has_one_holder_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    // Each holder removes the folder afterwards, as the deletion of a neighbour would.
    let target = folder.path().join("vr/TASK-001/work");
    let holders = AtomicU32::new(0);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..25 {
                    let lock = LockFile::acquire(&target, "work").unwrap();
                    assert_eq!(holders.fetch_add(1, Ordering::SeqCst), 0);
                    thread::yield_now();
                    assert_eq!(holders.fetch_sub(1, Ordering::SeqCst), 1);
                    drop(lock);
                    _ = fs::remove_dir(target.parent().unwrap());
                }
            });
        }
    });
    assert!(!lock_path(&target).exists());
}

#[test]
fn only_our_own_stale_locks_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("packed-refs");
    assert!(!remove_stale(&target).unwrap(), "no lock exists");
    let lock = LockFile::acquire(&target, "packed-refs").unwrap();
    assert!(!remove_stale(&target).unwrap(), "the holder is alive");
    assert!(lock_path(&target).exists());
    let content = fs::read(lock_path(&target)).unwrap();
    drop(lock);
    for foreign in ["", "vibe", "4711\n"] {
        fs::write(lock_path(&target), foreign).unwrap();
        assert!(!remove_stale(&target).unwrap(), "{foreign:?}");
    }
    fs::write(lock_path(&target), content).unwrap();
    assert!(remove_stale(&target).unwrap());
    assert!(!lock_path(&target).exists());
}

#[test]
fn a_replaced_lock_file_is_not_removed_on_drop() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("index");
    let lock = LockFile::acquire(&target, "index").unwrap();
    fs::remove_file(lock_path(&target)).unwrap();
    fs::write(lock_path(&target), "theirs").unwrap();
    drop(lock);
    assert!(lock_path(&target).exists());
}

#[test]
fn a_file_in_the_place_of_the_folder_is_an_error_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("vr");
    fs::write(&file, "").unwrap();
    let refused = LockFile::acquire(&file.join("work"), "work").unwrap_err();
    assert!(matches!(refused, RepoError::Io { .. }), "{refused:?}");
}
