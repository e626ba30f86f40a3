//! Lists the files of a commit. Must not look at a checkout.

use git2::{Oid, Tree};

use crate::error::{Attempt, RepoError};
use crate::handle::find_commit;

/// One file, link or submodule of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TrackedFile {
    /// From the top, with `/`.
    pub(crate) path: Vec<u8>,
    pub(crate) id: Oid,
    pub(crate) mode: u32,
}

/// Lists the files of `commit` in the order of their paths, which is that of an index.
pub(crate) fn tracked_files(handle: &git2::Repository, commit: Oid) -> Result<Vec<TrackedFile>, RepoError> {
    let listing = || format!("list the files of {commit}");
    let tree = find_commit(handle, commit)?.tree().attempting(listing)?;
    let mut files = Vec::new();
    collect(handle, &tree, &mut Vec::new(), &mut files).attempting(listing)?;
    Ok(files)
}

fn collect(handle: &git2::Repository, tree: &Tree<'_>, folder: &mut Vec<u8>, files: &mut Vec<TrackedFile>) -> Result<(), git2::Error> {
    for entry in tree {
        let length = folder.len();
        folder.extend(entry.name_bytes());
        if entry.kind() == Some(git2::ObjectType::Tree) {
            folder.push(b'/');
            collect(handle, &handle.find_tree(entry.id())?, folder, files)?;
        } else {
            files.push(TrackedFile { path: folder.clone(), id: entry.id(), mode: entry.filemode().cast_unsigned() });
        }
        folder.truncate(length);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handle::{oid, tree_index};
    use crate::testing::TestRepository;

    #[test]
    fn files_are_listed_as_in_an_index() {
        let sample = TestRepository::new();
        for path in ["a/b", "a.b", "a-b", "a/c/d", "a0", "ä/ö"] {
            sample.write(path, path);
        }
        #[cfg(unix)]
        std::os::unix::fs::symlink("a/b", sample.top().join("link")).unwrap();
        let head = oid(&sample.commit_all("files")).unwrap();
        let handle = sample.repository().handle().unwrap();
        let index = tree_index(&handle, head).unwrap();
        let expected: Vec<_> = index.iter().map(|entry| TrackedFile { path: entry.path, id: entry.id, mode: entry.mode }).collect();
        assert_eq!(tracked_files(&handle, head).unwrap(), expected);
        assert_eq!(expected.len(), 8);
    }
}
