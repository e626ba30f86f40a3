//! A landing stops at changes in the files that it changes, names exactly these, and leaves all others as they are.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use super::{Case, PROJECT, blocking, land, project};
use crate::git_program::{git, run};
use crate::land::LandOutcome;
use crate::testing::TestRepository;

/// All that a person can lose: each file of the checkout with its mode, each entry of the index with its flags, and the branch.
fn seen(sample: &TestRepository) -> String {
    let run = |line: &str| git(sample.top(), &line.split(' ').collect::<Vec<_>>());
    let mut files = Vec::new();
    list(sample.top(), &mut files);
    files.sort();
    let branch = format!("branch {}", run("rev-parse main"));
    [files.join("\n"), run("ls-files --stage"), run("ls-files -v"), branch, run("status --porcelain --ignored")].join("\n")
}

fn list(folder: &Path, files: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap().flatten().filter(|entry| entry.file_name() != ".git") {
        let (path, about) = (entry.path(), entry.metadata().unwrap());
        if about.is_dir() {
            list(&path, files);
        } else {
            let content = fs::read(&path).unwrap_or_default();
            files.push(format!("{} {:o} {:?}", path.display(), about.permissions().mode(), String::from_utf8_lossy(&content)));
        }
    }
}

fn stage(sample: &TestRepository, path: &str, content: &str) {
    sample.write(path, content);
    git(sample.top(), &["add", "--force", path]);
}

fn hide(sample: &TestRepository, flag: &str, path: &str) {
    git(sample.top(), &["update-index", flag, path]);
}

fn set_mode(sample: &TestRepository, path: &str, mode: u32) {
    fs::set_permissions(sample.top().join(path), fs::Permissions::from_mode(mode)).unwrap();
}

fn remove(sample: &TestRepository, path: &str) {
    fs::remove_file(sample.top().join(path)).unwrap();
}

#[test]
fn change_in_a_landed_file_blocks_and_nothing_changes() {
    let cases: [(Case, [&[&str]; 4]); 16] = [
        (("edited", |s| s.write("src/a.rs", "mine\n")), [&["src/a.rs"], &[], &[], &[]]),
        (("staged", |s| stage(s, "src/a.rs", "mine\n")), [&["src/a.rs"], &[], &[], &[]]),
        (("edited, which lands removed", |s| s.write("gone.txt", "mine\n")), [&["gone.txt"], &[], &[], &[]]),
        (("deleted", |s| remove(s, "src/a.rs")), [&["src/a.rs"], &[], &[], &[]]),
        (("deletion staged", |s| _ = git(s.top(), &["rm", "-q", "src/a.rs"])), [&["src/a.rs"], &[], &[], &[]]),
        (("renamed", |s| _ = git(s.top(), &["mv", "src/a.rs", "b.rs"])), [&["src/a.rs"], &[], &[], &[]]),
        (("no longer tracked", |s| _ = git(s.top(), &["rm", "-q", "--cached", "src/a.rs"])), [&["src/a.rs"], &[], &[], &[]]),
        (("executable", |s| set_mode(s, "src/a.rs", 0o755)), [&["src/a.rs"], &[], &[], &[]]),
        (
            ("staged, and the file set back", |s| {
                stage(s, "src/a.rs", "mine\n");
                s.write("src/a.rs", "one\n");
            }),
            [&["src/a.rs"], &[], &[], &[]],
        ),
        (
            ("replaced by a folder", |s| {
                remove(s, "src/a.rs");
                s.write("src/a.rs/mine", "mine\n");
            }),
            [&["src/a.rs"], &["src/a.rs/mine"], &[], &[]],
        ),
        (("untracked in the way", |s| s.write("src/new.rs", "mine\n")), [&[], &["src/new.rs"], &[], &[]]),
        (("new file staged in the way", |s| stage(s, "src/new.rs", "mine\n")), [&["src/new.rs"], &[], &[], &[]]),
        (
            ("folder replaced by a link", |s| {
                fs::rename(s.top().join("src"), s.beside("src")).unwrap();
                symlink(s.beside("src"), s.top().join("src")).unwrap();
            }),
            [&[], &["src"], &[], &[]],
        ),
        (
            ("hidden by assume-unchanged", |s| {
                hide(s, "--assume-unchanged", "src/a.rs");
                s.write("src/a.rs", "mine\n");
            }),
            [&[], &[], &["src/a.rs"], &[]],
        ),
        (
            ("hidden by skip-worktree", |s| {
                hide(s, "--skip-worktree", "src/a.rs");
                s.write("src/a.rs", "mine\n");
            }),
            [&[], &[], &[], &["src/a.rs"]],
        ),
        (
            ("one of several", |s| {
                s.write("README.md", "mine\n");
                s.write("gone.txt", "mine\n");
            }),
            [&["gone.txt"], &[], &[], &[]],
        ),
    ];
    for ((name, change), [changed, untracked, assumed, skipped]) in cases {
        let (sample, _) = project();
        change(&sample);
        let before = seen(&sample);
        let files = blocking(&sample);
        assert_eq!(before, seen(&sample), "{name}");
        let found = [files.changed, files.untracked, files.assume_unchanged, files.skip_worktree];
        assert_eq!(found, [changed, untracked, assumed, skipped], "{name}");
    }
}

