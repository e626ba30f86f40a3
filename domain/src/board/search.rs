//! Search: the texts of all projects that contain words of a query, best first.
//!
//! Must not know how texts are stored, or how likeness is measured.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::context::session::ContextSessionId;
use crate::id::{ProjectId, TaskId};
use crate::likeness::Highlight;
use crate::time::Timestamp;
use crate::vocabulary::vocabulary;

/// How many letters of a text a result shows.
pub const EXCERPT_LETTERS: usize = 160;

vocabulary! {
    /// The kind of a text. A task has its title, description and result; a run the description of its failure; an entry of memory its key and
    /// value. A finding is a public message in a context session of a project.
    SearchKind, "kind of text" {
        Task = "task",
        Comment = "comment",
        Message = "message",
        Run = "run",
        Finding = "finding",
        Memory = "memory",
        /// An entry of the raid log.
        Log = "log",
    }
}

/// A text that matches a search.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SearchHit {
    pub kind: SearchKind,
    /// The id of the task, comment, message, run, finding, entry of memory or entry of the raid log.
    pub id: String,
    pub project_id: ProjectId,
    pub project_title: String,
    /// The task that the text is about, or is.
    pub task_id: Option<TaskId>,
    pub task_title: Option<String>,
    /// The context session of a finding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<ContextSessionId>,
    /// The key of an entry of memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The words that match in the title of a task, or in the key of an entry of memory.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub title_highlights: Vec<Highlight>,
    /// The part of the text in which most words stand, on one line. For a task, of its description or result.
    pub excerpt: String,
    /// The words of the excerpt that match.
    pub highlights: Vec<Highlight>,
    /// Its author, in words: `coder`, `human/ann`, `agent mara`.
    pub author: Option<String>,
    pub at: Timestamp,
    /// How well it matches, from 60 to 100.
    pub score: u8,
}
