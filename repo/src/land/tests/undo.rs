//! A landing is undone only while nobody else can have it, and without a change of a person's files.

use std::fs;

use super::{Case, PROJECT, land, project};
use crate::git_program::git;
use crate::land::{LandOutcome, UndoOutcome, UndoRequest};
use crate::testing::TestRepository;

/// A sample whose project was landed, with the tip of main before and after.
fn landed() -> (TestRepository, String, String) {
    let (sample, _) = project();
    let before = git(sample.top(), &["rev-parse", "main"]);
    let LandOutcome::Landed { sha, .. } = land(&sample) else { panic!("not landed") };
    (sample, before, sha)
}

fn undo((sample, before, landed): &(TestRepository, String, String)) -> UndoOutcome {
    let (base_branch, project_branch, workdir) = ("main", PROJECT, sample.top());
    sample.repository().undo_landing(UndoRequest { base_branch, project_branch, tip: landed, landed, before, workdir }).unwrap()
}

#[test]
fn undo_brings_the_branch_and_the_files_back() {
    let landed = landed();
    let sample = &landed.0;
    sample.write("README.md", "mine\n");
    git(sample.top(), &["add", "README.md"]);
    sample.write("notes.txt", "mine\n");
    assert_eq!(undo(&landed), UndoOutcome::Undone);
    assert_eq!(git(sample.top(), &["rev-parse", "main"]), landed.1);
    assert_eq!(git(sample.top(), &["status", "--porcelain"]), "M  README.md\n?? notes.txt");
    let files = ["src/a.rs", "src/new.rs", "gone.txt"].map(|path| sample.read(path));
    assert_eq!(files.each_ref().map(Option::as_deref), [Some("one\n"), None, Some("gone\n")]);
    assert_eq!(undo(&landed), UndoOutcome::Undone, "an unrecorded one is repeated");
    assert!(matches!(land(sample), LandOutcome::Landed { fast_forward: true, .. }), "it can land again");
}

#[test]
fn undo_creates_the_project_branch_again_if_it_was_removed() {
    let landed = landed();
    let sample = &landed.0;
    sample.delete_branch(PROJECT);
    assert_eq!(undo(&landed), UndoOutcome::Undone);
    assert_eq!(git(sample.top(), &["rev-parse", PROJECT]), landed.2, "no other branch has the commits");
    assert!(matches!(land(sample), LandOutcome::Landed { fast_forward: true, .. }), "it can land again");
}

#[test]
fn interrupted_undo_is_finished_by_a_repeat() {
    let landed = landed();
    landed.0.write("src/a.rs", "one\n");
    landed.0.write("gone.txt", "gone\n");
    assert_eq!(undo(&landed), UndoOutcome::Undone);
    assert_eq!(git(landed.0.top(), &["status", "--porcelain"]), "");
}

type Expected = fn(&UndoOutcome) -> bool;

#[test]
fn undo_of_what_others_may_have_is_refused() {
    let refused: [(Case, Expected); 5] = [
        (("main went on", |sample| _ = sample.commit_on("main", &[("x", Some("x"))], "on")), |found| {
            matches!(found, UndoOutcome::MovedOn { found: Some(_) })
        }),
        (("main is gone", |sample| sample.delete_branch("main")), |found| *found == UndoOutcome::MovedOn { found: None }),
        (("main was pushed", |sample| push(sample, "main")), |found| *found == UndoOutcome::Pushed { branch: "origin/main".to_owned() }),
        (
            ("a file was edited", |sample| sample.write("src/a.rs", "mine\n")),
            |found| matches!(found, UndoOutcome::Dirty { files } if files.changed == ["src/a.rs"]),
        ),
        (
            ("main is checked out elsewhere", |sample| {
                git(sample.top(), &["switch", "-q", "-c", "mine"]);
                git(sample.top(), &["worktree", "add", "-q", "../elsewhere", "main"]);
            }),
            |found| matches!(found, UndoOutcome::CheckedOutElsewhere { .. }),
        ),
    ];
    for ((name, change), expected) in refused {
        let landed = landed();
        change(&landed.0);
        let state = |sample: &TestRepository| (sample.repository().ref_sha("main").unwrap(), sample.read("src/a.rs"), sample.read("src/new.rs"));
        let before = state(&landed.0);
        let outcome = undo(&landed);
        assert!(expected(&outcome), "{name}: {outcome:?}");
        assert_eq!(before, state(&landed.0), "{name}");
    }
}

#[test]
fn project_branch_on_a_remote_does_not_prevent_an_undo() {
    let landed = landed();
    push(&landed.0, PROJECT);
    assert_eq!(undo(&landed), UndoOutcome::Undone);
}

fn push(sample: &TestRepository, branch: &str) {
    let remote = sample.beside("remote.git");
    fs::create_dir_all(&remote).unwrap();
    git(sample.top(), &["init", "-q", "--bare", remote.to_str().unwrap()]);
    git(sample.top(), &["remote", "add", "origin", remote.to_str().unwrap()]);
    git(sample.top(), &["push", "-q", "origin", branch]);
}
