//! A landing never loses a human's changes, and an interrupted one can be finished.

mod overlap;
mod returning;
mod undo;

use std::fs;
use std::path::Path;
use std::thread;

use domain::runs::evidence::Sha;
use domain::runs::land::blocking::BlockingFiles;

use super::{LandOutcome, LandRequest};
use crate::git_program::{git, run};
use crate::testing::TestRepository;

/// A named change to a sample.
type Case = (&'static str, fn(&TestRepository));

const PROJECT: &str = "vibe-relay/PROJ-001";

/// Creates a project branch that changes one file, adds one and removes one.
fn project() -> (TestRepository, String) {
    let sample = TestRepository::new();
    sample.write("src/a.rs", "one\n");
    sample.write("gone.txt", "gone\n");
    sample.write(".gitignore", "*.local\n");
    sample.commit_all("code");
    let files = [("src/a.rs", Some("two\n")), ("src/new.rs", Some("new\n")), ("gone.txt", None)];
    let head = sample.commit_on(PROJECT, &files, "work");
    (sample, head)
}

fn land(sample: &TestRepository) -> LandOutcome {
    try_land(sample).unwrap()
}

fn try_land(sample: &TestRepository) -> Result<LandOutcome, crate::RepoError> {
    land_in(sample, sample.top(), None)
}

/// Lands from the checkout `workdir`. The base has not lost a commit unless `base_head` says so.
fn land_in(sample: &TestRepository, workdir: &Path, base_head: Option<&Sha>) -> Result<LandOutcome, crate::RepoError> {
    land_confirmed(sample, workdir, base_head, None)
}

fn land_confirmed(
    sample: &TestRepository,
    workdir: &Path,
    base_head: Option<&Sha>,
    bring_back: Option<&str>,
) -> Result<LandOutcome, crate::RepoError> {
    let repository = sample.repository();
    let (identity, base) = (repository.identity("runner").unwrap(), repository.ref_sha("main").unwrap().unwrap_or_default());
    let base_head = base_head.unwrap_or(&base);
    let (project_branch, base_branch, message, identity) = (PROJECT, "main", "Land PROJ-001", &identity);
    repository.land(LandRequest { project_branch, base_branch, base_head, bring_back, workdir, message, identity })
}

/// Lands, which files of the checkout must prevent.
fn blocking(sample: &TestRepository) -> BlockingFiles {
    match land(sample) {
        LandOutcome::Dirty { files } => files,
        other => panic!("{other:?}"),
    }
}

/// Checks that the base moved, its checkout was updated, and git reports no changes.
fn assert_landed(sample: &TestRepository, sha: &str) {
    assert_eq!(git(sample.top(), &["rev-parse", "main"]), sha);
    assert_eq!(git(sample.top(), &["status", "--porcelain", "--untracked-files=no"]), "");
    assert_eq!(sample.read("src/a.rs").as_deref(), Some("two\n"));
    assert_eq!(sample.read("src/new.rs").as_deref(), Some("new\n"));
    assert_eq!(sample.read("gone.txt"), None);
}

#[test]
fn a_fast_forward_updates_a_clean_checkout() {
    let (sample, head) = project();
    sample.write("notes.txt", "mine\n");
    assert_eq!(land(&sample), LandOutcome::Landed { sha: head.clone(), fast_forward: true });
    assert_landed(&sample, &head);
    assert_eq!(sample.read("notes.txt").as_deref(), Some("mine\n"), "untracked files stay");
    assert_eq!(land(&sample), LandOutcome::AlreadyLanded { sha: head });
}

#[test]
fn a_diverged_base_gets_a_merge_commit() {
    let (sample, head) = project();
    sample.write("README.md", "more\n");
    let base = sample.commit_all("went on");
    let LandOutcome::Landed { sha, fast_forward: false } = land(&sample) else { panic!("not landed") };
    assert_landed(&sample, &sha);
    assert_eq!(git(sample.top(), &["log", "-1", "--format=%P %s"]), format!("{base} {head} Land PROJ-001"));
    assert_eq!(sample.read("README.md").as_deref(), Some("more\n"));
}

#[test]
fn a_base_without_a_checkout_only_moves() {
    let (sample, head) = project();
    git(sample.top(), &["switch", "-q", "-c", "mine"]);
    sample.write("src/a.rs", "my own\n");
    assert_eq!(land(&sample), LandOutcome::Landed { sha: head.clone(), fast_forward: true });
    assert_eq!(git(sample.top(), &["rev-parse", "main"]), head);
    assert_eq!(git(sample.top(), &["diff", "--name-only"]), "src/a.rs");
}

#[test]
fn an_ignored_file_at_a_new_path_is_kept() {
    let (sample, _) = project();
    sample.commit_on(PROJECT, &[("settings.local", Some("theirs\n"))], "settings");
    sample.write("settings.local", "mine\n");
    assert_eq!(blocking(&sample).untracked, ["settings.local"]);
    assert_eq!(sample.read("settings.local").as_deref(), Some("mine\n"));
}

/// Recreates the state after a kill at three points: some files written, all files written, and the index too.
#[test]
fn an_interrupted_landing_is_finished_by_a_repeat() {
    let states: [Case; 3] = [
        ("some files", |sample| {
            sample.write("src/new.rs", "new\n");
            fs::remove_file(sample.top().join("gone.txt")).unwrap();
        }),
        ("all files", |sample| {
            sample.write("src/new.rs", "new\n");
            sample.write("src/a.rs", "two\n");
            fs::remove_file(sample.top().join("gone.txt")).unwrap();
        }),
        ("files and index", |sample| _ = git(sample.top(), &["read-tree", "-u", "-m", "HEAD", PROJECT])),
    ];
    for (state, interrupt) in states {
        let (sample, head) = project();
        interrupt(&sample);
        assert_ne!(git(sample.top(), &["status", "--porcelain"]), "", "{state}");
        assert_eq!(land(&sample), LandOutcome::Landed { sha: head.clone(), fast_forward: true }, "{state}");
        assert_landed(&sample, &head);
    }
}

#[test]
fn changes_after_an_interrupted_landing_are_not_overwritten() {
    let (sample, _) = project();
    fs::remove_file(sample.top().join("gone.txt")).unwrap();
    sample.write("src/a.rs", "mine\n");
    assert_eq!(blocking(&sample).changed, ["src/a.rs"]);
    let (sample, _) = project();
    fs::remove_file(sample.top().join("gone.txt")).unwrap();
    sample.write("src/new.rs", "mine\n");
    assert!(matches!(land(&sample), LandOutcome::Dirty { .. }));
    assert_eq!(sample.read("src/new.rs").as_deref(), Some("mine\n"));
}

#[test]
fn a_conflict_lists_its_paths() {
    let (sample, _) = project();
    sample.write("src/a.rs", "mine\n");
    let base = sample.commit_all("mine");
    assert_eq!(land(&sample), LandOutcome::Conflict { paths: vec!["src/a.rs".into()] });
    assert_eq!(git(sample.top(), &["rev-parse", "main"]), base);
    assert_eq!(sample.read("src/a.rs").as_deref(), Some("mine\n"));
}

#[test]
fn a_base_checked_out_elsewhere_is_not_moved() {
    let (sample, _) = project();
    git(sample.top(), &["switch", "-q", "-c", "mine"]);
    git(sample.top(), &["worktree", "add", "-q", "../elsewhere", "main"]);
    assert_eq!(land(&sample), LandOutcome::CheckedOutElsewhere { path: sample.beside("elsewhere") });
}

#[test]
fn a_linked_worktree_can_be_the_human_checkout() {
    let (sample, head) = project();
    git(sample.top(), &["switch", "-q", "-c", "mine"]);
    let linked = sample.beside("linked");
    git(sample.top(), &["worktree", "add", "-q", linked.to_str().unwrap(), "main"]);
    let landed = land_in(&sample, &linked, None).unwrap();
    assert_eq!(landed, LandOutcome::Landed { sha: head, fast_forward: true });
    assert_eq!(git(&linked, &["status", "--porcelain"]), "");
    assert_eq!(fs::read_to_string(linked.join("src/new.rs")).unwrap(), "new\n");
    assert_eq!(git(sample.top(), &["status", "--porcelain"]), "", "the other checkout is unchanged");
}

#[test]
fn a_project_of_a_linked_worktree_spares_the_main_checkout() {
    let (sample, _) = project();
    let linked = sample.beside("linked");
    git(sample.top(), &["worktree", "add", "-q", "-b", "side", linked.to_str().unwrap()]);
    let landed = land_in(&sample, &linked, None).unwrap();
    assert_eq!(landed, LandOutcome::CheckedOutElsewhere { path: sample.top().to_path_buf() });
    assert!(!linked.join("src/new.rs").exists());
}

#[test]
fn an_agent_on_the_base_branch_does_not_block_a_landing() {
    let (sample, head) = project();
    git(sample.top(), &["switch", "-q", "-c", "mine"]);
    let repository = sample.repository();
    let path = sample.beside("task");
    repository.add_worktree("task", &path, "vr/TASK-001/work", &head).unwrap();
    git(&path, &["switch", "-q", "main"]);
    assert_eq!(land(&sample), LandOutcome::Landed { sha: head, fast_forward: true });
}

#[test]
fn a_manually_deleted_checkout_does_not_block_a_landing() {
    let (sample, head) = project();
    git(sample.top(), &["switch", "-q", "-c", "mine"]);
    git(sample.top(), &["worktree", "add", "-q", "../elsewhere", "main"]);
    fs::remove_dir_all(sample.beside("elsewhere")).unwrap();
    assert_eq!(land(&sample), LandOutcome::Landed { sha: head, fast_forward: true });
}

#[test]
fn a_checked_out_project_branch_moves_with_its_files() {
    let (sample, head) = project();
    git(sample.top(), &["switch", "-q", PROJECT]);
    let repository = sample.repository();
    let next = sample.commit_on("next", &[("next.txt", Some("next\n"))], "next");
    let identity = repository.identity("runner").unwrap();
    repository.merge(PROJECT, &repository.ref_sha(PROJECT).unwrap().unwrap(), &next, "merge", &identity).unwrap();
    assert_eq!(git(sample.top(), &["status", "--porcelain"]), "");
    assert_eq!(sample.read("next.txt").as_deref(), Some("next\n"));

    sample.write("next.txt", "mine\n");
    let tip = repository.ref_sha(PROJECT).unwrap().unwrap();
    sample.set_branch("later", &tip);
    let later = sample.commit_on("later", &[("next.txt", Some("later\n"))], "later");
    assert_eq!(
        repository.merge(PROJECT, &repository.ref_sha(PROJECT).unwrap().unwrap(), &later, "merge", &identity).unwrap_err().code(),
        "branch-checked-out"
    );
    assert_eq!(repository.ref_sha(PROJECT).unwrap(), Some(tip));
    assert_eq!(sample.read("next.txt").as_deref(), Some("mine\n"));
    assert_eq!(repository.advance(PROJECT, &head, &later, "stale").unwrap_err().code(), "branch-moved");
}

#[test]
fn a_checkout_with_a_separate_git_folder_is_updated() {
    let (sample, head) = project();
    git(sample.top(), &["init", "-q", "--separate-git-dir", sample.beside("separate").to_str().unwrap()]);
    let probe = crate::probe(sample.top(), None).unwrap();
    let repository = crate::Repository::open(probe.git_dir.as_ref()).unwrap();
    let (base_head, identity) = (probe.base_sha, repository.identity("runner").unwrap());
    let landed = repository.land(LandRequest {
        project_branch: PROJECT,
        base_branch: "main",
        base_head: &base_head,
        bring_back: None,
        workdir: sample.top(),
        message: "Land",
        identity: &identity,
    });
    let landed = landed.unwrap();
    assert_eq!(landed, LandOutcome::Landed { sha: head.clone(), fast_forward: true });
    assert_landed(&sample, &head);
}

#[test]
fn unusual_checkouts_are_left_to_git_and_those_in_an_operation_are_refused() {
    for arguments in [&["sparse-checkout", "set", "--cone", "src"][..], &["update-index", "--split-index"]] {
        let (sample, head) = project();
        git(sample.top(), arguments);
        let before = git(sample.top(), &["rev-parse", "main"]);
        let LandOutcome::NeedsGit { update, fast_forward: true } = land(&sample) else { panic!("{arguments:?}") };
        assert_eq!((&update.from, &update.to, git(sample.top(), &["rev-parse", "main"])), (&before, &head, before.clone()));
    }

    let (sample, _) = project();
    sample.commit_on("theirs", &[("README.md", Some("theirs\n"))], "theirs");
    sample.write("README.md", "mine\n");
    sample.commit_all("mine");
    assert!(!run(sample.top(), &["merge", "theirs"]).status.success(), "the merge must stop at a conflict");
    assert_eq!(try_land(&sample).unwrap_err().code(), "operation-under-way");
}

#[test]
fn a_landing_waits_for_a_locked_index() {
    let (sample, head) = project();
    let lock = sample.git_dir().join("index.lock");
    fs::write(&lock, "").unwrap();
    thread::scope(|scope| {
        scope.spawn(|| {
            // Simulate a program that holds the lock longer than a landing without a wait would take.
            (0..20).for_each(|_| _ = git(sample.top(), &["log"]));
            fs::remove_file(&lock).unwrap();
        });
        assert_eq!(land(&sample), LandOutcome::Landed { sha: head.clone(), fast_forward: true });
    });
    assert_landed(&sample, &head);
    let left: Vec<_> = fs::read_dir(sample.git_dir()).unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().starts_with("index.")), "{left:?}");
}

