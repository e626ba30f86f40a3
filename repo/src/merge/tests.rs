//! A merge ends with a complete commit or a list of conflicts, regardless of the checkouts.

use std::fs;

use super::MergeOutcome;
use crate::Identity;
use crate::git_program::git;
use crate::testing::TestRepository;

const PROJECT: &str = "vibe-relay/PROJ-001";

fn project() -> TestRepository {
    let sample = TestRepository::new();
    sample.repository().ensure_project_branch(PROJECT, "main").unwrap();
    sample
}

fn runner(sample: &TestRepository) -> Identity {
    sample.repository().identity("runner").unwrap()
}

fn merge(sample: &TestRepository, head: &str) -> MergeOutcome {
    sample
        .repository()
        .merge(
            PROJECT,
            &sample.repository().ref_sha(PROJECT).unwrap().unwrap(),
            &head.to_owned(),
            "Merge TASK-001\n\nTask: TASK-001",
            &runner(sample),
        )
        .unwrap()
}

#[test]
fn a_merge_has_two_parents_and_the_given_message() {
    let sample = project();
    let old = sample.repository().ref_sha(PROJECT).unwrap().unwrap();
    let head = sample.commit_on("vr/TASK-001/work", &[("a.txt", Some("a\n"))], "work");
    let MergeOutcome::Merged { sha, already: false } = merge(&sample, &head) else { panic!("not merged") };
    assert_eq!(sample.repository().ref_sha(PROJECT).unwrap(), Some(sha.clone()));
    assert_eq!(
        git(sample.top(), &["log", "-1", "--format=%P|%an|%ce|%B", &sha]),
        format!("{old} {head}|Sam Sample|sam@example.org|Merge TASK-001\n\nTask: TASK-001")
    );
    assert_eq!(merge(&sample, &head), MergeOutcome::Merged { sha, already: true });
    assert_eq!(git(sample.top(), &["status", "--porcelain"]), "", "the human's checkout is unchanged");
}

#[test]
fn changes_of_both_sides_are_merged() {
    let sample = project();
    let one = sample.commit_on("one", &[("one.txt", Some("1\n"))], "one");
    let two = sample.commit_on("two", &[("two.txt", Some("2\n"))], "two");
    merge(&sample, &one);
    let MergeOutcome::Merged { sha, .. } = merge(&sample, &two) else { panic!("not merged") };
    assert_eq!(git(sample.top(), &["ls-tree", "--name-only", &sha]), "README.md\none.txt\ntwo.txt");
}

#[test]
fn a_conflict_lists_its_paths_and_moves_no_branch() {
    let sample = project();
    let one = sample.commit_on("one", &[("README.md", Some("one\n")), ("fine.txt", Some("x"))], "one");
    let two = sample.commit_on("two", &[("README.md", Some("two\n"))], "two");
    merge(&sample, &one);
    let tip = sample.repository().ref_sha(PROJECT).unwrap();
    assert_eq!(merge(&sample, &two), MergeOutcome::Conflict { paths: vec!["README.md".into()] });
    assert_eq!(sample.repository().ref_sha(PROJECT).unwrap(), tip);
}

#[test]
fn a_merge_commit_can_be_created_without_a_move() {
    let sample = project();
    let repository = sample.repository();
    let base = repository.ref_sha(PROJECT).unwrap().unwrap();
    let head = sample.commit_on("work", &[("a.txt", Some("a\n"))], "work");
    let MergeOutcome::Merged { sha, already: false } = repository.merge_commit(&base, &head, "try", &runner(&sample)).unwrap() else {
        panic!("not merged")
    };
    assert_eq!(repository.ref_sha(PROJECT).unwrap(), Some(base.clone()));
    repository.move_ref(PROJECT, Some(&base), &sha, "checked").unwrap();
    assert_eq!(repository.ref_sha(PROJECT).unwrap(), Some(sha));
}

#[test]
fn the_index_of_the_human_checkout_is_ignored() {
    for prepare in [&["update-index", "--split-index"][..], &["sparse-checkout", "set", "--cone", "--sparse-index", "src"][..]] {
        let sample = project();
        sample.write("src/a.rs", "a\n");
        sample.write("docs/b.md", "b\n");
        sample.commit_all("folders");
        git(sample.top(), prepare);
        let head = sample.commit_on("work", &[("a.txt", Some("a\n"))], "work");
        assert!(matches!(merge(&sample, &head), MergeOutcome::Merged { already: false, .. }), "{prepare:?}");
    }
    let sample = project();
    fs::write(sample.git_dir().join("index"), "broken").unwrap();
    let head = sample.commit_on("work", &[("a.txt", Some("a\n"))], "work");
    assert!(matches!(merge(&sample, &head), MergeOutcome::Merged { already: false, .. }));
}

