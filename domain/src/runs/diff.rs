//! Diffs for display: files, hunks and lines. `repo` creates them, and the UI renders them.
//!
//! Must not read a repository.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::runs::evidence::Sha;

/// The difference between two commits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Diff {
    pub base: Sha,
    pub head: Sha,
    /// In path order.
    pub files: Vec<FileDiff>,
    /// Whether files or lines are omitted because the diff is too large to display.
    pub truncated: bool,
}

/// The size of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DiffSize {
    pub files: u32,
    pub added: u32,
    pub removed: u32,
}

impl DiffSize {
    /// Describes the size: `3 files, +40 −2`.
    pub fn sentence(self) -> String {
        let files = if self.files == 1 { "file" } else { "files" };
        format!("{} {files}, +{} −{}", self.files, self.added, self.removed)
    }
}

/// One changed file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FileDiff {
    pub path: String,
    /// The earlier path of a renamed file.
    pub old_path: Option<String>,
    pub change: FileChange,
    pub added: u32,
    pub removed: u32,
    /// Binary files have no hunks.
    pub binary: bool,
    pub hunks: Vec<Hunk>,
}

/// The kind of change to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum FileChange {
    Added,
    Removed,
    Modified,
    Renamed,
    ModeChanged,
}

/// A block of adjacent lines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Hunk {
    /// The `@@ -a,b +c,d @@` line.
    pub header: String,
    pub lines: Vec<DiffLine>,
}

/// One line of a hunk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DiffLine {
    /// `+`, `-` or a space.
    pub origin: char,
    pub old_line: Option<u32>,
    pub new_line: Option<u32>,
    pub text: String,
}

#[cfg(test)]
mod tests;
