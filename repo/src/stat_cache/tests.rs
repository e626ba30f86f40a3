//! The stat cache saves reading what did not change, and hides no change, whatever an agent does to its checkout.

use std::fs::{self, File, FileTimes};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use git2::{Index, IndexEntry};
use nix::sys::stat::lstat;

use super::{StatCache, cache_path};
use crate::file_stat::FileStat;
use crate::git_program::git;
use crate::handle::oid;
use crate::testing::{TaskCheckout, commit_all_in, write_in};
use crate::tracked::{TrackedFile, tracked_files};

const FILE: &str = "src/lib.rs";

/// A checkout whose cache is trusted for every file: the clock has passed all of them since they were written.
fn trusted() -> TaskCheckout {
    let task = TaskCheckout::new(&[(FILE, "// one\n"), ("src/deep/b.rs", "b\n"), ("run.sh", "#!/bin/sh\n")]);
    wait_for_clock(&task);
    rewrite(&task, |_| {});
    // As after a clock that was set back: what changed later still looks older than the cache.
    set_modified(&cache_path(&task.path), SystemTime::now() + Duration::from_secs(3600));
    assert!(is_known(&task, FILE), "otherwise the tests below prove nothing");
    task
}

/// Waits until the clock of the file system has passed the checkout's newest file, because a change at the same moment has the same time.
fn wait_for_clock(task: &TaskCheckout) {
    let of = |path: &Path| fs::symlink_metadata(path).map(|found| (found.ctime(), found.ctime_nsec())).unwrap();
    let (newest, probe) = (of(&task.path.join(FILE)).max(of(&cache_path(&task.path))), task.sample.beside("clock"));
    loop {
        fs::write(&probe, "").unwrap();
        if of(&probe) > newest {
            return;
        }
    }
}

/// Changes the entries of the cache, and writes it again.
fn rewrite(task: &TaskCheckout, change: impl Fn(&mut IndexEntry)) {
    let mut index = Index::open(&cache_path(&task.path)).unwrap();
    for mut entry in index.iter().collect::<Vec<_>>() {
        change(&mut entry);
        index.add(&entry).unwrap();
    }
    index.write().unwrap();
}

/// Puts the present stat of a file into the entry, as if it had been read.
fn forge(task: &TaskCheckout, entry: &mut IndexEntry) {
    if entry.path == FILE.as_bytes() {
        FileStat::new(&lstat(&task.path.join(FILE)).unwrap()).unwrap().fill(entry);
    }
}

fn tracked(task: &TaskCheckout, path: &str) -> TrackedFile {
    let files = tracked_files(&task.repository.handle().unwrap(), oid(&task.head).unwrap()).unwrap();
    files.into_iter().find(|file| file.path == path.as_bytes()).unwrap()
}

fn is_known(task: &TaskCheckout, path: &str) -> bool {
    let stat = FileStat::new(&lstat(&task.path.join(path)).unwrap()).unwrap();
    StatCache::of_checkout(&task.path).is_unchanged(&tracked(task, path), &stat)
}

fn dirty(task: &TaskCheckout) -> Vec<String> {
    task.repository.evidence(&task.path, "vr/TASK-001/work", "main", &[]).unwrap().dirty_paths
}

fn set_modified(path: &Path, time: SystemTime) {
    File::options().write(true).open(path).unwrap().set_times(FileTimes::new().set_modified(time)).unwrap();
}

#[test]
fn files_of_a_new_checkout_are_known() {
    let task = trusted();
    assert!(["README.md", FILE, "run.sh"].iter().all(|path| is_known(&task, path)));
    assert_eq!(dirty(&task), [""; 0]);
    let head = {
        write_in(&task.path, FILE, "// two\n");
        commit_all_in(&task.path, "work")
    };
    assert_eq!((dirty(&task), task.repository.ref_sha("vr/TASK-001/work").unwrap()), (vec![], Some(head)));
    assert!(!is_known(&task, FILE) && is_known(&task, "run.sh"), "what the agent wrote is read");
}

#[test]
fn a_change_with_the_old_size_and_time_is_seen() {
    let task = trusted();
    let file = task.path.join(FILE);
    let modified = fs::metadata(&file).unwrap().modified().unwrap();
    fs::write(&file, "// own\n").unwrap();
    set_modified(&file, modified);
    assert_eq!(fs::metadata(&file).unwrap().modified().unwrap(), modified);
    assert_eq!(dirty(&task), [FILE]);

    // The same as another file, moved into its place.
    let task = trusted();
    let (file, other) = (task.path.join(FILE), task.sample.beside("other"));
    fs::write(&other, "// own\n").unwrap();
    set_modified(&other, fs::metadata(&file).unwrap().modified().unwrap());
    fs::rename(&other, &file).unwrap();
    assert_eq!(dirty(&task), [FILE]);
}

