//! Copies of the folders that setup filled, such as `node_modules`, for later checkouts with the same lock files.
//!
//! Copies share blocks on file systems that can, and are full copies elsewhere; never hard links, through which one agent would change the
//! files of all others. No symbolic link is followed. It must not decide which checkouts may be copied.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

use super::Reuse;

/// How many copies of one project are kept, the newest first.
const MAX_KEPT: usize = 3;
/// The most bytes of one copy. Copying more takes longer than most setups.
const MAX_BYTES: u64 = 4 << 30;

/// A file of a copy, which is replaced at each use.
const USED: &str = ".used";

/// Copies all folders from the cache into a checkout that has none of them. Returns false, and leaves nothing, if they are not all there.
pub(crate) fn restore(reuse: &Reuse, checkout: &Path) -> io::Result<bool> {
    let is_usable = |folder: &PathBuf| reuse.cache.join(folder).is_dir() && is_free(checkout, folder);
    if reuse.folders.is_empty() || !reuse.folders.iter().all(is_usable) {
        return Ok(false);
    }
    for folder in &reuse.folders {
        let target = checkout.join(folder);
        if let Err(error) = copy_folder(&reuse.cache.join(folder), &target, &mut MAX_BYTES.clone()) {
            // The setup itself fills it.
            let _ = fs::remove_dir_all(&target);
            return Err(error);
        }
    }
    // The newest are kept, and a new file makes the folder a new one.
    let used = reuse.cache.join(USED);
    let _ = fs::remove_file(&used).and_then(|()| fs::File::create(&used));
    Ok(true)
}

/// Copies all folders of a checkout into the cache, unless it has them, and removes the oldest copies of the project.
pub(crate) fn store(reuse: &Reuse, checkout: &Path) -> io::Result<()> {
    let Some(parent) = reuse.cache.parent() else { return Ok(()) };
    let has_all = reuse.folders.iter().all(|folder| is_real_folder(checkout, folder));
    if !reuse.keep || reuse.folders.is_empty() || !has_all || reuse.cache.exists() {
        return Ok(());
    }
    fs::create_dir_all(parent)?;
    let unfinished = tempfile_in(parent);
    let copied = reuse
        .folders
        .iter()
        .try_fold(MAX_BYTES, |mut left, folder| copy_folder(&checkout.join(folder), &unfinished.join(folder), &mut left).map(|()| left));
    // Another run may have kept the same meanwhile.
    let kept = copied.and_then(|_| fs::File::create(unfinished.join(USED))).and_then(|_| fs::rename(&unfinished, &reuse.cache));
    if kept.is_err() {
        let _ = fs::remove_dir_all(&unfinished);
    }
    remove_oldest(parent)?;
    kept
}

fn tempfile_in(parent: &Path) -> PathBuf {
    parent.join(format!(".unfinished-{}", std::process::id()))
}