#[test]
fn a_permanently_locked_index_prevents_any_write() {
    let (sample, _) = project();
    let base = git(sample.top(), &["rev-parse", "main"]);
    fs::write(sample.git_dir().join("index.lock"), "").unwrap();
    let refusal = try_land(&sample).unwrap_err();
    assert_eq!(refusal.code(), "branch-locked");
    assert!(refusal.hint().contains("index.lock"), "{}", refusal.hint());
    assert_eq!(git(sample.top(), &["rev-parse", "main"]), base);
    assert_eq!(git(sample.top(), &["status", "--porcelain"]), "");
    assert_eq!(sample.read("src/a.rs").as_deref(), Some("one\n"));
}

/// A kill during the file writes leaves our lock, the copy of the index and libgit2's lock on that copy.
#[test]
fn leftovers_of_a_killed_landing_do_not_block_the_next() {
    let (sample, head) = project();
    for (name, content) in [("index.lock", "vibe-relay\n"), ("index.vibe-relay", "DIRC"), ("index.vibe-relay.lock", "")] {
        fs::write(sample.git_dir().join(name), content).unwrap();
    }
    sample.write("src/a.rs", "two\n");
    assert_eq!(land(&sample), LandOutcome::Landed { sha: head.clone(), fast_forward: true });
    assert_landed(&sample, &head);
}

#[test]
fn locks_of_a_killed_landing_are_removed_and_others_stay() {
    let (sample, _) = project();
    let lock = sample.git_dir().join("index.lock");
    for (content, is_ours) in [("vibe-relay\n", true), ("", false), ("DIRC", false)] {
        fs::write(&lock, content).unwrap();
        assert_eq!(sample.repository().clear_landing_locks().unwrap().len(), usize::from(is_ours), "{content}");
        assert_eq!(lock.exists(), !is_ours, "{content}");
    }
}

#[test]
fn tip_before_a_landing_is_in_the_log_until_the_branch_moves_again() {
    let (sample, _) = project();
    let before = |sample: &TestRepository| sample.repository().tip_before_landing("main", PROJECT).unwrap();
    let base = git(sample.top(), &["rev-parse", "main"]);
    assert_eq!(before(&sample), None);
    land(&sample);
    assert_eq!(before(&sample), Some(base));
    sample.commit_on("main", &[("more", Some("more"))], "more");
    assert_eq!(before(&sample), None, "someone else moved it");
}
