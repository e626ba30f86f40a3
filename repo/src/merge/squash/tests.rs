//! Squashed work is one commit, is found again by its head, and is kept.

use domain::runs::evidence::Sha;

use super::SQUASHED_PREFIX;
use crate::MergeOutcome;
use crate::git_program::git;
use crate::testing::TestRepository;

const PROJECT: &str = "vibe-relay/PROJ-001";

fn tip(sample: &TestRepository) -> Sha {
    sample.repository().ref_sha(PROJECT).unwrap().unwrap()
}

fn squash(sample: &TestRepository, head: &Sha) -> MergeOutcome {
    let repository = sample.repository();
    repository.squash(PROJECT, &tip(sample), head, "Add a\n\nTask: TASK-001\n", &repository.identity("runner").unwrap()).unwrap()
}

fn project() -> TestRepository {
    let sample = TestRepository::new();
    sample.repository().ensure_project_branch(PROJECT, "main").unwrap();
    sample
}

#[test]
fn work_becomes_one_commit_that_names_it() {
    let sample = project();
    let old = tip(&sample);
    sample.commit_on("work", &[("a", Some("1"))], "one");
    let head = sample.commit_on("work", &[("a", Some("2")), ("b", Some("b"))], "two");
    let MergeOutcome::Merged { sha, already: false } = squash(&sample, &head) else { panic!("not squashed") };
    let described = git(sample.top(), &["log", "-1", "--format=%P|%B", &sha]);
    assert_eq!(described, format!("{old}|Add a\n\nTask: TASK-001\nSquashed-commit: {head}"));
    assert_eq!(git(sample.top(), &["diff", "--name-only", &old, &sha]), "a\nb");
    let repository = sample.repository();
    assert_eq!(repository.squashed_head(&sha).unwrap(), Some(head.clone()));
    assert_eq!(repository.before_merge(PROJECT, &head).unwrap(), Some(old.clone()));
    assert_eq!(repository.commits_of_merges(&old, &sha).unwrap(), [(head.clone(), 1)].into());
    assert!(repository.is_squashed_into(&sha, &head).unwrap());
    assert!(!repository.is_squashed_into(&old, &head).unwrap());
    assert_eq!(squash(&sample, &head), MergeOutcome::Merged { sha, already: true }, "nothing is left to bring");
}

#[test]
fn trailer_of_another_paragraph_names_nothing() {
    let sample = project();
    let head = sample.commit_on("work", &[("a", Some("1"))], "one");
    let quoted = sample.commit_on("main", &[("c", Some("1"))], &format!("Quote\n\nSquashed-commit: {head}\n\nTask: TASK-001\n"));
    assert_eq!(sample.repository().squashed_head(&quoted).unwrap(), None);
    let merge = sample.commit_as(&quoted, &[&quoted, &head], &format!("Merge\n\nSquashed-commit: {quoted}\n"));
    assert_eq!(sample.repository().squashed_head(&merge).unwrap(), None, "a merge names its parents");
}

#[test]
fn conflict_moves_nothing() {
    let sample = project();
    let (one, two) =
        (sample.commit_on("one", &[("README.md", Some("one\n"))], "one"), sample.commit_on("two", &[("README.md", Some("two\n"))], "two"));
    squash(&sample, &one);
    let before = tip(&sample);
    assert_eq!(squash(&sample, &two), MergeOutcome::Conflict { paths: vec!["README.md".to_owned()] });
    assert_eq!(tip(&sample), before);
}

#[test]
fn one_reference_keeps_everything_that_was_squashed() {
    let sample = project();
    let repository = sample.repository();
    let reference = format!("{SQUASHED_PREFIX}PROJ-001");
    let heads: Vec<Sha> = ["one", "two", "three"].iter().map(|name| sample.commit_on(name, &[(name, Some("x"))], name)).collect();
    for head in heads.iter().chain(&heads) {
        repository.keep_squashed(&reference, head).unwrap();
    }
    for name in ["one", "two", "three"] {
        assert!(repository.delete_branch(name, PROJECT).unwrap(), "{name} is kept");
    }
    git(sample.top(), &["reflog", "expire", "--expire=now", "--all"]);
    git(sample.top(), &["gc", "--quiet", "--prune=now"]);
    assert!(heads.iter().all(|head| repository.tree_of(head).is_ok()));
    assert_eq!(git(sample.top(), &["rev-list", "--count", &reference]), "6", "the start, three heads, and two that join them");
    assert!(repository.keep_squashed("refs/heads/main", &heads[0]).is_err());
}
