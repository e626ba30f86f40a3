//! `packed-refs`, the one file that holds all references that `git gc` has packed: takes one out of it.
//!
//! Never read before it is locked, because it is written back as it was read: a reference that another program packed
//! in between would be gone, and its loose file with it.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use git2::Oid;

use crate::error::{Attempt, RepoError};
use crate::lock::LockFile;

/// The file, locked for as long as this lives.
pub(super) struct PackedReferences {
    path: PathBuf,
    text: Vec<u8>,
    _lock: LockFile,
}

impl PackedReferences {
    /// Locks the file, which need not exist, on behalf of the reference `name`.
    ///
    /// # Errors
    /// [`RepoError::Locked`] with the lock's path when another program held it for five seconds.
    pub(super) fn lock(git_dir: &Path, name: &str) -> Result<Self, RepoError> {
        let path = path_in(git_dir);
        let lock = LockFile::hold(&path, name)?;
        let text = match fs::read(&path) {
            Err(reason) if reason.kind() == ErrorKind::NotFound => Vec::new(),
            read => read.attempting(|| format!("read {}", path.display()))?,
        };
        Ok(Self { path, text, _lock: lock })
    }

    pub(super) fn value(&self, name: &str) -> Option<Oid> {
        take_out(&self.text, name).0
    }

    /// Writes the file without `name`; it stays locked. Nothing is written when `name` is not in it.
    pub(super) fn remove(&self, name: &str) -> Result<(), RepoError> {
        let (Some(_), rest) = take_out(&self.text, name) else { return Ok(()) };
        // Not `packed-refs.new`: left by a kill, that one would stop every `git gc` from then on.
        let draft = self.path.with_extension("vibe-relay");
        let written = replace(&self.path, &draft, &rest);
        written.inspect_err(|_| _ = fs::remove_file(&draft)).attempting(|| format!("write {}", self.path.display()))
    }
}

/// Where the file is: behind a link when several folders share one, as git has it too.
pub(super) fn path_in(git_dir: &Path) -> PathBuf {
    let path = git_dir.join("packed-refs");
    path.canonicalize().unwrap_or(path)
}

/// On the disk before it takes the place of the old one: after a power cut it is one of the two, never an empty file.
fn replace(path: &Path, draft: &Path, text: &[u8]) -> io::Result<()> {
    let mut file = File::create(draft)?;
    file.set_permissions(fs::metadata(path)?.permissions())?;
    file.write_all(text)?;
    file.sync_all()?;
    fs::rename(draft, path)
}

/// The value of `name` in the text of the file, and the text without it.
fn take_out(text: &[u8], name: &str) -> (Option<Oid>, Vec<u8>) {
    let (mut value, mut taking) = (None, false);
    let mut rest = Vec::with_capacity(text.len());
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        // A line with `^` belongs to the one before: what the tag there points to.
        if !line.starts_with(b"^") {
            let found = value_in(line, name);
            taking = found.is_some();
            value = found.or(value);
        }
        if !taking {
            rest.extend_from_slice(line);
        }
    }
    (value, rest)
}

fn value_in(line: &[u8], name: &str) -> Option<Oid> {
    let (id, found) = line.trim_ascii_end().split_at_checked(40)?;
    if found.strip_prefix(b" ")? != name.as_bytes() {
        return None;
    }
    Oid::from_str(str::from_utf8(id).ok()?).ok()
}

#[cfg(test)]
mod tests;
