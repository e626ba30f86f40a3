//! Reads the files and their stats from the bytes of an index of git, versions 2 to 4 (gitformat-index).
//!
//! Does not check the sum at its end: what a damaged index says fits no file. Must not read flags that hide changes.

use git2::Oid;

use crate::file_stat::FileStat;

/// One file of an index.
#[derive(Debug)]
pub(super) struct KnownFile {
    /// The place of its path in [`KnownFiles::paths`].
    path: std::ops::Range<usize>,
    pub(super) id: Oid,
    pub(super) stat: FileStat,
}

/// The files of an index, in the order of their paths.
#[derive(Debug, Default)]
pub(super) struct KnownFiles {
    paths: Vec<u8>,
    pub(super) files: Vec<KnownFile>,
}

impl KnownFiles {
    /// Returns `None` for what is not a whole index.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let mut rest = Bytes(bytes.strip_prefix(b"DIRC")?);
        let version = rest.number()?;
        if !(2..=4).contains(&version) {
            return None;
        }
        let mut known = Self::default();
        for _ in 0..rest.number()? {
            let whole = rest.0;
            let (changed, modified) = (rest.time()?, rest.time()?);
            let [device, inode, mode, user, group, size] =
                [rest.number()?, rest.number()?, rest.number()?, rest.number()?, rest.number()?, rest.number()?];
            let id = Oid::from_bytes(rest.take(20)?).ok()?;
            let flags = u16::from_be_bytes(rest.take(2)?.try_into().ok()?);
            if flags & 0x4000 != 0 {
                rest.take(2)?;
            }
            let start = known.paths.len();
            if version == 4 {
                let shared = known.files.last().map_or(0..0, |file| file.path.clone());
                let kept = shared.len().checked_sub(rest.variable_number()?)?;
                known.paths.extend_from_within(shared.start..shared.start + kept);
            }
            let length = rest.0.iter().position(|byte| *byte == 0)?;
            known.paths.extend_from_slice(rest.take(length)?);
            if version == 4 {
                rest.take(1)?;
            } else {
                // Zeros fill each entry up to a multiple of eight bytes, at least one.
                let used = whole.len() - rest.0.len();
                rest.take(8 - used % 8)?;
            }
            let stat = FileStat { mode, size, modified, changed, device, inode, owner: (user, group) };
            known.files.push(KnownFile { path: start..known.paths.len(), id, stat });
        }
        Some(known)
    }

    pub(super) fn path(&self, file: &KnownFile) -> &[u8] {
        &self.paths[file.path.clone()]
    }
}

/// The bytes that are not read yet.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<u32> {
        Some(u32::from_be_bytes(self.take(4)?.try_into().ok()?))
    }

    fn time(&mut self) -> Option<(i32, u32)> {
        Some((self.number()?.cast_signed(), self.number()?))
    }

    /// A number in groups of seven bits, the highest first, each above the lowest with one added.
    fn variable_number(&mut self) -> Option<usize> {
        let mut number = 0_usize;
        loop {
            let byte = *self.take(1)?.first()?;
            number = number.checked_mul(128)?.checked_add(usize::from(byte & 0x7f))?;
            if byte & 0x80 == 0 {
                return Some(number);
            }
            number = number.checked_add(1)?;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use git2::Index;

    use super::*;
    use crate::git_program::git;
    use crate::testing::TestRepository;

    /// The files as libgit2 reads them.
    fn expected(sample: &TestRepository) -> Vec<(Vec<u8>, Oid, FileStat)> {
        let index = Index::open(&sample.git_dir().join("index")).unwrap();
        index.iter().map(|entry| (entry.path.clone(), entry.id, FileStat::of_entry(&entry))).collect()
    }

    fn parsed(bytes: &[u8]) -> Option<Vec<(Vec<u8>, Oid, FileStat)>> {
        let known = KnownFiles::parse(bytes)?;
        Some(known.files.iter().map(|file| (known.path(file).to_vec(), file.id, file.stat)).collect())
    }

    #[test]
    fn every_version_is_read_as_libgit2_does() {
        for version in ["2", "3", "4"] {
            let sample = TestRepository::new();
            for length in 1..20 {
                sample.write(&format!("folder/{}", "x".repeat(length)), "x");
            }
            sample.write(&format!("{}/deep", "long".repeat(40)), "x");
            sample.write("z", "z");
            git(sample.top(), &["add", "-A"]);
            git(sample.top(), &["update-index", "--index-version", version]);
            git(sample.top(), &["update-index", "--skip-worktree", "z"]);
            let bytes = fs::read(sample.git_dir().join("index")).unwrap();
            assert_eq!(parsed(&bytes), Some(expected(&sample)), "version {version}");
            for length in 0..bytes.len() {
                // A part of an index is nothing, except for the extensions and the sum at its end.
                let part = parsed(&bytes[..length]);
                assert!(part.is_none() || part == Some(expected(&sample)), "{length} bytes");
            }
        }
    }

    #[test]
    fn bytes_that_are_not_an_index_are_refused() {
        for bytes in [&b""[..], b"DIRC", b"DIRC\0\0\0\x05\0\0\0\0", b"DIRC\0\0\0\x02\xff\xff\xff\xff", b"DIRX\0\0\0\x02\0\0\0\0"] {
            assert!(KnownFiles::parse(bytes).is_none());
        }
    }
}