#[test]
fn a_file_that_only_the_commit_changes_is_seen() {
    let task = trusted();
    task.sample.commit_on("vr/TASK-001/work", &[(FILE, Some("// own\n"))], "without its checkout");
    assert!(is_known(&task, FILE));
    assert_eq!(dirty(&task), [FILE]);
}

#[test]
fn a_change_at_the_moment_of_the_cache_is_seen() {
    let task = trusted();
    fs::write(task.path.join(FILE), "// own\n").unwrap();
    rewrite(&task, |entry| forge(&task, entry));
    let changed = fs::metadata(task.path.join(FILE)).unwrap();
    let moment = SystemTime::UNIX_EPOCH + Duration::new(changed.ctime().unsigned_abs(), u32::try_from(changed.ctime_nsec()).unwrap());
    set_modified(&cache_path(&task.path), moment);
    assert_eq!(dirty(&task), [FILE], "the cache is as old as the file");
    set_modified(&cache_path(&task.path), moment + Duration::from_secs(1));
    assert_eq!(dirty(&task), [""; 0], "only its age says that the entry is wrong");
}

#[test]
fn what_an_agent_writes_to_its_index_does_not_count() {
    for flag in ["--skip-worktree", "--assume-unchanged"] {
        let task = trusted();
        git(&task.path, &["update-index", flag, FILE]);
        fs::write(task.path.join(FILE), "// own\n").unwrap();
        assert_eq!(dirty(&task), [FILE], "{flag}");
    }
    let task = trusted();
    fs::write(task.path.join(FILE), "// own\n").unwrap();
    let admin = task.sample.git_dir().join("worktrees/task/index");
    let mut index = Index::open(&admin).unwrap();
    let mut forged = index.get_path(Path::new(FILE), 0).unwrap();
    forge(&task, &mut forged);
    index.add(&forged).unwrap();
    index.write().unwrap();
    // git reads a file that is as new as the index.
    set_modified(&admin, SystemTime::now() + Duration::from_secs(2));
    assert_eq!(git(&task.path, &["diff-files", "--name-only"]), "", "git itself believes it");
    assert_eq!(dirty(&task), [FILE]);
}

#[test]
fn flags_in_the_cache_itself_do_not_count() {
    let task = trusted();
    rewrite(&task, |entry| {
        entry.flags |= 0x8000;
        entry.flags_extended |= 1 << 14;
    });
    fs::write(task.path.join(FILE), "// own, and longer\n").unwrap();
    assert_eq!(dirty(&task), [FILE]);
}

#[test]
fn replaced_files_and_folders_are_seen() {
    let task = trusted();
    let outside = task.sample.beside("outside");
    fs::rename(task.path.join("src"), &outside).unwrap();
    symlink(&outside, task.path.join("src")).unwrap();
    let found = dirty(&task);
    assert!(found.contains(&FILE.to_owned()) || found.contains(&"src".to_owned()), "the files are known, but elsewhere: {found:?}");

    let task = trusted();
    let file = task.path.join(FILE);
    fs::rename(&file, task.sample.beside("moved.rs")).unwrap();
    symlink(task.sample.beside("moved.rs"), &file).unwrap();
    fs::set_permissions(task.path.join("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(dirty(&task), ["run.sh", FILE]);
}

#[test]
fn files_that_a_power_cut_emptied_are_seen() {
    let task = trusted();
    File::options().write(true).open(task.path.join(FILE)).unwrap().set_len(0).unwrap();
    assert_eq!(dirty(&task), [FILE]);
}

#[test]
fn a_cache_that_a_power_cut_damaged_is_not_used() {
    for damage in [0, 20, 100] {
        let task = trusted();
        let cache = cache_path(&task.path);
        File::options().write(true).open(&cache).unwrap().set_len(damage).unwrap();
        assert!(!is_known(&task, FILE));
        assert_eq!(dirty(&task), [""; 0]);
        fs::write(task.path.join(FILE), "// own\n").unwrap();
        assert_eq!(dirty(&task), [FILE]);
    }
    let task = trusted();
    let cache = cache_path(&task.path);
    fs::remove_file(&cache).unwrap();
    symlink(task.sample.git_dir().join("worktrees/task/index"), &cache).unwrap();
    assert!(!is_known(&task, FILE), "a link leads to what the agent writes");
}

#[test]
fn the_cache_goes_with_its_checkout() {
    let task = trusted();
    let cache: PathBuf = cache_path(&task.path);
    assert!(cache.is_file());
    task.repository.remove_worktree("task", &task.path).unwrap();
    assert!(!cache.exists());
}