#[test]
fn a_shallow_clone_supports_merges() {
    let origin = TestRepository::new();
    origin.commit_on("main", &[("later.txt", Some("x"))], "later");
    let url = format!("file://{}", origin.top().display());
    let clone = origin.beside("clone");
    git(origin.root(), &["clone", "-q", "--depth=1", &url, clone.to_str().unwrap()]);
    git(&clone, &["switch", "-q", "-c", "work"]);
    git(&clone, &["commit", "-q", "--allow-empty", "-m", "work"]);
    let repository = crate::Repository::open(&clone.join(".git")).unwrap();
    let head = repository.ref_sha("work").unwrap().unwrap();
    repository.ensure_project_branch(PROJECT, "main").unwrap();
    let identity = repository.identity("runner").unwrap();
    let merged = repository.merge(PROJECT, &repository.ref_sha(PROJECT).unwrap().unwrap(), &head, "merge", &identity).unwrap();
    assert!(matches!(merged, MergeOutcome::Merged { already: false, .. }));
}

#[test]
fn only_the_attributes_of_the_base_apply_to_a_merge() {
    let outcome = |on_base: bool| {
        let sample = TestRepository::new();
        if on_base {
            sample.write(".gitattributes", "README.md merge=union\n");
            sample.commit_all("attributes");
        }
        sample.repository().ensure_project_branch(PROJECT, "main").unwrap();
        let attributes = (".gitattributes", Some("README.md merge=union\n"));
        let one = sample.commit_on("one", &[("README.md", Some("one\n"))], "one");
        let two = sample.commit_on("two", &[("README.md", Some("two\n")), attributes], "two");
        merge(&sample, &one);
        merge(&sample, &two)
    };
    assert!(matches!(outcome(true), MergeOutcome::Merged { .. }));
    assert!(matches!(outcome(false), MergeOutcome::Conflict { .. }));
}

#[test]
fn a_missing_identity_is_replaced_by_the_fallback() {
    let sample = project();
    sample.configure("user.name", "");
    sample.configure("user.email", "");
    let identity = runner(&sample);
    assert_eq!((identity.name.as_str(), identity.email.as_str(), identity.configured), ("vibe-relay runner", "vibe-relay@localhost", false));
    let head = sample.commit_on("work", &[("a.txt", Some("a\n"))], "work");
    let MergeOutcome::Merged { sha, .. } = merge(&sample, &head) else { panic!("not merged") };
    assert_eq!(git(sample.top(), &["log", "-1", "--format=%an <%ae>", &sha]), "vibe-relay runner <vibe-relay@localhost>");
}

#[test]
fn a_conflict_shows_both_versions_and_what_is_around_them() {
    let sample = project();
    let repository = sample.repository();
    let body = |word: &str| (1..=20).map(|line| if line == 10 { format!("{word}\n") } else { format!("{line}\n") }).collect::<String>();
    let start = sample.commit_on("start", &[("a.txt", Some(&body("ten"))), ("gone.txt", Some("x\n")), ("i.png", Some("a\0"))], "start");
    git(sample.top(), &["branch", "one", &start]);
    git(sample.top(), &["branch", "two", &start]);
    let one = sample.commit_on("one", &[("a.txt", Some(&body("TEN"))), ("gone.txt", None), ("i.png", Some("b\0"))], "one");
    let two = sample.commit_on("two", &[("a.txt", Some(&body("dix"))), ("gone.txt", Some("y\n")), ("i.png", Some("c\0"))], "two");
    let found = repository.conflicts(&one, &two).unwrap();
    let [text, gone, image] = found.as_slice() else { panic!("{found:?}") };
    let lines: Vec<String> = text.hunks[0].lines.iter().map(|line| format!("{}{}", line.origin, line.text)).collect();
    assert_eq!((text.path.as_str(), text.why.as_deref(), lines.join("|")), ("a.txt", None, " 7| 8| 9|-TEN|+dix| 11| 12| 13".to_owned()));
    assert_eq!((gone.path.as_str(), gone.why.as_deref()), ("gone.txt", Some("The merged work removed it, and this work changed it.")));
    assert_eq!((image.path.as_str(), image.why.as_deref()), ("i.png", Some("It is binary or too large to show.")));
    assert_eq!(repository.conflicts(&one, &start).unwrap(), []);
}