#[test]
fn changes_in_other_files_stay_while_work_lands() {
    let (sample, _) = project();
    for (path, content) in [("edited", "e"), ("staged", "s"), ("both", "b"), ("deleted", "d"), ("renamed", "r"), ("mode", "m"), ("hidden", "h")] {
        sample.write(path, content);
    }
    sample.commit_all("main goes on");
    sample.write("edited", "mine\n");
    stage(&sample, "staged", "mine\n");
    stage(&sample, "both", "mine\n");
    sample.write("both", "mine, later\n");
    git(sample.top(), &["rm", "-q", "deleted"]);
    git(sample.top(), &["mv", "renamed", "elsewhere"]);
    set_mode(&sample, "mode", 0o755);
    hide(&sample, "--assume-unchanged", "hidden");
    sample.write("hidden", "mine\n");
    stage(&sample, "added", "mine\n");
    sample.write("src/untracked/notes", "mine\n");
    sample.write("ignored.local", "mine\n");
    let others = || {
        let is_landed = |line: &str| ["src/a.rs", "src/new.rs", "gone.txt", "branch "].iter().any(|landed| line.contains(landed));
        seen(&sample).lines().filter(|line| !is_landed(line)).map(str::to_owned).collect::<Vec<_>>()
    };
    let before = others();
    let LandOutcome::Landed { sha, fast_forward: false } = land(&sample) else { panic!("not landed") };
    assert_eq!(before, others());
    assert_eq!(git(sample.top(), &["rev-parse", "main"]), sha);
    assert_eq!(git(sample.top(), &["status", "--porcelain", "--", "src/a.rs", "src/new.rs", "gone.txt"]), "", "the index has the landed files");
    assert_eq!(
        (sample.read("src/a.rs").as_deref(), sample.read("src/new.rs").as_deref(), sample.read("gone.txt")),
        (Some("two\n"), Some("new\n"), None)
    );
}

#[test]
fn changes_in_other_files_stay_when_an_interrupted_landing_is_repeated() {
    let (sample, head) = project();
    stage(&sample, "README.md", "mine\n");
    sample.write("README.md", "mine, later\n");
    // Killed after the first files, before the index was replaced.
    sample.write("src/new.rs", "new\n");
    remove(&sample, "gone.txt");
    assert_eq!(land(&sample), LandOutcome::Landed { sha: head, fast_forward: true });
    assert_eq!(git(sample.top(), &["status", "--porcelain"]), "MM README.md");
    assert_eq!((sample.read("README.md").as_deref(), sample.read("src/a.rs").as_deref()), (Some("mine, later\n"), Some("two\n")));
}

