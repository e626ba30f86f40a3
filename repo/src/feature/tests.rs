//! Every unsupported configuration is rejected with a code of its own.

use super::check_entry;
use crate::Repository;
use crate::testing::TestRepository;

fn code(name: &str, value: &str, versioned: bool) -> &'static str {
    check_entry(name, value, versioned).map_or_else(|refusal| refusal.code(), |()| "supported")
}

#[test]
fn each_entry_is_supported_or_has_its_own_code() {
    let table = [
        ("extensions.objectformat", "sha256", true, "sha256-objects"),
        ("extensions.objectformat", "sha1", true, "supported"),
        ("extensions.refstorage", "reftable", true, "reftable"),
        ("extensions.refstorage", "files", true, "supported"),
        ("extensions.partialclone", "origin", false, "partial-clone"),
        ("extensions.worktreeconfig", "true", true, "supported"),
        ("extensions.something", "true", true, "unknown-extension"),
        ("extensions.something", "true", false, "supported"),
        ("remote.origin.promisor", "true", false, "partial-clone"),
        ("remote.origin.promisor", "false", false, "supported"),
        ("remote.origin.partialclonefilter", "blob:none", false, "partial-clone"),
        ("remote.origin.url", "https://example.org", false, "supported"),
        ("core.bare", "false", true, "supported"),
    ];
    for (name, value, versioned, expected) in table {
        assert_eq!(code(name, value, versioned), expected, "{name} = {value}");
    }
}

#[test]
fn open_and_check_both_reject_unsupported_features() {
    let sample = TestRepository::new();
    let repository = sample.repository();
    assert!(repository.check().is_ok());
    sample.configure("core.repositoryformatversion", "1");
    sample.configure("extensions.objectFormat", "sha256");
    assert_eq!(repository.check().unwrap_err().code(), "sha256-objects");
    assert_eq!(Repository::open(&sample.git_dir()).unwrap_err().code(), "sha256-objects");
}
