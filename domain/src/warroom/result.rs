//! Results: what an agent leaves behind about a task, so that the next one does not repeat its failures.
//!
//! Must not know who may submit one.

pub mod facts;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::event::kinds::events;
use crate::id::{ProjectId, RunId, TaskId};
use crate::refusal::category::refusals;
use crate::refusal::general::GeneralRefusal;
use crate::text::validate_body;
use crate::time::Timestamp;
use crate::vocabulary::vocabulary;

/// The longest result, in bytes.
pub const MAX_RESULT_BYTES: usize = 20_000;
/// The longest line that can be a heading without a mark, in bytes.
const MAX_LABEL: usize = 60;
/// Names of files without an ending that are cited.
const PLAIN_FILES: [&str; 4] = ["Makefile", "Dockerfile", "Justfile", "LICENSE"];

vocabulary! {
    /// A part that every result has.
    ResultPart, "part of a result" {
        Tried = "what you tried",
        Worked = "what worked and what did not",
        Next = "what the next agent should know",
        Citations = "file:line citations",
    }
}

/// A result. A task can have several; the newest counts, and none is changed or removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TaskResult {
    pub id: i64,
    pub project_id: ProjectId,
    pub task_id: TaskId,
    /// The participant that submitted it, or the coder that it is about.
    pub author: String,
    /// The run of a managed agent.
    pub run_id: Option<RunId>,
    /// Whether it was derived from the facts of runs, because a managed agent did the work.
    pub derived: bool,
    /// The file that it was read from, relative to the root of the repository.
    pub file: Option<String>,
    pub content: String,
    pub created_at: Timestamp,
}

/// A result to store.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewTaskResult {
    pub content: String,
    /// The file that the content was read from.
    pub file: Option<String>,
}

impl NewTaskResult {
    /// Returns the text of the result.
    ///
    /// # Errors
    /// When it is blank, too long, or contains U+0000.
    pub fn text(&self) -> Result<String, GeneralRefusal> {
        let content = validate_body("content", &self.content)?;
        if content.len() > MAX_RESULT_BYTES {
            let problem = format!("it has {} bytes, more than the {MAX_RESULT_BYTES} allowed", content.len());
            return Err(GeneralRefusal::invalid("content", problem, "Keep what the next agent needs, and cite files instead of quoting them."));
        }
        Ok(content)
    }
}

/// # Errors
/// When the text lacks a part.
pub fn require_parts(content: &str) -> Result<(), ResultRefusal> {
    let parts = missing_parts(content);
    if parts.is_empty() { Ok(()) } else { Err(ResultRefusal::PartsMissing { parts }) }
}

/// Returns the parts that `content` lacks. A part is a heading with text below or beside it; one heading can name several parts. Citations may
/// stand anywhere.
pub fn missing_parts(content: &str) -> Vec<ResultPart> {
    let mut found: Vec<ResultPart> = Vec::new();
    let mut current: Vec<ResultPart> = Vec::new();
    let mut is_code = false;
    for line in content.lines().map(str::trim) {
        if line.starts_with("```") {
            is_code = !is_code;
            continue;
        }
        let text = match heading(line).filter(|_| !is_code) {
            Some((parts, text)) => {
                current = parts;
                text
            }
            // Another heading is not the text of the one above, and neither is the line below a title.
            None if !is_code && (line.starts_with('#') || line.chars().all(|c| matches!(c, '=' | '-' | '*'))) => "",
            None => line,
        };
        if !text.is_empty() {
            found.extend(current.iter().filter(|part| **part != ResultPart::Citations));
        }
    }
    if has_citation(content) {
        found.push(ResultPart::Citations);
    }
    ResultPart::ALL.iter().copied().filter(|part| !found.contains(part)).collect()
}

