//! Filters are found in every place that git reads, and only if they would run.

use std::fs;

use super::{filter_drivers, reject_filters};
use crate::RepoError;
use crate::handle::oid;
use crate::testing::TestRepository;

fn refusal(sample: &TestRepository) -> Option<(String, String)> {
    let repository = sample.repository();
    let head = repository.ref_sha("main").unwrap().unwrap();
    match reject_filters(&repository, oid(&head).unwrap()) {
        Ok(()) => None,
        Err(RepoError::Filters { driver, named_in }) => Some((driver, named_in)),
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn drivers_are_read_from_an_attribute_file() {
    let text = "# filter=comment\n*.psd filter=lfs diff=lfs -text\n*.txt -filter\n*.md !filter text\n[attr]secret filter=crypt\nfilter=name text\n";
    assert_eq!(filter_drivers(text), ["lfs", "crypt"]);
}

#[test]
fn lfs_is_rejected_even_if_it_is_not_installed() {
    let sample = TestRepository::new();
    sample.write("art/.gitattributes", "*.psd filter=lfs\n");
    sample.commit_all("art");
    assert_eq!(refusal(&sample), Some(("lfs".into(), "art/.gitattributes".into())));
}

#[test]
fn another_filter_is_rejected_only_if_it_is_configured() {
    let sample = TestRepository::new();
    sample.write(".gitattributes", "*.key filter=crypt\n");
    sample.commit_all("keys");
    assert_eq!(refusal(&sample), None, "git ignores a driver that is not configured");
    sample.configure("filter.crypt.smudge", "crypt -d");
    assert_eq!(refusal(&sample), Some(("crypt".into(), ".gitattributes".into())));
}

#[test]
fn a_filter_in_git_info_attributes_is_rejected() {
    let sample = TestRepository::new();
    fs::create_dir_all(sample.git_dir().join("info")).unwrap();
    fs::write(sample.git_dir().join("info/attributes"), "*.md filter=upper\n").unwrap();
    sample.configure("filter.upper.clean", "tr a-z A-Z");
    assert_eq!(refusal(&sample), Some(("upper".into(), ".git/info/attributes".into())));
}

#[test]
fn a_global_filter_is_rejected_if_it_matches_a_file() {
    let sample = TestRepository::new();
    let personal = sample.beside("attributes");
    fs::write(&personal, "*.ipynb filter=strip\n").unwrap();
    sample.configure("core.attributesFile", personal.to_str().unwrap());
    sample.configure("filter.strip.clean", "strip");
    assert_eq!(refusal(&sample), None);
    sample.write("notes/first.ipynb", "{}");
    sample.commit_all("notes");
    assert_eq!(refusal(&sample), Some(("strip".into(), "your attribute file, for notes/first.ipynb".into())));
}

#[test]
fn an_encoding_is_rejected_if_it_applies_to_a_file() {
    let sample = TestRepository::new();
    sample.write(".gitattributes", "*.rc working-tree-encoding=UTF-16LE\n*.txt working-tree-encoding=UTF-8\n");
    sample.write("a.txt", "a");
    sample.commit_all("attributes");
    assert_eq!(refusal(&sample), None);
    sample.write("src/a.rc", "a");
    sample.commit_all("a file");
    let repository = sample.repository();
    let head = repository.ref_sha("main").unwrap().unwrap();
    let refused = reject_filters(&repository, oid(&head).unwrap()).unwrap_err();
    assert!(matches!(&refused, RepoError::Encoding { encoding, path } if encoding == "UTF-16LE" && path == "src/a.rc"), "{refused}");
}
