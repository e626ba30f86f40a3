//! The size of a repository: how many lines of text a commit has, counted as far as it matters.
//!
//! It must not run anything that a repository names.

use domain::runs::evidence::Sha;
use git2::{FileMode, ObjectType, TreeWalkMode, TreeWalkResult};

use crate::error::{Attempt, RepoError};
use crate::handle::{Repository, find_commit, oid};

/// The largest file that is counted. Larger ones are data.
const MAX_FILE_BYTES: usize = 1 << 20;
/// The ends of the names of files that programs wrote.
const GENERATED: [&str; 6] = [".lock", "-lock.json", "-lock.yaml", ".min.js", ".map", ".svg"];

impl Repository {
    /// Counts the lines of the text files of a commit, except generated ones, and stops at `most`.
    ///
    /// # Errors
    /// The commit is missing or cannot be read.
    pub fn count_lines(&self, commit: &Sha, most: u64) -> Result<u64, RepoError> {
        let handle = self.handle()?;
        let tree = find_commit(&handle, oid(commit)?)?.tree().attempting(|| format!("read the files of {commit}"))?;
        let objects = handle.odb().attempting(|| "count the lines of the repository".to_owned())?;
        let mut blobs = Vec::new();
        let walked = tree.walk(TreeWalkMode::PreOrder, |_, entry| {
            let name = String::from_utf8_lossy(entry.name_bytes()).to_lowercase();
            let is_file = entry.kind() == Some(ObjectType::Blob) && entry.filemode() != i32::from(FileMode::Link);
            if is_file && !GENERATED.iter().any(|end| name.ends_with(end)) {
                blobs.push(entry.id());
            }
            TreeWalkResult::Ok
        });
        walked.attempting(|| "list the files of the repository".to_owned())?;
        let mut lines = 0;
        for id in blobs {
            let attempted = || format!("read the file {id}");
            let (bytes, _) = objects.read_header(id).attempting(attempted)?;
            if bytes > MAX_FILE_BYTES {
                continue;
            }
            let blob = handle.find_blob(id).attempting(attempted)?;
            if !blob.is_binary() {
                lines += lines_of(blob.content());
            }
            if lines >= most {
                return Ok(most);
            }
        }
        Ok(lines)
    }
}

/// A last line without an end counts too.
fn lines_of(content: &[u8]) -> u64 {
    let ends = content.iter().filter(|byte| **byte == b'\n').count();
    let is_open = content.last().is_some_and(|last| *last != b'\n');
    u64::try_from(ends).unwrap_or(u64::MAX).saturating_add(u64::from(is_open))
}

#[cfg(test)]
mod tests {
    use crate::testing::TestRepository;

    #[test]
    fn text_that_people_wrote_is_counted_up_to_a_bound() {
        let sample = TestRepository::new();
        let before = sample.commit_all("begin");
        let repository = sample.repository();
        let other = repository.count_lines(&before, u64::MAX).unwrap();
        sample.write("src/lib.rs", "one\ntwo\nthree");
        sample.write("empty.txt", "");
        sample.write("Cargo.lock", "a\nb\n");
        sample.write("web/package-lock.json", "a\nb\n");
        sample.write("image.png", "a\0b\n\n\n");
        sample.write("data.txt", &"x\n".repeat(1 << 20));
        let commit = sample.commit_all("add files");
        assert_eq!(repository.count_lines(&commit, u64::MAX).unwrap() - other, 3);
        assert_eq!(repository.count_lines(&commit, 2).unwrap(), 2);
        assert!(repository.count_lines(&"0".repeat(40), 2).is_err());
    }
}
