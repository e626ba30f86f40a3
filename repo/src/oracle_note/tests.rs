//! Notes about commits: earlier, later, rewritten and gone ones.

use super::*;
use crate::testing::TestRepository;

fn note(question: i64, sha: &str) -> OracleNote {
    OracleNote { question, sha: sha.to_owned(), paths: vec!["audio/".parse().unwrap()] }
}

#[tokio::test]
async fn note_holds_while_no_file_of_its_zone_differs() {
    let sample = TestRepository::new();
    let read = sample.commit_on("main", &[("audio/mix.rs", Some("a")), ("docs/a.md", Some("a"))], "read");
    let git_dir = sample.repository().git_dir().to_owned();
    let holding = async |notes: Vec<OracleNote>| holding_notes(&git_dir, "main", notes).await.unwrap();
    assert_eq!(holding(vec![note(1, &read)]).await, [1]);
    let other = sample.commit_on("main", &[("docs/a.md", Some("b"))], "elsewhere");
    assert_eq!(holding(vec![note(1, &read), note(2, &other)]).await, [1, 2]);
    let changed = sample.commit_on("main", &[("audio/mix.rs", Some("b"))], "changed");
    assert_eq!(holding(vec![note(1, &read), note(2, &other), note(3, &changed)]).await, [3]);
    sample.commit_on("main", &[("audio/mix.rs", Some("a"))], "put back");
    assert_eq!(holding(vec![note(1, &read), note(3, &changed)]).await, [1], "the files count, not the commits");
    // A commit of another history has no file in common.
    let elsewhere = sample.commit_on("work", &[("audio/mix.rs", Some("c"))], "other");
    assert!(holding(vec![note(4, &elsewhere), note(5, &"0".repeat(40)), note(6, "none")]).await.is_empty(), "gone");
    assert!(holding_notes(&git_dir, "missing", vec![note(1, &read)]).await.unwrap().is_empty());
    assert!(holding_notes(Path::new("/nowhere"), "main", Vec::new()).await.unwrap().is_empty(), "nothing to read");
    assert!(holding_notes(Path::new("/nowhere"), "main", vec![note(1, &read)]).await.is_err());
}
