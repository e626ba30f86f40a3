//! Every configuration that cannot be served is refused by its own name.

use super::judge;
use crate::Repository;
use crate::testing::TestRepository;

fn code(name: &str, value: &str, versioned: bool) -> &'static str {
    judge(name, value, versioned).map_or_else(|refusal| refusal.code(), |()| "served")
}

#[test]
fn entries_are_judged_one_by_one() {
    let table = [
        ("extensions.objectformat", "sha256", true, "sha256-objects"),
        ("extensions.objectformat", "sha1", true, "served"),
        ("extensions.refstorage", "reftable", true, "reftable"),
        ("extensions.refstorage", "files", true, "served"),
        ("extensions.partialclone", "origin", false, "partial-clone"),
        ("extensions.worktreeconfig", "true", true, "served"),
        ("extensions.something", "true", true, "unknown-extension"),
        ("extensions.something", "true", false, "served"),
        ("remote.origin.promisor", "true", false, "partial-clone"),
        ("remote.origin.promisor", "false", false, "served"),
        ("remote.origin.partialclonefilter", "blob:none", false, "partial-clone"),
        ("remote.origin.url", "https://example.org", false, "served"),
        ("core.bare", "false", true, "served"),
    ];
    for (name, value, versioned, expected) in table {
        assert_eq!(code(name, value, versioned), expected, "{name} = {value}");
    }
}

#[test]
fn a_repository_is_refused_before_it_is_opened_and_again_later() {
    let sample = TestRepository::new();
    let repository = sample.repository();
    assert!(repository.check().is_ok());
    sample.configure("core.repositoryformatversion", "1");
    sample.configure("extensions.objectFormat", "sha256");
    assert_eq!(repository.check().unwrap_err().code(), "sha256-objects");
    assert_eq!(Repository::open(&sample.git_dir()).unwrap_err().code(), "sha256-objects");
}
