//! Commits, paths, files, parents and trees are read correctly.

use super::Commit;
use crate::testing::TestRepository;

#[test]
fn log_lists_commits_beyond_the_base_newest_first() {
    let sample = TestRepository::new();
    let repository = sample.repository();
    let start = repository.ref_sha("main").unwrap().unwrap();
    let one = sample.commit_on("work", &[("a", Some("a"))], "First\n\nwith a body");
    let two = sample.commit_on("work", &[("b", Some("b"))], "Second");
    sample.commit_on("main", &[("c", Some("c"))], "elsewhere");

    let log = repository.log(&start, &two, 10).unwrap();
    let seen: Vec<_> = log.iter().map(|commit| (commit.sha.as_str(), commit.subject.as_str(), commit.author.as_str())).collect();
    assert_eq!(seen, [(two.as_str(), "Second", "Sam Sample"), (one.as_str(), "First", "Sam Sample")]);
    assert!(log.iter().all(|commit| commit.at_seconds > 1_700_000_000));
    assert_eq!(repository.log(&start, &two, 1).unwrap().len(), 1);
    assert_eq!(repository.log(&two, &two, 10).unwrap(), Vec::<Commit>::new());
}

#[test]
fn changed_paths_exclude_changes_of_the_base() {
    let sample = TestRepository::new();
    let repository = sample.repository();
    let head = sample.commit_on("work", &[("src/b.rs", Some("b")), ("README.md", None)], "work");
    let base = sample.commit_on("main", &[("elsewhere", Some("c"))], "main went on");
    assert_eq!(repository.changed_paths(&base, &head).unwrap(), ["README.md", "src/b.rs"]);
}

#[test]
fn file_at_returns_the_version_of_the_commit() {
    let sample = TestRepository::new();
    let repository = sample.repository();
    let start = repository.ref_sha("main").unwrap().unwrap();
    let later = sample.commit_on("main", &[("README.md", Some("later\n")), ("docs/a.md", Some("a"))], "later");
    let read = |commit: &String, path: &str| repository.file_at(commit, path).unwrap().map(|bytes| String::from_utf8(bytes).unwrap());
    assert_eq!(read(&start, "README.md").as_deref(), Some("a sample\n"));
    assert_eq!(read(&later, "README.md").as_deref(), Some("later\n"));
    assert_eq!(read(&start, "docs/a.md"), None);
    assert_eq!(read(&later, "docs"), None, "a folder is not a file");
}

#[test]
fn commits_with_equal_files_have_equal_trees() {
    let sample = TestRepository::new();
    let repository = sample.repository();
    let start = repository.ref_sha("main").unwrap().unwrap();
    let other = sample.commit_on("work", &[("README.md", Some("other\n"))], "other");
    let back = sample.commit_on("work", &[("README.md", Some("a sample\n"))], "back");
    assert_eq!(repository.tree_of(&start).unwrap(), repository.tree_of(&back).unwrap());
    assert_ne!(repository.tree_of(&start).unwrap(), repository.tree_of(&other).unwrap());
}

#[test]
fn before_merge_finds_merges_that_others_followed() {
    let sample = TestRepository::new();
    let repository = sample.repository();
    let start = repository.ref_sha("main").unwrap().unwrap();
    let one = sample.commit_on("one", &[("a", Some("a"))], "one");
    let two = sample.commit_on("two", &[("b", Some("b"))], "two");
    let identity = repository.identity("test").unwrap();
    repository.merge("main", &repository.ref_sha("main").unwrap().unwrap(), &one, "Merge one", &identity).unwrap();
    let between = repository.ref_sha("main").unwrap().unwrap();
    repository.merge("main", &repository.ref_sha("main").unwrap().unwrap(), &two, "Merge two", &identity).unwrap();
    assert_eq!(repository.before_merge("main", &one).unwrap(), Some(start));
    assert_eq!(repository.before_merge("main", &two).unwrap(), Some(between));
    let other = sample.commit_on("three", &[("c", Some("c"))], "three");
    assert_eq!(repository.before_merge("main", &other).unwrap(), None);
    assert_eq!(repository.before_merge("missing", &one).unwrap(), None);
}

#[test]
fn parents_are_listed_in_order() {
    let sample = TestRepository::new();
    let repository = sample.repository();
    let start = repository.ref_sha("main").unwrap().unwrap();
    let work = sample.commit_on("work", &[("a", Some("a"))], "work");
    repository.merge("main", &repository.ref_sha("main").unwrap().unwrap(), &work, "Merge work", &repository.identity("test").unwrap()).unwrap();
    let merged = repository.ref_sha("main").unwrap().unwrap();
    assert_eq!(repository.parents_of(&merged).unwrap(), [start.clone(), work]);
    assert_eq!(repository.parents_of(&start).unwrap(), [""; 0]);
}
