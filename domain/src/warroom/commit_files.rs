//! The files of a commit with their sizes, and the folders that they are in. Must not read a repository, or know zones.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::runs::evidence::Sha;

/// A file of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitFile {
    /// Relative to the root of the repository.
    pub path: String,
    pub bytes: u64,
}

/// The files at the tip of a branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitFiles {
    pub branch: String,
    pub commit: Sha,
    /// Shared, because callers often want the same tree.
    pub files: Arc<[CommitFile]>,
}

/// A number of files and their size.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Amount {
    pub(super) files: u32,
    pub(super) bytes: u64,
}

impl Amount {
    pub(super) fn add(&mut self, bytes: u64) {
        self.files = self.files.saturating_add(1);
        self.bytes = self.bytes.saturating_add(bytes);
    }
}

/// A folder with what is in it.
#[derive(Debug, Default)]
pub(super) struct Folder<'f> {
    /// The files in the folder itself.
    pub(super) own: Amount,
    /// The files in it and below.
    pub(super) all: Amount,
    /// The paths of the folders in it.
    pub(super) folders: Vec<&'f str>,
}

/// Returns the folders of files by path. That of the root is empty.
pub(super) fn folders<'f>(files: impl IntoIterator<Item = &'f CommitFile>) -> BTreeMap<&'f str, Folder<'f>> {
    let mut folders: BTreeMap<&str, Folder<'_>> = BTreeMap::from([("", Folder::default())]);
    for file in files {
        let parent = parent_of(&file.path);
        folders.entry(parent).or_default().own.add(file.bytes);
        let mut folder = parent;
        loop {
            folders.entry(folder).or_default().all.add(file.bytes);
            if folder.is_empty() {
                break;
            }
            folder = parent_of(folder);
        }
    }
    let paths: Vec<&str> = folders.keys().copied().filter(|path| !path.is_empty()).collect();
    for path in paths {
        folders.entry(parent_of(path)).or_default().folders.push(path);
    }
    folders
}

/// Returns the folder of a file or folder. That of the root is empty.
pub(super) fn parent_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Names the files in a folder itself: `src/*`.
pub(super) fn files_in(folder: &str) -> String {
    if folder.is_empty() { "*".to_owned() } else { format!("{folder}/*") }
}

/// Names all files of a folder: `src/`.
pub(super) fn all_below(folder: &str) -> String {
    format!("{folder}/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_count_their_own_files_and_those_below() {
        let files = [("a.rs", 1), ("src/b.rs", 2), ("src/deep/c.rs", 4), ("src/deep/er/d.rs", 8)];
        let files: Vec<CommitFile> = files.iter().map(|(path, bytes)| CommitFile { path: (*path).to_owned(), bytes: *bytes }).collect();
        let folders = folders(&files);
        let counted: Vec<(&str, u32, u64, u64, &[&str])> =
            folders.iter().map(|(path, folder)| (*path, folder.all.files, folder.own.bytes, folder.all.bytes, folder.folders.as_slice())).collect();
        assert_eq!(
            counted,
            [("", 4, 1, 15, &["src"][..]), ("src", 3, 2, 14, &["src/deep"]), ("src/deep", 2, 4, 12, &["src/deep/er"]), ("src/deep/er", 1, 8, 8, &[])]
        );
        assert_eq!((files_in(""), files_in("src"), all_below("src")), ("*".to_owned(), "src/*".to_owned(), "src/".to_owned()));
    }
}