/// Reads a line as a heading: the parts that it names, and the text beside it.
fn heading(line: &str) -> Option<(Vec<ResultPart>, &str)> {
    let bare = line.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ')' | '-' | ' '));
    let (label, text) = if let Some(title) = line.strip_prefix('#') {
        (title.trim_start_matches('#'), "")
    } else if let Some((label, text)) = bare.strip_prefix("**").and_then(|rest| rest.split_once("**")) {
        (label, text)
    } else if let Some((label, text)) = bare.split_once(": ").or_else(|| Some((bare.strip_suffix(':')?, ""))) {
        (label, text)
    } else {
        (bare, "")
    };
    let is_marked = line.starts_with('#') || bare.starts_with("**");
    if !is_marked && (label.len() > MAX_LABEL || label.ends_with('.')) {
        return None;
    }
    let parts = parts_of(label);
    (!parts.is_empty()).then(|| (parts, text.trim_matches(|c: char| c == ':' || c.is_whitespace())))
}

/// Returns the parts that a heading names.
fn parts_of(label: &str) -> Vec<ResultPart> {
    let label = label.to_lowercase();
    let words: Vec<&str> = label.split(|c: char| !c.is_alphanumeric()).collect();
    let has = |any: &[&str]| any.iter().any(|word| words.contains(word));
    let named = |part: &ResultPart| match part {
        ResultPart::Tried => has(&["tried", "try", "attempt", "attempts", "approach", "approaches"]),
        ResultPart::Worked => has(&["worked", "works", "outcome", "outcomes"]),
        ResultPart::Next => has(&["next", "successor", "handoff", "handover"]),
        // They may stand anywhere, so their heading only ends the part before.
        ResultPart::Citations => has(&["citation", "citations", "references", "sources"]),
    };
    ResultPart::ALL.iter().copied().filter(named).collect()
}

/// Whether a text cites a line of a file somewhere.
pub(crate) fn has_citation(text: &str) -> bool {
    text.split(|c: char| c.is_whitespace() || "()[]<>{}`'\",;".contains(c)).any(is_citation)
}

/// Whether a word cites a line of a file, such as `src/lib.rs:12` or `lib.rs:3-9`.
fn is_citation(word: &str) -> bool {
    let mut pieces = word.split(':');
    let (Some(file), Some(line)) = (pieces.next(), pieces.next()) else { return false };
    let is_file = (file.contains(['.', '/']) && file.chars().any(char::is_alphabetic)) || PLAIN_FILES.contains(&file);
    is_file && line.trim_start_matches('L').starts_with(|c: char| ('1'..='9').contains(&c))
}

events! {
    /// A new result of a task. It never contains the text.
    ResultEvent {
        Submitted "task_result_submitted" { result: i64 }
    }
}

refusals! {
    /// Why a result is not accepted, or why a task is not closed.
    ResultRefusal {
        #[error("the result lacks {}", listed(parts))]
        PartsMissing { parts: Vec<ResultPart> } => Unprocessable "result-parts-missing",
        #[error("{path} is not a text file of at most {MAX_RESULT_BYTES} bytes in this repository")]
        NoFile { path: String } => Unprocessable "result-file-missing",
        #[error("BLOCKED: {task} cannot be closed, because it has no result")]
        Missing { task: TaskId } => Conflict "result-missing",
        #[error("BLOCKED: update_task does not close {task}")]
        ClosedElsewhere { task: TaskId } => Conflict "close-with-close-task",
    }
}

impl ResultRefusal {
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::PartsMissing { parts } => {
                let [titles, cited] = [false, true].map(|cited| parts.iter().filter(move |part| (**part == ResultPart::Citations) == cited));
                let titles = titles.map(|part| format!("the heading \"{part}\" with text below it"));
                let cited = cited.map(|_| "at least one citation such as src/lib.rs:12".to_owned());
                format!("Add {}, then call submit_result again.", titles.chain(cited).collect::<Vec<_>>().join(", "))
            }
            Self::NoFile { .. } => "Name an existing file relative to the root of the repository, or give its text as content.".to_owned(),
            Self::Missing { task } => {
                format!("Its assignee, or a lead that knows the work, calls submit_result with task_id {task}. Then call close_task.")
            }
            Self::ClosedElsewhere { task } => format!("Call close_task with task_id {task} as a lead, after submit_result."),
        }
    }
}

fn listed(parts: &[ResultPart]) -> String {
    parts.iter().map(|part| part.as_str()).collect::<Vec<_>>().join(", and ")
}

#[cfg(test)]
mod tests;
