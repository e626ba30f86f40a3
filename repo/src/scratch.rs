//! Moves a checkout that is used again and again to another commit. Files that git ignores stay, so what was built there stays warm.
//!
//! A program may have written anything to the checkout and its index, so its index is not believed, only the stat cache of the board.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use domain::runs::evidence::Sha;
use git2::build::CheckoutBuilder;
use git2::{Delta, IndexEntry};

use crate::error::{Attempt, RepoError};
use crate::filter::Filters;
use crate::handle::{Repository, find_commit, oid, tree_index};
use crate::stat_cache::StatCache;
use crate::workdir::Untracked;

impl Repository {
    /// Moves the temporary checkout `name` at `path` to exactly `commit`, and creates it if it does not exist. Afterwards it holds the files
    /// of the commit, and ignored ones. Files that are the same in both commits are not written.
    ///
    /// # Errors
    /// Same as [`Repository::add_detached`].
    pub fn move_detached(&self, name: &str, path: &Path, commit: &Sha) -> Result<(), RepoError> {
        self.add_detached(name, path, commit)?;
        let moving = || format!("check out {commit} to {}", path.display());
        let id = oid(commit)?;
        let admin = self.admin_dir(name)?;
        // A file in the place of a pipe, or of another thing that blocks its reader.
        fs::remove_file(admin.join("index")).attempting(moving)?;
        let (mut changed, mut written) = (CheckoutBuilder::new(), BTreeSet::new());
        changed.force().disable_pathspec_match(true).update_index(false);
        for change in self.changes(path, id, Untracked::Files, &StatCache::of_checkout(path))? {
            if change.status != Delta::Deleted {
                remove(&path.join(&change.path)).attempting(moving)?;
            }
            if change.status != Delta::Untracked {
                changed.path(&change.path);
                written.insert(change.path);
            }
        }
        let handle = self.checkout_handle(&admin, path)?;
        let tree = find_commit(&handle, id)?.tree().attempting(moving)?;
        if !written.is_empty() {
            handle.checkout_tree(tree.as_object(), Some(&mut changed)).attempting(moving)?;
            let attributes = self.handle_with_tree(id)?;
            let files: Vec<IndexEntry> = tree_index(&attributes, id)?.iter().collect();
            let filters = Filters::new(self, &attributes);
            filters.smudge(path, &filters.pick(&files, |path| written.contains(path))?)?;
        }
        // Last, because it marks a complete checkout.
        let mut index = handle.index().attempting(moving)?;
        index.read_tree(&tree).and_then(|()| index.write()).attempting(moving)?;
        self.set_detached_head(&admin, commit)
    }
}

/// Removes a file, a link or a folder with everything in it. Follows no link.
fn remove(path: &Path) -> io::Result<()> {
    match path.symlink_metadata() {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(()),
        Err(error) => Err(error),
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;
    use std::path::PathBuf;

    use super::*;
    use crate::testing::TestRepository;

    struct Scratch {
        sample: TestRepository,
        path: PathBuf,
    }

    impl Scratch {
        fn new() -> Self {
            let sample = TestRepository::new();
            let path = sample.beside("scratch");
            Self { sample, path }
        }

        fn commit(&self, files: &[(&str, Option<&str>)]) -> Sha {
            self.sample.commit_on("main", files, "change")
        }

        fn move_to(&self, commit: &Sha) {
            self.sample.repository().move_detached("scratch", &self.path, commit).unwrap();
            assert_eq!(self.sample.repository().worktree_head("scratch").unwrap().as_ref(), Some(commit));
        }

        fn read(&self, path: &str) -> Option<String> {
            fs::read_to_string(self.path.join(path)).ok()
        }

        fn written(&self, path: &str) -> (u64, i64, i64) {
            let found = fs::metadata(self.path.join(path)).unwrap();
            (found.ino(), found.mtime(), found.mtime_nsec())
        }

        fn is_clean(&self, commit: &Sha) -> bool {
            self.sample.repository().changes(&self.path, oid(commit).unwrap(), Untracked::Files, &StatCache::default()).unwrap().is_empty()
        }
    }

    #[test]
    fn files_of_the_commit_are_there_and_ignored_ones_stay() {
        let scratch = Scratch::new();
        let first = scratch.commit(&[(".gitignore", Some("target/\n")), ("a", Some("1")), ("same", Some("s")), ("dir/old", Some("o"))]);
        scratch.move_to(&first);
        fs::create_dir_all(scratch.path.join("target")).unwrap();
        fs::write(scratch.path.join("target/built"), "warm").unwrap();
        fs::write(scratch.path.join("left"), "by a check").unwrap();
        let same = scratch.written("same");
        scratch.commit(&[("a", Some("2")), ("dir/old", None)]);
        let second = scratch.commit(&[("dir", Some("now a file"))]);
        scratch.move_to(&second);
        assert_eq!((scratch.read("a").as_deref(), scratch.read("dir").as_deref()), (Some("2"), Some("now a file")));
        assert_eq!((scratch.read("target/built").as_deref(), scratch.read("left")), (Some("warm"), None));
        assert_eq!(scratch.written("same"), same, "a file that did not change is not written, so its build stays fresh");
        scratch.move_to(&first);
        assert_eq!((scratch.read("a").as_deref(), scratch.read("dir/old").as_deref()), (Some("1"), Some("o")));
        assert!(scratch.is_clean(&first));
    }

    #[test]
    fn hidden_changes_of_a_program_are_undone() {
        let scratch = Scratch::new();
        let commit = scratch.commit(&[("a", Some("1")), ("b", Some("1")), ("dir/c", Some("1"))]);
        scratch.move_to(&commit);
        let admin = scratch.sample.git_dir().join("worktrees/scratch");
        let time = fs::metadata(scratch.path.join("a")).unwrap().modified().unwrap();
        fs::write(scratch.path.join("a"), "2").unwrap();
        fs::File::options().write(true).open(scratch.path.join("a")).unwrap().set_modified(time).unwrap();
        fs::remove_file(scratch.path.join("b")).unwrap();
        fs::remove_dir_all(scratch.path.join("dir")).unwrap();
        let outside = scratch.sample.beside("outside");
        fs::create_dir_all(&outside).unwrap();
        std::os::unix::fs::symlink(&outside, scratch.path.join("dir")).unwrap();
        fs::write(admin.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        scratch.move_to(&commit);
        assert_eq!(["a", "b", "dir/c"].map(|path| scratch.read(path).unwrap()), ["1", "1", "1"]);
        assert!(fs::read_dir(&outside).unwrap().next().is_none(), "nothing is written through a link");
        assert!(scratch.is_clean(&commit));
    }
}
