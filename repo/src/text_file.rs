//! Reads one text file of a checkout for an agent that names it.
//!
//! Must not read anything else: neither outside of the checkouts, nor git's own folder, nor through a link that an agent replaces meanwhile.

use std::path::Path;

use crate::error::RepoError;
use crate::handle::Repository;
use crate::snapshot::read_beneath;

/// The kind of a regular file in git's modes.
const REGULAR: u32 = 0o100_000;

/// A text file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextFile {
    /// Relative to the root of its checkout.
    pub path: String,
    pub content: String,
}

impl Repository {
    /// Reads a text file of at most `most` bytes. A relative path begins at the root of `checkout`; an absolute one may lie in any checkout of the
    /// repository. None if there is no such file.
    ///
    /// # Errors
    /// When the checkouts of the repository cannot be listed.
    pub fn text_file(&self, checkout: &Path, given: &str, most: u64) -> Result<Option<TextFile>, RepoError> {
        let Some((root, inside)) = self.locate_literal(checkout, given)? else { return Ok(None) };
        if inside.components().any(|name| name.as_os_str().eq_ignore_ascii_case(".git")) {
            return Ok(None);
        }
        let text = read_beneath(&root, &inside, most).ok().filter(|(_, mode)| mode & 0o170_000 == REGULAR);
        let content = text.and_then(|(bytes, _)| String::from_utf8(bytes).ok());
        Ok(content.zip(inside.to_str()).map(|(content, path)| TextFile { path: path.to_owned(), content }))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use crate::testing::TestRepository;

    #[test]
    fn only_text_files_of_a_checkout_are_read() {
        let sample = TestRepository::new();
        sample.write("notes/journey.md", "# Tried");
        sample.write("long.md", &"x".repeat(101));
        std::fs::write(sample.top().join("image.md"), [0xff, 0xfe]).unwrap();
        let secret = sample.beside("secret.md");
        std::fs::write(&secret, "secret").unwrap();
        symlink(&secret, sample.top().join("link.md")).unwrap();
        symlink("notes", sample.top().join("alias")).unwrap();
        let repository = sample.repository();
        let read = |given: &str| repository.text_file(sample.top(), given, 100).unwrap().map(|file| (file.path, file.content));
        let journey = Some(("notes/journey.md".to_owned(), "# Tried".to_owned()));
        let absolute = sample.top().join("notes/journey.md");
        for same in ["notes/journey.md", "./notes//journey.md", "notes/../notes/journey.md", "alias/journey.md", absolute.to_str().unwrap()] {
            assert_eq!(read(same), journey, "{same}");
        }
        for refused in [
            "",
            ".",
            "notes",
            "absent.md",
            "long.md",
            "image.md",
            "link.md",
            "../secret.md",
            secret.to_str().unwrap(),
            "/etc/passwd",
            ".git/config",
            ".GIT/config",
            "notes/*.md",
            "a\0b",
        ] {
            assert_eq!(read(refused), None, "{refused}");
        }
    }
}
