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

/// A file that cannot be merged, because both sides changed it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Conflict {
    pub path: String,
    /// The parts in conflict, with lines around them. `-` is what was merged before, `+` is the work. Empty if they cannot be shown.
    pub hunks: Vec<Hunk>,
    /// Why there is nothing, or not everything, to show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
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
    /// The lines of the new version, if it is text and its length is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<u32>,
    /// The hunks are omitted because they are too large to show at once. They can be requested for this file.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub folded: bool,
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
    /// The colours of its syntax, in order and without overlap.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spans: Vec<Span>,
    /// The parts that differ from the line that it replaces or that replaces it, in order and without overlap.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<Mark>,
}

impl DiffLine {
    /// An unmarked line without colours.
    pub fn plain(origin: char, old_line: Option<u32>, new_line: Option<u32>, text: String) -> Self {
        Self { origin, old_line, new_line, text, spans: Vec::new(), marks: Vec::new() }
    }
}

/// A coloured part of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Span {
    /// Bytes from the start of the text.
    pub start: u32,
    pub end: u32,
    pub kind: SpanKind,
}

/// The kind of a coloured part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SpanKind {
    Keyword,
    String,
    Comment,
}

/// A changed part of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Mark {
    /// Bytes from the start of the text.
    pub start: u32,
    pub end: u32,
}

/// A range of lines of a file, as context of a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FileLines {
    /// With their numbers in the new version only.
    pub lines: Vec<DiffLine>,
    /// All lines of the file.
    pub total: u32,
}

/// The media type of an image that browsers show without running anything in it, or none for other files.
pub fn image_type(path: &str) -> Option<&'static str> {
    let (_, extension) = path.rsplit_once('.')?;
    Some(match extension.to_ascii_lowercase().as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
