//! Maps of a repository whose files change.

use std::os::unix::fs::symlink;

use crate::testing::TestRepository;

#[test]
fn map_is_made_again_from_what_changed() {
    let sample = TestRepository::new();
    sample.write("src/one.rs", "pub struct One;\n");
    sample.write("src/two.rs", "use crate::one::One;\npub struct Two(One);\n");
    sample.write("src/same.rs", "pub struct One;\n");
    symlink("one.rs", sample.top().join("src/alias.rs")).unwrap();
    let commit = sample.commit_all("add files");
    let repository = sample.repository();
    let first = repository.code_map(&commit, None).unwrap();
    assert_eq!(first.parsed, 3, "{}", first.text);
    for line in ["## src", "- one.rs (1): One", "- two.rs (2): Two", "imports: crate::one", "1 file not parsed", "- Rust: 3 files, 4 lines"] {
        assert!(first.text.contains(line), "{line}: {}", first.text);
    }
    assert!(!first.text.contains("alias.rs"));
    let folders: Vec<_> = first.summary.folders.iter().map(|folder| (folder.path.as_str(), folder.files, folder.lines)).collect();
    assert_eq!((folders.as_slice(), first.summary.files), (&[("src", 3, 4)][..], 4));
    let again = repository.code_map(&commit, Some(first.clone())).unwrap();
    assert_eq!((again.parsed, &again.text), (0, &first.text));

    sample.write("src/two.rs", "pub struct Second;\n");
    std::fs::remove_file(sample.top().join("src/same.rs")).unwrap();
    let commit = sample.commit_all("change a file");
    let kept = serde_json::from_str(&serde_json::to_string(&first).unwrap()).unwrap();
    let second = repository.code_map(&commit, Some(kept)).unwrap();
    assert_eq!(second.parsed, 1, "only the changed file is read");
    assert!(second.text.contains("- two.rs (1): Second") && !second.text.contains("same.rs"), "{}", second.text);
    assert_eq!(second.text, repository.code_map(&commit, None).unwrap().text, "it equals a map made from nothing");
}
