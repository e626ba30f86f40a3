//! Removes a reference from `packed-refs`, the file with all references that `git gc` has packed.
//!
//! Must lock the file before reading it. The whole file is written back, so a reference that another program packs
//! between the read and the lock would be lost together with its loose file.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use git2::Oid;

use crate::error::{Attempt, RepoError};
use crate::lock::LockFile;

/// The content of the file, which stays locked until this is dropped.
pub(super) struct PackedReferences {
    path: PathBuf,
    text: Vec<u8>,
    _lock: LockFile,
}

impl PackedReferences {
    /// Locks the file, which may not exist. Errors name the reference `name`.
    ///
    /// # Errors
    /// [`RepoError::Locked`] with the lock's path if another program holds it for five seconds.
    pub(super) fn lock(git_dir: &Path, name: &str) -> Result<Self, RepoError> {
        let path = path_in(git_dir);
        let lock = LockFile::acquire(&path, name)?;
        let text = match fs::read(&path) {
            Err(reason) if reason.kind() == ErrorKind::NotFound => Vec::new(),
            read => read.attempting(|| format!("read {}", path.display()))?,
        };
        Ok(Self { path, text, _lock: lock })
    }

    pub(super) fn value(&self, name: &str) -> Option<Oid> {
        extract(&self.text, name).0
    }

    /// Writes the file without `name` and keeps it locked. Writes nothing if `name` is not in the file.
    pub(super) fn remove(&self, name: &str) -> Result<(), RepoError> {
        let (Some(_), rest) = extract(&self.text, name) else { return Ok(()) };
        // Do not use `packed-refs.new`: if a kill left it behind, every later `git gc` would fail.
        let draft = self.path.with_extension("vibe-relay");
        let written = replace(&self.path, &draft, &rest);
        written.inspect_err(|_| _ = fs::remove_file(&draft)).attempting(|| format!("write {}", self.path.display()))
    }
}

/// Returns the path of the file. Follows a symbolic link as git does, because several folders can share one file.
pub(super) fn path_in(git_dir: &Path) -> PathBuf {
    let path = git_dir.join("packed-refs");
    path.canonicalize().unwrap_or(path)
}

/// Syncs the draft before it replaces the file. A power cut then leaves the old or the new file, never an empty one.
fn replace(path: &Path, draft: &Path, text: &[u8]) -> io::Result<()> {
    let mut file = File::create(draft)?;
    file.set_permissions(fs::metadata(path)?.permissions())?;
    file.write_all(text)?;
    file.sync_all()?;
    fs::rename(draft, path)
}

/// Returns the value of `name` in the text of the file, and the text without that entry.
fn extract(text: &[u8], name: &str) -> (Option<Oid>, Vec<u8>) {
    let (mut value, mut taking) = (None, false);
    let mut rest = Vec::with_capacity(text.len());
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        // A line with `^` names the commit of the tag on the line before.
        if !line.starts_with(b"^") {
            let found = parse_value(line, name);
            taking = found.is_some();
            value = found.or(value);
        }
        if !taking {
            rest.extend_from_slice(line);
        }
    }
    (value, rest)
}

fn parse_value(line: &[u8], name: &str) -> Option<Oid> {
    let (id, found) = line.trim_ascii_end().split_at_checked(40)?;
    if found.strip_prefix(b" ")? != name.as_bytes() {
        return None;
    }
    Oid::from_str(str::from_utf8(id).ok()?).ok()
}

#[cfg(test)]
mod tests;
