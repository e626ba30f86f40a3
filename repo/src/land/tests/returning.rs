//! Commits that were removed from the base branch return only when the human confirmed exactly them.

use super::{PROJECT, land_confirmed, land_in, project};
use crate::git_program::git;
use crate::land::LandOutcome;
use crate::testing::TestRepository;

/// A secret was committed to main, a project began there, and the human removed the secret from main.
fn rewound() -> (TestRepository, String) {
    let sample = TestRepository::new();
    sample.write(".env", "KEY=1\n");
    let secret = sample.commit_all("Add a key");
    sample.set_branch(PROJECT, &secret);
    sample.commit_on(PROJECT, &[("src/a.rs", Some("two\n"))], "work");
    git(sample.top(), &["reset", "-q", "--hard", "HEAD~1"]);
    (sample, secret)
}

#[test]
fn a_removed_commit_returns_only_when_it_was_confirmed() {
    let (sample, secret) = rewound();
    let before = git(sample.top(), &["rev-parse", "main"]);
    let land = |bring_back: Option<&str>| land_confirmed(&sample, sample.top(), Some(&secret), bring_back).unwrap();
    let LandOutcome::WouldReturn(returning) = land(None) else { panic!("landed") };
    assert_eq!((returning.total, returning.commits[0].sha.as_str(), returning.commits[0].subject.as_str()), (1, secret.as_str(), "Add a key"));
    assert_eq!(land(Some("000000000000")), LandOutcome::WouldReturn(returning.clone()), "another list was confirmed");
    assert_eq!((git(sample.top(), &["rev-parse", "main"]), sample.read(".env")), (before, None), "nothing was changed");
    assert!(matches!(land(Some(&returning.confirmation)), LandOutcome::Landed { .. }));
    assert_eq!(sample.read(".env").as_deref(), Some("KEY=1\n"));
}

#[test]
fn a_confirmation_covers_no_further_commit() {
    let (sample, secret) = rewound();
    let LandOutcome::WouldReturn(first) = land_in(&sample, sample.top(), Some(&secret)).unwrap() else { panic!("landed") };
    git(sample.top(), &["checkout", "-q", "--orphan", "other"]);
    git(sample.top(), &["commit", "-q", "-m", "start again"]);
    git(sample.top(), &["branch", "-q", "-f", "main", "other"]);
    let again = land_confirmed(&sample, sample.top(), Some(&secret), Some(&first.confirmation)).unwrap();
    let LandOutcome::WouldReturn(second) = again else { panic!("landed") };
    assert_eq!((first.total, second.total), (1, 2), "the first commit was removed as well");
}

#[test]
fn a_removed_commit_that_the_project_lacks_does_not_matter() {
    let (sample, head) = project();
    sample.write("README.md", "more\n");
    let removed = sample.commit_all("went on");
    git(sample.top(), &["reset", "-q", "--hard", "HEAD~1"]);
    assert_eq!(land_in(&sample, sample.top(), Some(&removed)).unwrap(), LandOutcome::Landed { sha: head, fast_forward: true });
}

#[test]
fn an_amended_commit_counts_as_removed() {
    let sample = TestRepository::new();
    sample.write("a.txt", "one\n");
    let began = sample.commit_all("one");
    sample.set_branch(PROJECT, &began);
    sample.commit_on(PROJECT, &[("b.txt", Some("b\n"))], "work");
    git(sample.top(), &["commit", "-q", "--amend", "-m", "one, again"]);
    let LandOutcome::WouldReturn(returning) = land_in(&sample, sample.top(), Some(&began)).unwrap() else { panic!("landed") };
    assert_eq!(returning.commits[0].subject, "one");
}