fn remove_oldest(parent: &Path) -> io::Result<()> {
    let mut kept = Vec::new();
    for entry in fs::read_dir(parent)?.flatten() {
        let modified = entry.metadata().and_then(|metadata| metadata.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
        kept.push((modified, entry.path()));
    }
    kept.sort();
    for (_, path) in kept.iter().rev().skip(MAX_KEPT) {
        fs::remove_dir_all(path)?;
    }
    Ok(())
}

/// Whether nothing is at `folder` and only real folders lead to it.
fn is_free(checkout: &Path, folder: &Path) -> bool {
    let has_parent = folder.parent().is_none_or(|parent| parent.as_os_str().is_empty() || is_real_folder(checkout, parent));
    has_parent && checkout.join(folder).symlink_metadata().is_err()
}

fn is_real_folder(checkout: &Path, folder: &Path) -> bool {
    let mut path = checkout.to_path_buf();
    folder.components().all(|part| {
        path.push(part);
        matches!(part, Component::Normal(_)) && path.symlink_metadata().is_ok_and(|found| found.is_dir())
    })
}

/// Copies a folder with everything in it. `left` is the number of bytes that may still be copied.
fn copy_folder(from: &Path, to: &Path, left: &mut u64) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (kind, source, target) = (entry.file_type()?, entry.path(), to.join(entry.file_name()));
        if kind.is_dir() {
            copy_folder(&source, &target, left)?;
        } else if kind.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(&source)?, &target)?;
        } else if kind.is_file() {
            let metadata = entry.metadata()?;
            *left = left.checked_sub(metadata.len()).ok_or(io::ErrorKind::FileTooLarge)?;
            reflink_copy::reflink_or_copy(&source, &target)?;
            fs::set_permissions(&target, fs::Permissions::from_mode(metadata.permissions().mode()))?;
        }
    }
    // Last, because a folder may not be writable.
    fs::set_permissions(to, fs::metadata(from)?.permissions())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    struct Sample {
        folder: tempfile::TempDir,
    }

    impl Sample {
        fn new() -> Self {
            let sample = Self { folder: tempfile::tempdir().unwrap() };
            let modules = sample.checkout("one").join("web/node_modules");
            fs::create_dir_all(modules.join("a/bin")).unwrap();
            fs::create_dir_all(modules.join(".bin")).unwrap();
            fs::write(modules.join("a/bin/tool"), "#!/bin/sh\n").unwrap();
            fs::set_permissions(modules.join("a/bin/tool"), fs::Permissions::from_mode(0o755)).unwrap();
            symlink("../a/bin/tool", modules.join(".bin/tool")).unwrap();
            sample
        }

        fn checkout(&self, name: &str) -> PathBuf {
            let path = self.folder.path().join(name);
            fs::create_dir_all(path.join("web")).unwrap();
            path
        }

        fn reuse(&self, key: &str) -> Reuse {
            Reuse { cache: self.folder.path().join("cache").join(key), folders: vec![PathBuf::from("web/node_modules")], keep: true }
        }
    }

    #[test]
    fn later_checkout_gets_files_modes_and_links_of_its_own() {
        let sample = Sample::new();
        let (reuse, two) = (sample.reuse("k"), sample.checkout("two"));
        assert!(!restore(&reuse, &two).unwrap(), "nothing is kept yet");
        store(&reuse, &sample.checkout("one")).unwrap();
        assert!(restore(&reuse, &two).unwrap());
        let tool = two.join("web/node_modules/.bin/tool");
        assert_eq!(fs::read_link(&tool).unwrap(), PathBuf::from("../a/bin/tool"));
        assert_eq!(fs::metadata(&tool).unwrap().permissions().mode() & 0o777, 0o755);
        fs::write(&tool, "changed").unwrap();
        let three = sample.checkout("three");
        assert!(restore(&reuse, &three).unwrap());
        assert_eq!(fs::read_to_string(three.join("web/node_modules/a/bin/tool")).unwrap(), "#!/bin/sh\n", "no checkout changes another one");
    }

    #[test]
    fn nothing_is_replaced_or_written_through_a_link() {
        let sample = Sample::new();
        let reuse = sample.reuse("k");
        store(&reuse, &sample.checkout("one")).unwrap();
        let filled = sample.checkout("filled");
        fs::create_dir_all(filled.join("web/node_modules/own")).unwrap();
        assert!(!restore(&reuse, &filled).unwrap());
        let (outside, linked) = (sample.checkout("outside"), sample.checkout("linked"));
        fs::remove_dir(linked.join("web")).unwrap();
        symlink(&outside, linked.join("web")).unwrap();
        assert!(!restore(&reuse, &linked).unwrap());
        assert!(!outside.join("node_modules").exists());
        let other = sample.reuse("other");
        store(&other, &linked).unwrap();
        assert!(!other.cache.exists(), "a link is not a filled folder");
    }

    #[test]
    fn only_approved_checkouts_and_the_newest_copies_are_kept() {
        let sample = Sample::new();
        let one = sample.checkout("one");
        store(&Reuse { keep: false, ..sample.reuse("unapproved") }, &one).unwrap();
        assert!(!sample.reuse("unapproved").cache.exists());
        for key in ["1", "2", "3", "4", "5"] {
            store(&sample.reuse(key), &one).unwrap();
            let cache = fs::File::open(sample.reuse(key).cache).unwrap();
            cache.set_modified(SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(key.parse().unwrap())).unwrap();
        }
        let kept = fs::read_dir(sample.folder.path().join("cache")).unwrap().count();
        assert_eq!(kept, MAX_KEPT);
        assert!(sample.reuse("4").cache.exists() && !sample.reuse("1").cache.exists());
    }
}
