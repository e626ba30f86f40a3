//! Files that changed since an agent loaded them, so that it reads them again instead of acting on what they were.
//!
//! It must not know how files are found, or when an agent loaded them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::time::Timestamp;
use crate::warroom::agent_activity::FileChange;
use crate::warroom::claim::ClaimPath;

/// The most files of a run of which it is known when it loaded them: the last ones.
pub const MAX_LOADED: usize = 500;
/// The most files that an answer names.
pub const MAX_NAMED: usize = 20;

/// A file and its last change.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
pub struct ChangedFile {
    /// Relative to the root of the repository.
    pub path: String,
    pub modified_at: Timestamp,
}

impl FileChange {
    /// The newest of the files that a path stands for.
    pub fn newest(path: ClaimPath, files: &[ChangedFile]) -> Self {
        let newest = files.iter().max_by_key(|file| file.modified_at);
        let file = newest.map(|file| file.path.clone()).filter(|file| file != path.as_str());
        Self { path, file, modified_at: newest.map(|file| file.modified_at) }
    }
}

/// A file that an agent read or wrote, so that it knows what is in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadedFile {
    /// Relative to the root of its checkout.
    pub path: String,
    pub at: Timestamp,
}

/// The files that changed since an agent loaded them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Freshness {
    pub agent: String,
    /// When it last loaded files of which nothing else is known. None if nothing is known of any.
    pub loaded_at: Option<Timestamp>,
    /// The files that changed last, newest first.
    pub changed: Vec<ChangedFile>,
    /// Files beyond those.
    pub further: u32,
}

impl Freshness {
    /// Compares files with the time when the agent loaded each, if that is known, and else with `loaded_at`.
    pub fn of(
        agent: String,
        loaded_at: Option<Timestamp>,
        loaded: &BTreeMap<String, Timestamp>,
        files: impl IntoIterator<Item = ChangedFile>,
    ) -> Self {
        // A file can be in several paths.
        let files: BTreeMap<String, Timestamp> = files.into_iter().map(|file| (file.path, file.modified_at)).collect();
        let files = files.into_iter().map(|(path, modified_at)| ChangedFile { path, modified_at });
        let since = |file: &ChangedFile| loaded.get(&file.path).copied().or(loaded_at);
        let mut changed: Vec<ChangedFile> = files.filter(|file| since(file).is_some_and(|at| file.modified_at > at)).collect();
        changed.sort_by(|one, other| other.modified_at.cmp(&one.modified_at).then_with(|| one.path.cmp(&other.path)));
        let further = u32::try_from(changed.len().saturating_sub(MAX_NAMED)).unwrap_or(u32::MAX);
        changed.truncate(MAX_NAMED);
        Self { agent, loaded_at, changed, further }
    }

    /// How many files changed.
    pub fn count(&self) -> u32 {
        u32::try_from(self.changed.len()).unwrap_or(u32::MAX).saturating_add(self.further)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, minutes: i64) -> ChangedFile {
        ChangedFile { path: path.to_owned(), modified_at: Timestamp::from_milliseconds(minutes * 60_000) }
    }

    #[test]
    fn only_files_that_changed_later_are_listed_newest_first() {
        let (at, nothing) = (Some(Timestamp::from_milliseconds(5 * 60_000)), BTreeMap::new());
        let fresh = Freshness::of("ole".to_owned(), at, &nothing, [file("a", 4), file("b", 6), file("c", 5), file("d", 9), file("b", 6)]);
        assert_eq!(fresh.changed, [file("d", 9), file("b", 6)]);
        assert_eq!(fresh.count(), 2);
        assert_eq!(Freshness::of("ole".to_owned(), None, &nothing, [file("a", 4)]).count(), 0);
        let many = Freshness::of("ole".to_owned(), at, &nothing, (0..25).map(|number| file(&number.to_string(), 6)));
        assert_eq!((many.changed.len(), many.further, many.count()), (MAX_NAMED, 5, 25));
    }

    #[test]
    fn file_that_was_read_later_counts_since_then() {
        let start = Some(Timestamp::from_milliseconds(5 * 60_000));
        let read = ["a", "b"].map(|path| (path.to_owned(), Timestamp::from_milliseconds(8 * 60_000))).into();
        let files = || [file("a", 7), file("b", 9), file("c", 7), file("d", 4)];
        assert_eq!(Freshness::of("ole".to_owned(), start, &read, files()).changed, [file("b", 9), file("c", 7)]);
        assert_eq!(Freshness::of("ole".to_owned(), None, &read, files()).changed, [file("b", 9)], "nothing is known of the others");
    }

    #[test]
    fn newest_file_of_a_path_is_named_unless_it_is_the_path() {
        let path = |text: &str| text.parse::<ClaimPath>().unwrap();
        let folder = FileChange::newest(path("src/"), &[file("src/a", 1), file("src/b", 2)]);
        assert_eq!((folder.file.as_deref(), folder.modified_at), (Some("src/b"), Some(file("", 2).modified_at)));
        let one = FileChange::newest(path("src/a"), &[file("src/a", 1)]);
        assert_eq!((one.file, one.modified_at), (None, Some(file("", 1).modified_at)));
        assert_eq!(FileChange::newest(path("gone"), &[]).modified_at, None);
    }
}
