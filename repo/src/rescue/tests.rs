//! A rescue ref restores every uncommitted file of a checkout.

use std::fs;

use super::Rescue;
use crate::RepoError;
use crate::git_program::git;
use crate::snapshot::MAX_FILE_BYTES;
use crate::testing::{TaskCheckout, commit_all_in, write_in};

const REFERENCE: &str = "refs/vibe-relay/rescue/PROJ-001/TASK-001";

fn work() -> TaskCheckout {
    TaskCheckout::new(&[("keep.txt", "keep\n"), ("gone.txt", "gone\n"), ("was-a-file", "file\n")])
}

impl TaskCheckout {
    fn rescue(&self) -> Option<Rescue> {
        self.repository.rescue(REFERENCE, &self.path, &self.head).unwrap()
    }

    fn tree(&self) -> String {
        git(self.sample.top(), &["ls-tree", "-r", "--format=%(objectmode) %(path)", REFERENCE])
    }
}

#[test]
fn a_clean_checkout_needs_no_rescue() {
    let work = work();
    write_in(&work.path, "target/out", "ignored");
    assert_eq!(work.rescue(), None);
}

#[cfg(unix)]
#[test]
fn a_rescue_keeps_all_changes_and_alters_no_checkout() {
    use std::os::unix::fs::PermissionsExt;
    let work = work();
    write_in(&work.path, "keep.txt", "changed\r\n");
    write_in(&work.path, "new/deep/file.txt", "new\n");
    write_in(&work.path, "target/out", "ignored");
    write_in(&work.path, "run.sh", "#!/bin/sh\n");
    fs::set_permissions(work.path.join("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::remove_file(work.path.join("gone.txt")).unwrap();
    fs::remove_file(work.path.join("was-a-file")).unwrap();
    write_in(&work.path, "was-a-file/inside", "x");
    std::os::unix::fs::symlink("/etc/hostname", work.path.join("link")).unwrap();
    write_in(&work.path, "staged.txt", "staged\n");
    git(&work.path, &["add", "staged.txt"]);
    let before = git(&work.path, &["status", "--porcelain"]);

    let rescue = work.rescue().unwrap();
    assert_eq!(rescue.skipped, Vec::<String>::new());
    insta::assert_snapshot!(work.tree(), @r"
    100644 .gitignore
    100644 README.md
    100644 keep.txt
    120000 link
    100644 new/deep/file.txt
    100755 run.sh
    100644 staged.txt
    100644 was-a-file/inside
    ");
    let bytes = work.repository.file_at(&rescue.sha, "keep.txt").unwrap().unwrap();
    assert_eq!(bytes, b"changed\r\n");
    assert_eq!(git(work.sample.top(), &["rev-parse", &format!("{REFERENCE}^")]), work.head);
    assert_eq!(git(&work.path, &["status", "--porcelain"]), before);
    assert_eq!(work.repository.ref_sha("vr/TASK-001/work").unwrap().unwrap(), work.head);
    git(work.sample.top(), &["fsck", "--strict"]);
}

#[test]
fn a_repeated_rescue_reuses_its_commit_or_adds_to_it() {
    let work = work();
    write_in(&work.path, "one.txt", "one\n");
    let first = work.rescue().unwrap();
    assert_eq!(work.rescue().unwrap(), first);
    fs::remove_file(work.path.join("one.txt")).unwrap();
    write_in(&work.path, "two.txt", "two\n");
    let second = work.rescue().unwrap();
    assert_eq!(git(work.sample.top(), &["rev-parse", &format!("{REFERENCE}^2")]), first.sha);
    assert!(work.repository.file_at(&second.sha, "two.txt").unwrap().is_some());
}

#[test]
fn skipped_files_are_listed() {
    let work = work();
    fs::File::create(work.path.join("core")).unwrap().set_len(MAX_FILE_BYTES + 1).unwrap();
    let rescue = work.rescue().unwrap();
    assert_eq!(rescue.skipped, ["core"]);
    assert_eq!(git(work.sample.top(), &["log", "-1", "--format=%b", REFERENCE]), "Not kept: core");
    assert_eq!(work.repository.tree_of(&rescue.sha).unwrap(), work.repository.tree_of(&work.head).unwrap());
}

#[test]
fn too_much_work_is_left_where_it_is() {
    let work = work();
    git(&work.path, &["init", "-q", "nested"]);
    for (folder, count) in [("", 11), ("nested/", 10)] {
        for number in 0..count {
            // Sparse files, which take no space on the disk.
            fs::File::create(work.path.join(format!("{folder}data-{number}"))).unwrap().set_len(MAX_FILE_BYTES).unwrap();
        }
    }
    let objects = git(work.sample.top(), &["count-objects"]);
    let error = work.repository.rescue(REFERENCE, &work.path, &work.head).unwrap_err();
    assert!(matches!(error, RepoError::RescueTooLarge { bytes, .. } if bytes == 21 * MAX_FILE_BYTES), "{error}");
    assert_eq!(git(work.sample.top(), &["for-each-ref", REFERENCE]), "");
    assert_eq!(git(work.sample.top(), &["count-objects"]), objects, "no object is written");
}

#[test]
fn a_nested_repository_is_kept_without_its_git_folder() {
    let work = work();
    git(&work.path, &["init", "-q", "nested"]);
    write_in(&work.path, "nested/src/lib.rs", "x");
    write_in(&work.path, "nested/target/out", "ignored");
    let rescue = work.rescue().unwrap();
    assert_eq!(rescue.skipped, Vec::<String>::new());
    assert!(work.tree().ends_with("100644 nested/src/lib.rs\n100644 was-a-file"), "{}", work.tree());
}

#[test]
fn a_change_hidden_by_an_index_flag_is_kept() {
    let work = work();
    git(&work.path, &["update-index", "--skip-worktree", "keep.txt"]);
    write_in(&work.path, "keep.txt", "hidden\n");
    let rescue = work.rescue().unwrap();
    assert_eq!(work.repository.file_at(&rescue.sha, "keep.txt").unwrap().unwrap(), b"hidden\n");
}

#[test]
fn a_rescued_tip_never_replaces_other_work() {
    let work = work();
    write_in(&work.path, "one.txt", "one\n");
    let tip = commit_all_in(&work.path, "one");
    work.repository.rescue_tip(REFERENCE, &work.head).unwrap();
    work.repository.rescue_tip(REFERENCE, &tip).unwrap();
    work.repository.rescue_tip(REFERENCE, &work.head).unwrap();
    assert_eq!(git(work.sample.top(), &["rev-parse", REFERENCE]), tip, "it already contains the older tip");
    let other = work.sample.commit_on("other", &[("x", Some("x"))], "other");
    assert_eq!(work.repository.rescue_tip(REFERENCE, &other).unwrap_err().code(), "rescue-taken");
}

#[test]
fn only_rescue_refs_can_be_written() {
    let work = work();
    write_in(&work.path, "one.txt", "one\n");
    for wrong in ["refs/heads/main", "refs/vibe-relay/rescue", "HEAD"] {
        assert_eq!(work.repository.rescue(wrong, &work.path, &work.head).unwrap_err().code(), "foreign-reference");
        assert_eq!(work.repository.rescue_tip(wrong, &work.head).unwrap_err().code(), "foreign-reference");
    }
}
