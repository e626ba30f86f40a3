//! Which tip counts as the recorded one when another branch becomes the base.

use crate::git_program::serve_calls;
use crate::testing::TestRepository;

#[test]
fn a_renamed_base_branch_keeps_everything() {
    let sample = TestRepository::new();
    let known = sample.commit_on("main", &[("one", Some("1"))], "one");
    sample.set_branch("trunk", &known);
    let moved = sample.commit_on("trunk", &[("two", Some("2"))], "two");
    let found = sample.repository().base_evidence("trunk", &known, Some(&known)).unwrap();
    assert_eq!((found.branch.as_str(), &found.tip, &found.base_head, found.holds_landed), ("trunk", &moved, &moved, true));
}

#[test]
fn a_branch_without_known_commits_keeps_the_record() {
    let sample = TestRepository::new();
    let start = sample.repository().ref_sha("main").unwrap().unwrap();
    sample.set_branch("trunk", &start);
    let secret = sample.commit_on("main", &[(".env", Some("KEY=1"))], "Add a key");
    let found = sample.repository().base_evidence("trunk", &secret, Some(&secret)).unwrap();
    assert_eq!((found.tip, found.base_head, found.holds_landed), (start, secret.clone(), false));
    assert!(!sample.repository().base_evidence("main", &secret, None).unwrap().holds_landed, "nothing was landed");
}

#[test]
fn a_missing_base_branch_names_similar_ones() {
    let sample = TestRepository::new();
    sample.set_branch("maintenance", &sample.repository().ref_sha("main").unwrap().unwrap());
    let known = sample.repository().base_tip("main").unwrap();
    let error = sample.repository().base_evidence("mian", &known, None).unwrap_err();
    insta::assert_snapshot!(error.to_string(), @"the branch mian does not exist; similar branches: main, maintenance");
}

#[test]
fn a_branch_with_filters_of_the_repository_is_rejected() {
    serve_calls();
    let sample = TestRepository::new();
    let known = sample.repository().base_tip("main").unwrap();
    sample.set_branch("large", &known);
    sample.commit_on("large", &[(".gitattributes", Some("*.md filter=own\n"))], "filters");
    sample.configure("filter.own.clean", "cat");
    assert_eq!(sample.repository().base_evidence("large", &known, None).unwrap_err().code(), "filters");
}
