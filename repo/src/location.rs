//! Finds the one name of a file in its repository, whichever checkout, alias or symbolic link leads to it. Must not open the file.

use std::path::{Component, Path, PathBuf};

use crate::error::RepoError;
use crate::handle::Repository;

/// Characters that make a name a pattern.
const WILDCARDS: [char; 2] = ['*', '?'];

/// A file that was looked for in the checkouts of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FoundFile {
    /// The name leads out of the repository.
    Outside,
    /// No such file exists, or it is a folder.
    Missing,
    /// `path` is relative to the root of the repository.
    File { path: String, bytes: u64 },
}

impl Repository {
    /// Finds a file by any of its names. A relative one begins at `checkout`, an absolute one may lie in any checkout of the repository.
    ///
    /// # Errors
    /// When the checkouts cannot be listed.
    pub fn find_file(&self, checkout: &Path, given: &str) -> Result<FoundFile, RepoError> {
        let Some((root, inside)) = self.locate_literal(checkout, given)? else { return Ok(FoundFile::Outside) };
        let found = root.join(&inside).symlink_metadata().ok().filter(std::fs::Metadata::is_file);
        Ok(match found.zip(inside.to_str()) {
            Some((file, path)) => FoundFile::File { path: path.to_owned(), bytes: file.len() },
            None => FoundFile::Missing,
        })
    }

    /// Returns the path of a file relative to the root of the repository. `given` is relative to `checkout`, or an absolute path in any checkout
    /// of this repository. The file may be missing. Symbolic links are followed up to the first name with a wildcard. `None` if it is outside.
    ///
    /// # Errors
    /// When the checkouts cannot be listed.
    pub fn locate(&self, checkout: &Path, given: &str) -> Result<Option<String>, RepoError> {
        let (literal, pattern) = split_pattern(given);
        let inside = self.locate_literal(checkout, literal)?.map(|(_, inside)| inside);
        let text = inside.as_deref().and_then(Path::to_str).map(|inside| match (inside, pattern) {
            (inside, "") => inside.to_owned(),
            ("", pattern) => pattern.to_owned(),
            (inside, pattern) => format!("{inside}/{pattern}"),
        });
        Ok(text)
    }

    /// Returns the checkout that a path without wildcards lies in, and the path inside of it.
    pub(crate) fn locate_literal(&self, checkout: &Path, given: &str) -> Result<Option<(PathBuf, PathBuf)>, RepoError> {
        let resolved = resolve(&checkout.join(given));
        let roots = self.checkouts()?.into_iter().map(|known| known.workdir).chain([checkout.to_owned()]);
        let roots = roots.filter_map(|root| root.canonicalize().ok());
        let inside = roots.filter_map(|root| Some((root.clone(), resolved.strip_prefix(&root).ok()?.to_owned())));
        // A checkout can lie in another one.
        Ok(inside.min_by_key(|(_, inside)| inside.components().count()))
    }
}

/// Splits a path before the first name with a wildcard, or before the slash at its end, which says that it is a folder.
fn split_pattern(given: &str) -> (&str, &str) {
    let names = given.split_inclusive('/');
    let literal: usize = names.take_while(|name| !name.contains(WILDCARDS)).map(str::len).sum();
    let (literal, pattern) = given.split_at(literal);
    match literal.strip_suffix('/') {
        Some(folder) if pattern.is_empty() && !folder.is_empty() => (folder, "**"),
        _ => (literal, pattern),
    }
}

/// Follows the symbolic links of the existing part of a path. Missing names are added without detours.
fn resolve(path: &Path) -> PathBuf {
    let mut existing = path;
    let mut missing = Vec::new();
    let mut resolved = loop {
        if let Ok(found) = existing.canonicalize() {
            break found;
        }
        missing.extend(existing.components().next_back());
        match existing.parent() {
            Some(parent) => existing = parent,
            None => break PathBuf::new(),
        }
    };
    for part in missing.into_iter().rev() {
        match part {
            Component::ParentDir => drop(resolved.pop()),
            Component::CurDir => {}
            Component::Normal(_) | Component::RootDir | Component::Prefix(_) => resolved.push(part),
        }
    }
    resolved
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::testing::TestRepository;

    #[test]
    fn every_name_of_a_file_leads_to_its_path() {
        let sample = TestRepository::new();
        sample.write("src/lib.rs", "one");
        let tip = sample.commit_all("add a file");
        let repository = sample.repository();
        let worktree = sample.beside("worktree");
        repository.add_worktree("one", &worktree, "vr/one", &tip).unwrap();
        symlink("lib.rs", worktree.join("src/alias.rs")).unwrap();
        symlink(worktree.join("src"), sample.root().join("link")).unwrap();
        let locate = |given: &str| repository.locate(&worktree, given).unwrap();
        let absolute = |path: &Path| path.to_string_lossy().into_owned();
        let names = [
            "src/lib.rs".to_owned(),
            "./src/../src//lib.rs".to_owned(),
            "src/alias.rs".to_owned(),
            absolute(&worktree.join("src/lib.rs")),
            absolute(&sample.top().join("src/lib.rs")),
            absolute(&sample.root().join("link/lib.rs")),
        ];
        for name in names {
            assert_eq!(locate(&name).as_deref(), Some("src/lib.rs"), "{name}");
        }
        let new = [("src/new/file.rs", "src/new/file.rs"), ("src/new/../file.rs", "src/file.rs"), ("src/", "src/**"), ("link/*.rs", "link/*.rs")];
        for (given, wanted) in new.into_iter().chain([("src/*.rs", "src/*.rs"), ("**/*.rs", "**/*.rs"), (".", "")]) {
            assert_eq!(locate(given).as_deref(), Some(wanted), "{given}");
        }
    }

    #[test]
    fn file_is_found_with_its_size_if_it_exists() {
        let sample = TestRepository::new();
        sample.write("notes/parser.md", "four");
        let tip = sample.commit_all("add notes");
        let worktree = sample.beside("worktree");
        sample.repository().add_worktree("one", &worktree, "vr/one", &tip).unwrap();
        std::fs::write(worktree.join("new.md"), "12").unwrap();
        symlink("/etc/passwd", worktree.join("alias.md")).unwrap();
        let find = |given: &str| sample.repository().find_file(&worktree, given).unwrap();
        let file = |path: &str, bytes| FoundFile::File { path: path.to_owned(), bytes };
        assert_eq!(find("./notes/parser.md"), file("notes/parser.md", 4));
        assert_eq!(find("new.md"), file("new.md", 2));
        std::fs::write(sample.top().join("main.md"), "123").unwrap();
        assert_eq!(find(&sample.top().join("main.md").to_string_lossy()), file("main.md", 3));
        for missing in ["main.md", "notes", "notes/", "gone.md", "*.md", ""] {
            assert_eq!(find(missing), FoundFile::Missing, "{missing}");
        }
        for outside in ["alias.md", "/etc/passwd", "../../etc/passwd"] {
            assert_eq!(find(outside), FoundFile::Outside, "{outside}");
        }
    }

    #[test]
    fn files_of_others_are_outside() {
        let (sample, other) = (TestRepository::new(), TestRepository::new());
        symlink("/etc", sample.top().join("etc")).unwrap();
        let locate = |given: &str| sample.repository().locate(sample.top(), given).unwrap();
        let foreign = other.top().join("README.md");
        for given in ["../../etc/passwd", "/etc/passwd", "etc/passwd", "../other", &foreign.to_string_lossy()] {
            assert_eq!(locate(given), None, "{given}");
        }
    }
}
