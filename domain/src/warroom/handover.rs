//! Handovers: what an agent leaves to its successor before its context is full, or before it leaves permanently.
//!
//! It must not know whether the files exist, or how a successor reads it.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::event::kinds::events;
use crate::id::{ProjectId, RunId, TaskId};
use crate::refusal::category::refusals;
use crate::refusal::general::GeneralRefusal;
use crate::text::{excerpt, validate_body};
use crate::time::Timestamp;

/// The longest manifest, in bytes.
pub const MAX_MANIFEST_BYTES: usize = 10_000;
/// The most files of a handover.
pub const MAX_FILES: usize = 100;
/// An agent that has been silent for this long is gone: it may be removed without a handover.
pub const REMOVABLE_AFTER: Duration = Duration::from_secs(30 * 60);
/// The most characters of a path that a refusal repeats.
const MAX_SHOWN: usize = 80;

/// A file with something that the successor needs. It existed when the handover was recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct HandoverFile {
    /// Relative to the root of the repository.
    pub path: String,
    pub bytes: u64,
}

/// A handover: an agent left it, and its successor reads it once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Handover {
    pub id: i64,
    pub project_id: ProjectId,
    /// The agent that left it. The successor of a managed agent has the same name.
    pub agent: String,
    /// The task of a managed agent.
    pub task_id: Option<TaskId>,
    pub run_id: Option<RunId>,
    /// Whether the runner recorded it, because the agent ended without one.
    pub automatic: bool,
    /// The state of the work, open questions and the next step.
    pub manifest: String,
    pub files: Vec<HandoverFile>,
    pub created_at: Timestamp,
    /// The agent that continued the work, and when it read the handover.
    pub continued_by: Option<String>,
    pub continued_at: Option<Timestamp>,
}

/// A handover that is to be recorded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewHandover {
    pub manifest: String,
    pub files: Vec<HandoverFile>,
}

impl NewHandover {
    /// Returns the manifest.
    ///
    /// # Errors
    /// When there is neither a manifest nor a file, there are too many files, or the manifest is too long or contains U+0000.
    pub fn text(&self) -> Result<String, GeneralRefusal> {
        if self.files.len() > MAX_FILES {
            let problem = format!("it names {} files, more than the {MAX_FILES} allowed", self.files.len());
            return Err(GeneralRefusal::invalid("files", problem, "Name the files that the successor has to read."));
        }
        if self.manifest.trim().is_empty() && !self.files.is_empty() {
            return Ok(String::new());
        }
        if self.manifest.trim().is_empty() {
            let hint = "Write what the successor needs: the state of the work, open questions and the next step.";
            return Err(GeneralRefusal::invalid("manifest", "it is empty, and no files are named", hint));
        }
        let manifest = validate_body("manifest", &self.manifest)?;
        if manifest.len() > MAX_MANIFEST_BYTES {
            let problem = format!("it has {} bytes, more than the {MAX_MANIFEST_BYTES} allowed", manifest.len());
            return Err(GeneralRefusal::invalid("manifest", problem, "Put details into a file, and name it in files."));
        }
        Ok(manifest)
    }
}

events! {
    /// A change of a handover. It never contains the text.
    HandoverEvent {
        Recorded "handover_recorded" { agent: String, handover: i64, automatic: bool }
        Continued "handover_continued" { agent: String, handover: i64 }
    }
}

refusals! {
    /// Why an agent cannot hand over, or cannot leave.
    HandoverRefusal {
        #[error("{} in the checkout: {}", if *.count == 1 { "this file does not exist".to_owned() } else { format!("{count} files do not exist") }, excerpt(paths, 400))]
        FilesMissing { count: usize, paths: String } => Unprocessable "handover-files-missing",
        #[error("{} is outside of the repository", excerpt(path, MAX_SHOWN))]
        FileOutside { path: String } => Unprocessable "handover-file-outside",
        #[error("BLOCKED: {agent} has not handed over")]
        Needed { agent: String } => Conflict "handover-needed",
        #[error("{agent} left no handover that is still open")]
        NothingLeft { agent: String } => NotFound "no-handover",
    }
}

impl HandoverRefusal {
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::FilesMissing { .. } => "Write what is missing first, or omit it. Nothing was recorded.".to_owned(),
            Self::FileOutside { .. } => "Copy its contents into the manifest, or into a file of the repository. Nothing was recorded.".to_owned(),
            Self::Needed { .. } => {
                "Call fenix_down first, with the files that were written and a manifest for the successor. A lead may remove an agent that has \
                 been silent for 30 minutes."
                    .to_owned()
            }
            Self::NothingLeft { .. } => "Call cold_start without predecessor: it lists the handovers that wait for a successor.".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handover_is_a_bounded_text_or_files() {
        let file = |number: usize| HandoverFile { path: format!("{number}.md"), bytes: 1 };
        let text = |manifest: String, files: usize| NewHandover { manifest, files: (0..files).map(file).collect() }.text();
        assert_eq!(text("Next: the parser".to_owned(), 0).unwrap(), "Next: the parser");
        assert_eq!(text(" ".to_owned(), 1).unwrap(), "");
        assert!(text("x".repeat(MAX_MANIFEST_BYTES), MAX_FILES).is_ok());
        for (manifest, files) in [(String::new(), 0), ("a\0".to_owned(), 1), ("x".repeat(MAX_MANIFEST_BYTES + 1), 0), ("x".repeat(1 << 20), 0)] {
            assert!(text(manifest, files).is_err());
        }
        assert!(text("x".to_owned(), MAX_FILES + 1).is_err());
    }
}
