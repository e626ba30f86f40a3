//! When the files of a checkout were last changed, by the paths that agents claim.
//!
//! Must not read a file, leave the checkout, or follow a link in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use domain::time::Timestamp;
use domain::warroom::claim::ClaimPath;
use domain::warroom::freshness::ChangedFile;

use crate::error::RepoError;
use crate::handle::Repository;

/// The most entries of folders that one call looks at.
const MAX_ENTRIES: usize = 5_000;

impl Repository {
    /// Returns, for each path, the files of `checkout` that it stands for. Missing files are left out. It looks at 5,000 entries of folders at
    /// most, so that folders with many files are known in part.
    ///
    /// # Errors
    /// When the checkouts of the repository cannot be listed.
    pub fn file_times(&self, checkout: &Path, paths: &[ClaimPath]) -> Result<Vec<Vec<ChangedFile>>, RepoError> {
        let mut entries = MAX_ENTRIES;
        let of_path = |path| match self.beginning_of(checkout, path)? {
            Some(root) => Ok(matching(&root, path, &mut entries)),
            None => Ok(Vec::new()),
        };
        paths.iter().map(of_path).collect()
    }

    /// Returns the checkout's root and the part of a path before its first wildcard. None if that leads out of the checkout.
    fn beginning_of(&self, checkout: &Path, path: &ClaimPath) -> Result<Option<Beginning>, RepoError> {
        let literal: Vec<&str> = path.as_str().split('/').take_while(|name| !name.contains(['*', '?'])).collect();
        let found = self.locate_literal(checkout, &literal.join("/"))?;
        let own = checkout.canonicalize().ok();
        Ok(found.filter(|(root, _)| own.as_ref() == Some(root)).map(|(root, inside)| Beginning { root, inside }))
    }
}

struct Beginning {
    root: PathBuf,
    /// Relative to the root, without links.
    inside: PathBuf,
}

/// Walks through the folders below the beginning of a path. `entries` is how many more may be looked at.
fn matching(beginning: &Beginning, path: &ClaimPath, entries: &mut usize) -> Vec<ChangedFile> {
    let mut files = Vec::new();
    let mut waiting = vec![beginning.inside.clone()];
    while let Some(inside) = waiting.pop() {
        let Some(left) = entries.checked_sub(1) else { break };
        *entries = left;
        let place = beginning.root.join(&inside);
        let Ok(known) = place.symlink_metadata() else { continue };
        if known.is_dir() {
            let inner = fs::read_dir(&place).into_iter().flatten().flatten().take(left);
            waiting.extend(inner.filter(|entry| !entry.file_name().eq_ignore_ascii_case(".git")).map(|entry| inside.join(entry.file_name())));
        } else if let Some(file) = changed_file(&inside, &known).filter(|file| is_meant(file, beginning, path)) {
            files.push(file);
        }
    }
    files
}

/// Whether a path stands for a file: the file itself, also under an alias, one in the folder, or one that matches the pattern.
fn is_meant(file: &ChangedFile, beginning: &Beginning, path: &ClaimPath) -> bool {
    !path.is_glob() || Some(file.path.as_str()) == beginning.inside.to_str() || file.path.parse::<ClaimPath>().is_ok_and(|own| path.overlaps(&own))
}

fn changed_file(inside: &Path, known: &fs::Metadata) -> Option<ChangedFile> {
    Some(ChangedFile { path: inside.to_str()?.to_owned(), modified_at: modified_at(known)? })
}

/// When a file was last changed, if its file system says so.
pub(crate) fn modified_at(known: &fs::Metadata) -> Option<Timestamp> {
    let since_epoch = known.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(Timestamp::from_milliseconds(i64::try_from(since_epoch.as_millis()).ok()?))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use domain::warroom::claim::ClaimPath;

    use crate::testing::TestRepository;

    #[test]
    fn files_behind_a_path_are_found_and_nothing_outside() {
        let sample = TestRepository::new();
        for path in ["src/a.rs", "src/b.txt", "src/deep/c.rs", "notes.md"] {
            sample.write(path, "x");
        }
        let outside = sample.beside("outside");
        std::fs::create_dir(&outside).unwrap();
        std::fs::write(outside.join("secret.rs"), "x").unwrap();
        symlink(&outside, sample.top().join("src/link")).unwrap();
        symlink(&outside, sample.top().join("away")).unwrap();
        let repository = sample.repository();
        let found = |path: &str| {
            let path: ClaimPath = path.parse().unwrap();
            let times = repository.file_times(sample.top(), &[path]).unwrap().remove(0);
            let mut names: Vec<String> = times.into_iter().map(|file| file.path).collect();
            names.sort();
            names
        };
        assert_eq!(found("notes.md"), ["notes.md"]);
        assert_eq!(found("src/"), ["src/a.rs", "src/b.txt", "src/deep/c.rs", "src/link"], "the link itself, and nothing behind it");
        assert_eq!(found("src"), found("src/"));
        assert_eq!(found("src/*.rs"), ["src/a.rs"]);
        assert_eq!(found("src/**/*.rs"), ["src/a.rs", "src/deep/c.rs"]);
        for nothing in ["missing.rs", "away/secret.rs", "away/", "src/link/secret.rs"] {
            assert!(found(nothing).is_empty(), "{nothing}");
        }
    }

    #[test]
    fn time_of_a_file_is_that_of_its_last_change() {
        let sample = TestRepository::new();
        sample.write("a.rs", "x");
        let file = std::fs::File::options().write(true).open(sample.top().join("a.rs")).unwrap();
        file.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(90)).unwrap();
        let times = sample.repository().file_times(sample.top(), &["a.rs".parse().unwrap()]).unwrap();
        assert_eq!(times[0][0].modified_at.milliseconds(), 90_000);
    }
}