#[test]
fn folder_and_file_replace_each_other_beside_changes() {
    let kills: [Case; 3] = [
        ("no kill", |_| {}),
        ("after removing", |sample| {
            remove(sample, "file");
            fs::remove_dir_all(sample.top().join("folder")).unwrap();
        }),
        ("after writing", |sample| {
            remove(sample, "file");
            sample.write("file/inside", "now a folder\n");
            fs::remove_dir_all(sample.top().join("folder")).unwrap();
            sample.write("folder", "now a file\n");
        }),
    ];
    for (kill, interrupt) in kills {
        let sample = TestRepository::new();
        for (path, content) in [("folder/one", "1\n"), ("folder/deep/two", "2\n"), ("file", "3\n"), ("deleted", "4\n")] {
            sample.write(path, content);
        }
        sample.commit_all("code");
        sample.commit_on(PROJECT, &[("folder/one", None), ("folder/deep/two", None), ("file", None)], "remove");
        let head = sample.commit_on(PROJECT, &[("folder", Some("now a file\n")), ("file/inside", Some("now a folder\n"))], "replace");
        sample.write("README.md", "mine\n");
        remove(&sample, "deleted");
        sample.write("folder/deep/mine", "mine\n");
        let before = seen(&sample);
        assert_eq!(blocking(&sample).untracked, ["folder/deep/mine"]);
        assert_eq!(before, seen(&sample));
        remove(&sample, "folder/deep/mine");
        interrupt(&sample);
        assert_eq!(land(&sample), LandOutcome::Landed { sha: head, fast_forward: true }, "{kill}");
        assert_eq!(git(sample.top(), &["status", "--porcelain"]), " M README.md\n D deleted", "{kill}");
        assert_eq!((sample.read("folder").as_deref(), sample.read("file/inside").as_deref()), (Some("now a file\n"), Some("now a folder\n")));
    }
}

#[test]
fn landed_mode_is_written_and_flags_are_kept() {
    let (sample, _) = project();
    let linked = sample.beside("linked");
    git(sample.top(), &["worktree", "add", "-q", linked.to_str().unwrap(), PROJECT]);
    fs::set_permissions(linked.join("README.md"), fs::Permissions::from_mode(0o755)).unwrap();
    git(&linked, &["commit", "-q", "-am", "executable"]);
    git(sample.top(), &["worktree", "remove", linked.to_str().unwrap()]);
    hide(&sample, "--assume-unchanged", "src/a.rs");
    hide(&sample, "--skip-worktree", "README.md");
    assert!(matches!(land(&sample), LandOutcome::Landed { fast_forward: true, .. }));
    assert_eq!(fs::metadata(sample.top().join("README.md")).unwrap().permissions().mode() & 0o777, 0o755);
    assert_eq!(sample.read("src/a.rs").as_deref(), Some("two\n"));
    let flags = git(sample.top(), &["ls-files", "-v", "README.md", "src"]);
    assert_eq!(flags, "S README.md\nh src/a.rs\nH src/new.rs");
}

#[test]
fn steps_for_hidden_changes_let_work_land() {
    for flag in ["assume-unchanged", "skip-worktree"] {
        let (sample, head) = project();
        hide(&sample, &format!("--{flag}"), "src/a.rs");
        sample.write("src/a.rs", "mine\n");
        let steps = blocking(&sample).steps();
        let command = steps.split('`').nth(1).unwrap().strip_prefix("git ").unwrap();
        assert_eq!(command, format!("update-index --no-{flag} -- src/a.rs"));
        git(sample.top(), &command.split(' ').collect::<Vec<_>>());
        git(sample.top(), &["stash", "-q"]);
        assert_eq!(land(&sample), LandOutcome::Landed { sha: head, fast_forward: true }, "{flag}");
    }
}

#[test]
fn conflicts_of_a_stash_are_not_removed_from_the_index() {
    let (sample, _) = project();
    sample.write("README.md", "mine\n");
    git(sample.top(), &["stash", "-q"]);
    sample.write("README.md", "theirs\n");
    sample.commit_all("theirs");
    assert!(!run(sample.top(), &["stash", "pop"]).status.success(), "the stash must stop at a conflict");
    let before = seen(&sample);
    assert_eq!(
        super::try_land(&sample).unwrap_err().to_string(),
        format!("a merge of conflicting files is in progress at {}", sample.top().display())
    );
    assert_eq!(before, seen(&sample));
}
