//! Kept work is listed, restored to new branches only, and dropped only as the caller saw it.

use crate::Repository;
use crate::git_program::git;
use crate::testing::TestRepository;

const REFERENCE: &str = "refs/vibe-relay/rescue/TASK-001/uncommitted";
const OTHER: &str = "refs/vibe-relay/rescue/TASK-002/0123456789ab";

/// A repository with two rescue refs, and the commits that they keep.
fn kept() -> (TestRepository, Repository, String, String) {
    let sample = TestRepository::new();
    let (one, two) = (sample.commit_on("one", &[("a", Some("a"))], "Add a\n\nWhy."), sample.commit_on("two", &[("b", Some("b"))], "Add b"));
    let repository = sample.repository();
    repository.rescue_tip(OTHER, &two).unwrap();
    repository.rescue_tip(REFERENCE, &one).unwrap();
    git(sample.top(), &["branch", "-q", "-D", "one", "two"]);
    (sample, repository, one, two)
}

#[test]
fn rescue_refs_are_listed_by_name_without_symbolic_ones() {
    let (sample, repository, one, two) = kept();
    git(sample.top(), &["symbolic-ref", "refs/vibe-relay/rescue/TASK-003/link", REFERENCE]);
    git(sample.top(), &["pack-refs", "--all"]);
    let found: Vec<(String, String, String)> =
        repository.rescues().unwrap().into_iter().map(|kept| (kept.reference, kept.commit.sha, kept.commit.subject)).collect();
    assert_eq!(found, [(REFERENCE.to_owned(), one, "Add a".to_owned()), (OTHER.to_owned(), two, "Add b".to_owned())]);
}

#[test]
fn kept_work_is_restored_to_a_new_branch_only() {
    let (sample, repository, one, _) = kept();
    let main = repository.ref_sha("main").unwrap();
    let refused = |reference: &str, branch: &str| repository.restore_rescue(reference, branch).unwrap_err().code();
    assert_eq!(refused(REFERENCE, "main"), "branch-exists");
    assert_eq!(refused(REFERENCE, "main/below"), "name-blocked");
    assert_eq!(refused(REFERENCE, "a..b"), "branch-name");
    assert_eq!(refused(REFERENCE, "-f"), "branch-name");
    assert_eq!(refused("refs/vibe-relay/rescue/TASK-009/none", "again"), "rescue-missing");
    assert_eq!(refused("refs/vibe-relay/rescue/../../heads/main", "again"), "rescue-missing");
    assert_eq!(refused("refs/heads/main", "again"), "foreign-reference");
    assert_eq!(repository.ref_sha("again").unwrap(), None);
    assert_eq!(repository.restore_rescue(REFERENCE, "again").unwrap(), one);
    assert_eq!(repository.ref_sha("again").unwrap(), Some(one));
    assert_eq!(repository.ref_sha("main").unwrap(), main);
    assert_eq!(git(sample.top(), &["show", "again:a"]), "a");
}

#[test]
fn a_rescue_ref_is_dropped_only_at_the_named_commit() {
    let (sample, repository, one, two) = kept();
    assert_eq!(repository.drop_rescue(REFERENCE, &two).unwrap_err().code(), "branch-moved");
    assert_eq!(repository.drop_rescue("refs/heads/main", &one).unwrap_err().code(), "foreign-reference");
    assert_eq!(repository.rescued(REFERENCE).unwrap(), one);
    git(sample.top(), &["pack-refs", "--all"]);
    repository.drop_rescue(REFERENCE, &one).unwrap();
    assert_eq!(repository.drop_rescue(REFERENCE, &one).unwrap_err().code(), "rescue-missing");
    assert_eq!(repository.rescued(OTHER).unwrap(), two);
}
