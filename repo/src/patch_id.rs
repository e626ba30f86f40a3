//! Identifies the changes between two commits by their content, so that the same changes in other commits are recognized.
//!
//! Unlike `git patch-id`, white space and the content of binary files count.

use git2::{DiffOptions, ObjectType, Oid, Patch};

use crate::diff::DiffLimits;
use crate::error::{Attempt, RepoError};
use crate::handle::find_commit;

/// Returns an id of the changes from `start`, or from nothing, to `head`. It does not depend on commits, on line numbers, or on files that
/// the changes leave alone.
pub(crate) fn patch_id(handle: &git2::Repository, start: Option<Oid>, head: Oid) -> Result<Oid, RepoError> {
    let identifying = || format!("identify the changes of {head}");
    let tree = |id: Oid| find_commit(handle, id)?.tree().attempting(identifying);
    let (old, new) = (start.map(tree).transpose()?, tree(head)?);
    let mut options = DiffOptions::new();
    options.include_typechange(true).max_size(i64::from(DiffLimits::default().file_size));
    let changes = handle.diff_tree_to_tree(old.as_ref(), Some(&new), Some(&mut options)).attempting(identifying)?;
    let mut files = Vec::new();
    for index in 0..changes.deltas().len() {
        let Some(delta) = changes.get_delta(index) else { continue };
        for file in [delta.old_file(), delta.new_file()] {
            files.extend_from_slice(file.path_bytes().unwrap_or_default());
            files.extend_from_slice(format!("\0{:?}\0", file.mode()).as_bytes());
        }
        let patch = Patch::from_diff(&changes, index).attempting(identifying)?;
        let content = match patch.filter(|patch| !patch.delta().flags().is_binary()) {
            Some(patch) => hash(&lines(&patch).attempting(identifying)?),
            // A binary file, a large one, or a change of the mode only.
            None => Ok(delta.new_file().id()),
        };
        files.extend_from_slice(content.attempting(identifying)?.as_bytes());
    }
    hash(&files).attempting(identifying)
}

/// The changed lines of a file with those around them, without line numbers.
fn lines(patch: &Patch<'_>) -> Result<Vec<u8>, git2::Error> {
    let mut content = Vec::new();
    for hunk in 0..patch.num_hunks() {
        for line in 0..patch.num_lines_in_hunk(hunk)? {
            let line = patch.line_in_hunk(hunk, line)?;
            content.extend_from_slice(line.origin().to_string().as_bytes());
            content.extend_from_slice(line.content());
        }
    }
    Ok(content)
}

fn hash(content: &[u8]) -> Result<Oid, git2::Error> {
    Oid::hash_object(ObjectType::Blob, content)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handle::oid;
    use crate::testing::TestRepository;

    const BRANCH: &str = "vr/TASK-001/work";

    /// The id of the change that `files` make on a new branch from `start`.
    fn id(sample: &TestRepository, start: &str, files: &[(&str, Option<&str>)], message: &str) -> Oid {
        let handle = sample.repository().handle().unwrap();
        let start = oid(start).unwrap();
        handle.branch(BRANCH, &handle.find_commit(start).unwrap(), true).unwrap();
        let head = sample.commit_on(BRANCH, files, message);
        patch_id(&handle, Some(start), oid(&head).unwrap()).unwrap()
    }

    #[test]
    fn same_changes_have_same_id_in_other_commits() {
        let sample = TestRepository::new();
        sample.write("list.txt", "one\ntwo\nthree\nfour\nfive\n");
        let start = sample.commit_all("A list");
        let changed = "one\ntwo\nthree\nfour\nFIVE\n";
        let first = id(&sample, &start, &[("list.txt", Some(changed))], "Change it");
        assert_eq!(id(&sample, &start, &[("list.txt", Some(changed))], "Another message"), first);
        let moved = sample.commit_on("main", &[("list.txt", Some("zero\none\ntwo\nthree\nfour\nfive\n")), ("new.txt", Some("x"))], "main went on");
        assert_eq!(id(&sample, &moved, &[("list.txt", Some("zero\none\ntwo\nthree\nfour\nFIVE\n"))], "Change it"), first, "line numbers");
    }

    #[test]
    fn other_changes_have_another_id() {
        let sample = TestRepository::new();
        sample.write("list.txt", "one\n");
        let start = sample.commit_all("A list");
        let changes: [&[(&str, Option<&str>)]; 8] = [
            &[],
            &[("list.txt", Some("two\n"))],
            &[("list.txt", Some("\ttwo\n"))],
            &[("list.txt", Some("two"))],
            &[("list.txt", None)],
            &[("other.txt", Some("two\n"))],
            &[("image", Some("\0one"))],
            &[("image", Some("\0two"))],
        ];
        let ids: std::collections::BTreeSet<Oid> = changes.iter().map(|files| id(&sample, &start, files, "Change")).collect();
        assert_eq!(ids.len(), changes.len());
    }
}
