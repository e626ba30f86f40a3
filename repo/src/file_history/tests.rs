//! The history of files: one commit for each change, and paths that must not be.

use super::*;

fn changes(given: &[(&str, Option<&str>)]) -> BTreeMap<String, Option<String>> {
    given.iter().map(|(path, content)| ((*path).to_owned(), content.map(str::to_owned))).collect()
}

/// The paths of a commit with their contents.
fn files(git_dir: &Path, commit: &str) -> Vec<(String, String)> {
    let handle = git2::Repository::open_bare(git_dir).unwrap();
    let tree = handle.find_commit(commit.parse().unwrap()).unwrap().tree().unwrap();
    let mut files = Vec::new();
    tree.walk(git2::TreeWalkMode::PreOrder, |folder, entry| {
        if let Some(blob) = entry.to_object(&handle).unwrap().as_blob() {
            files.push((format!("{folder}{}", entry.name().unwrap()), String::from_utf8_lossy(blob.content()).into_owned()));
        }
        git2::TreeWalkResult::Ok
    })
    .unwrap();
    files
}

#[test]
fn each_change_is_one_commit_and_a_repetition_none() {
    let folder = tempfile::tempdir().unwrap();
    let git_dir = folder.path().join("knowledge/PROJ-001.git");
    let first = changes(&[("intel/deps.md", Some("It breaks")), ("mara/notes.md", Some("Hm"))]);
    let one = record_files(&git_dir, &first, "mara").unwrap().unwrap();
    assert_eq!(record_files(&git_dir, &first, "mara").unwrap(), None);
    let second = changes(&[("intel/deps.md", None), ("intel/gone.md", None), ("intel/archived/deps-1.md", Some("It broke"))]);
    let two = record_files(&git_dir, &second, "ole").unwrap().unwrap();
    let named = |commit: &str| files(&git_dir, commit).into_iter().map(|(path, _)| path).collect::<Vec<_>>();
    assert_eq!(named(&one), ["intel/deps.md", "mara/notes.md"]);
    assert_eq!(named(&two), ["intel/archived/deps-1.md", "mara/notes.md"], "what is not named stays");
    assert_eq!(record_files(&git_dir, &second, "ole").unwrap(), None);
    let handle = git2::Repository::open_bare(&git_dir).unwrap();
    let tip = handle.head().unwrap().peel_to_commit().unwrap();
    assert_eq!((tip.id().to_string(), tip.parent_id(0).unwrap().to_string(), tip.message()), (two, one, Ok("ole")));
}

#[test]
fn a_file_is_never_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let git_dir = folder.path().join("a.git");
    record_files(&git_dir, &changes(&[("a.md", Some("x"))]), "x").unwrap();
    assert!(record_files(&git_dir, &changes(&[("a.md/b.md", Some("x"))]), "x").is_err());
    assert!(record_files(&git_dir, &changes(&[("../b.md", Some("x"))]), "x").is_err());
}
