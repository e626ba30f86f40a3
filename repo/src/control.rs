//! Control files: what in the shared `.git` folder decides which programs git runs and what it reads, and how they changed during a run.
//!
//! Agents can write them, and every later `git` command of the human obeys them. Must not execute or undo anything.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use git2::{DiffOptions, ObjectType, Oid, Patch};
use serde::{Deserialize, Serialize};

use crate::error::{Attempt, RepoError};
use crate::handle::Repository;

/// The control files beside the hooks and the settings of one checkout.
const FILES: [&str; 5] = ["config", "config.worktree", "info/attributes", "info/exclude", "objects/info/alternates"];
const MAX_HOOKS: usize = 200;
/// The largest file that is compared line by line.
const MAX_TEXT_BYTES: u64 = 64 * 1024;
/// The part of a file that decides whether it changed at all.
const MAX_READ_BYTES: u64 = 4 * 1024 * 1024;
const MAX_LINES: usize = 60;
const MAX_LINE_CHARACTERS: usize = 200;

/// The control files of a repository at one moment, by path below the shared folder.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControlFiles(BTreeMap<String, ControlFile>);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct ControlFile {
    is_executable: bool,
    bytes: u64,
    digest: String,
    /// The content of a small text.
    text: Option<String>,
}

impl Repository {
    /// Reads the control files. `checkout` is the name of the checkout whose own settings count too.
    ///
    /// # Errors
    /// A file exists and cannot be read.
    pub fn control_files(&self, checkout: &str) -> Result<ControlFiles, RepoError> {
        let mut paths: Vec<String> = FILES.map(str::to_owned).into();
        paths.push(format!("worktrees/{checkout}/config.worktree"));
        let hooks = fs::read_dir(self.git_dir().join("hooks")).into_iter().flatten().flatten();
        let mut hooks: Vec<String> = hooks.map(|entry| format!("hooks/{}", entry.file_name().to_string_lossy())).collect();
        hooks.retain(|hook| !hook.ends_with(".sample"));
        hooks.sort();
        hooks.truncate(MAX_HOOKS);
        let mut files = BTreeMap::new();
        for path in paths.into_iter().chain(hooks) {
            if let Some(file) = read(&self.git_dir().join(&path)).attempting(|| format!("read {path}"))? {
                files.insert(path, file);
            }
        }
        Ok(ControlFiles(files))
    }
}

impl ControlFiles {
    /// Describes what differs in `after`, one line for each file and each changed line of text; empty if nothing does. Secrets in addresses
    /// and headers are left out.
    pub fn changes(&self, after: &Self) -> Vec<String> {
        let mut lines = Vec::new();
        let paths: BTreeSet<&String> = self.0.keys().chain(after.0.keys()).collect();
        for path in paths {
            let (old, new) = (self.0.get(path), after.0.get(path));
            if old == new {
                continue;
            }
            lines.push(match (old, new) {
                (None, Some(new)) => format!("{path} is new ({})", new.describe()),
                (Some(_), None) => format!("{path} is gone"),
                (Some(old), Some(new)) if old.digest == new.digest => format!("{path} is now {}", new.describe()),
                _ => format!("{path} has changed"),
            });
            lines.extend(changed_lines(text_of(old), text_of(new)));
        }
        if lines.len() > MAX_LINES {
            let rest = lines.len() - MAX_LINES;
            lines.truncate(MAX_LINES);
            lines.push(format!("and {rest} more lines"));
        }
        lines
    }
}

impl ControlFile {
    fn describe(&self) -> String {
        format!("{} bytes, {}", self.bytes, if self.is_executable { "executable" } else { "not executable" })
    }
}

/// Reads a file without following a link or waiting for a pipe.
fn read(path: &Path) -> std::io::Result<Option<ControlFile>> {
    let found = match path.symlink_metadata() {
        Ok(found) => found,
        Err(reason) if matches!(reason.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) => return Ok(None),
        Err(reason) => return Err(reason),
    };
    let mut content = Vec::new();
    if found.is_symlink() {
        content = format!("a link to {}", fs::read_link(path)?.display()).into_bytes();
    } else if found.is_file() {
        fs::File::open(path)?.take(MAX_READ_BYTES).read_to_end(&mut content)?;
    } else {
        content.extend(b"neither a file nor a link");
    }
    let digest = Oid::hash_object(ObjectType::Blob, &content).map(|id| id.to_string()).unwrap_or_default();
    let text = String::from_utf8(content).ok().filter(|text| text.len() as u64 <= MAX_TEXT_BYTES && !text.contains('\0'));
    let is_executable = found.is_file() && found.permissions().mode() & 0o111 != 0;
    // A link's size and mode say nothing about it.
    Ok(Some(ControlFile { is_executable, bytes: found.len(), digest, text }))
}

/// The text of a file; nothing for a file that does not exist, and `None` for one whose lines are unknown.
fn text_of(file: Option<&ControlFile>) -> Option<&str> {
    file.map_or(Some(""), |file| file.text.as_deref())
}

fn changed_lines(old: Option<&str>, new: Option<&str>) -> Vec<String> {
    let (Some(old), Some(new)) = (old, new) else { return Vec::new() };
    let mut options = DiffOptions::new();
    options.context_lines(0);
    let Ok(mut patch) = Patch::from_buffers(old.as_bytes(), None, new.as_bytes(), None, Some(&mut options)) else { return Vec::new() };
    let mut lines = Vec::new();
    // The callback never fails, and a partial list is still worth showing.
    drop(patch.print(&mut |_, _, line| {
        if matches!(line.origin(), '+' | '-') {
            let text = String::from_utf8_lossy(line.content());
            lines.push(format!("{} {}", line.origin(), without_secrets(&domain::text::excerpt(&text, MAX_LINE_CHARACTERS))));
        }
        true
    }));
    lines
}

/// Hides the user part of addresses, and values whose keys name a secret.
fn without_secrets(line: &str) -> String {
    let key = line.split_once('=').map_or("", |(key, _)| key).to_lowercase();
    if ["extraheader", "password", "token", "secret"].iter().any(|word| key.contains(word)) {
        return format!("{}= …", line.split('=').next().unwrap_or_default());
    }
    match (line.find("://"), line.rfind('@')) {
        (Some(scheme), Some(at)) if scheme < at => format!("{}://…{}", &line[..scheme], &line[at..]),
        _ => line.to_owned(),
    }
}

#[cfg(test)]
mod tests;
