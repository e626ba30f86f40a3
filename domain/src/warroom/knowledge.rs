//! Knowledge: findings that agents confirmed (intel), hazards that they met (traps), and the notes of each agent.
//!
//! Nothing is deleted: intel that no longer holds is archived, and a trap that was removed is resolved. It must not know who reads what.

mod confirmation;
mod kind;
mod place;
pub mod refusal;

pub use kind::{KnowledgeKind, KnowledgeState, MAX_LIVE};
pub use place::KnowledgePlace;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use self::confirmation::{require_confirmed, require_evidence};
use self::refusal::KnowledgeRefusal;
use crate::event::kinds::events;
use crate::id::{ProjectId, RunId};
use crate::refusal::general::GeneralRefusal;
use crate::text::{excerpt, validate_body};
use crate::time::Timestamp;
use crate::warroom::claim::ClaimPath;
use crate::warroom::claim::refusal::ClaimRefusal;

/// The longest body, in bytes.
pub const MAX_BODY_BYTES: usize = 20_000;
/// The longest evidence, in bytes.
pub const MAX_EVIDENCE_BYTES: usize = 4_000;
/// The most paths of a trap.
pub const MAX_PATHS: usize = 20;
/// The longest topic, in bytes.
const MAX_TOPIC_BYTES: usize = 60;
const MAX_SHOWN: usize = 80;

/// One piece of knowledge. A live one is the only one of its kind and topic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Knowledge {
    pub id: i64,
    pub project_id: ProjectId,
    pub kind: KnowledgeKind,
    /// A word such as `upstream-deps`; for notes, the name of their agent.
    pub topic: String,
    pub body: String,
    /// The confirmation. Notes have none.
    pub evidence: Option<String>,
    /// The files that a trap is about; everything if there are none.
    pub paths: Vec<String>,
    /// The author of this version.
    pub author: String,
    /// The run of a managed agent.
    pub run_id: Option<RunId>,
    /// Counts the texts, from 1.
    pub version: u32,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    /// When it was archived or resolved.
    pub closed_at: Option<Timestamp>,
    pub closed_by: Option<String>,
    /// Why it no longer holds, with the evidence.
    pub closing: Option<String>,
}

impl Knowledge {
    /// Returns the path of its file below `.dead-drop/`.
    pub fn file(&self) -> String {
        match (self.kind, self.closed_at.is_some()) {
            (KnowledgeKind::Intel, false) => format!("intel/{}.md", self.topic),
            (KnowledgeKind::Intel, true) => format!("intel/archived/{}-{}.md", self.topic, self.id),
            (KnowledgeKind::Trap, false) => format!("traps/{}.md", self.topic),
            (KnowledgeKind::Trap, true) => format!("traps/resolved/{}-{}.md", self.topic, self.id),
            (KnowledgeKind::Note, _) => format!("{}/notes.md", folder_of(&self.topic)),
        }
    }

    /// Returns the content of its file.
    pub fn markdown(&self) -> String {
        let mut text = if self.kind == KnowledgeKind::Note { String::new() } else { format!("# {}\n\n", self.topic) };
        text += self.body.trim_end();
        text += "\n";
        if !self.paths.is_empty() {
            text += &format!("\nFiles: {}\n", self.paths.join(", "));
        }
        if let Some(evidence) = &self.evidence {
            text += &format!("\nEvidence ({}, {}):\n\n{}\n", self.author, self.updated_at, evidence.trim_end());
        }
        if let (Some(closing), Some(by), Some(at)) = (&self.closing, &self.closed_by, &self.closed_at) {
            let word = if self.kind == KnowledgeKind::Trap { "Resolved" } else { "Archived" };
            text += &format!("\n{word} by {by}, {at}:\n\n{}\n", closing.trim_end());
        }
        text
    }

    /// Whether a trap is about one of `paths`. One without paths is about all of them.
    pub fn concerns(&self, paths: &[ClaimPath]) -> bool {
        let own: Vec<ClaimPath> = self.paths.iter().filter_map(|path| path.parse().ok()).collect();
        own.is_empty() || own.iter().any(|own| paths.iter().any(|path| own.overlaps(path)))
    }
}

/// The arguments of new intel or of a new trap. A live one of the same topic gets a new version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewKnowledge {
    /// `intel` or `trap`.
    pub kind: KnowledgeKind,
    /// Lower-case letters, digits and `-`.
    pub topic: String,
    /// At most 20,000 bytes.
    pub body: String,
    /// `src/lib.rs:12`, or a command after `$ ` with its output below.
    pub evidence: String,
    /// The files that a trap is about, such as `src/parser/` or `src/*.rs`.
    #[serde(default)]
    pub paths: Vec<String>,
}

impl NewKnowledge {
    /// Refuses missing and long texts, too many paths, and notes.
    ///
    /// # Errors
    /// When one of them is not acceptable.
    pub fn require_bounded(&self) -> Result<(), GeneralRefusal> {
        if self.kind == KnowledgeKind::Note {
            let hint = "Give intel or trap; an agent writes its notes with write_note.";
            return Err(GeneralRefusal::invalid("kind", "notes belong to one agent", hint));
        }
        bounded("body", &self.body, MAX_BODY_BYTES)?;
        bounded("evidence", &self.evidence, MAX_EVIDENCE_BYTES)?;
        if self.kind == KnowledgeKind::Intel && !self.paths.is_empty() {
            return Err(GeneralRefusal::invalid("paths", "only traps have paths", "Name the files in the body, or write a trap."));
        }
        if self.paths.len() > MAX_PATHS {
            let problem = format!("it has {} paths, more than the {MAX_PATHS} allowed", self.paths.len());
            return Err(GeneralRefusal::invalid("paths", problem, "Name their folder, such as src/parser/."));
        }
        Ok(())
    }

    /// # Errors
    /// When the body is a hunch, or the evidence is none.
    pub fn require_confirmed(&self) -> Result<(), KnowledgeRefusal> {
        require_confirmed(&self.body)?;
        require_evidence(&self.evidence)
    }

    /// Returns the paths in their one form.
    ///
    /// # Errors
    /// When one of them is not a path of this repository.
    pub fn claim_paths(&self) -> Result<Vec<String>, ClaimRefusal> {
        self.paths.iter().map(|path| path.parse::<ClaimPath>().map(String::from)).collect()
    }
}

/// The arguments that archive intel or resolve a trap.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewClosing {
    /// Why the intel no longer holds, or how the trap was removed.
    pub reason: String,
    /// `src/lib.rs:12`, or a command after `$ ` with its output below.
    pub evidence: String,
}

impl NewClosing {
    /// Returns both texts as one.
    ///
    /// # Errors
    /// When one is missing or too long.
    pub fn text(&self) -> Result<String, GeneralRefusal> {
        let reason = bounded("reason", &self.reason, MAX_EVIDENCE_BYTES)?;
        let evidence = bounded("evidence", &self.evidence, MAX_EVIDENCE_BYTES)?;
        Ok(format!("{}\n\n{}", reason.trim_end(), evidence.trim_end()))
    }

    /// # Errors
    /// When the reason is a hunch, or the evidence is none.
    pub fn require_confirmed(&self) -> Result<(), KnowledgeRefusal> {
        require_confirmed(&self.reason)?;
        require_evidence(&self.evidence)
    }
}

/// Returns the notes of an agent with a new one at their end, or only the new one.
///
/// # Errors
/// When the note is blank, or the notes become too long.
pub fn notes_with(notes: Option<&str>, new: &str, replace: bool) -> Result<String, GeneralRefusal> {
    let new = validate_body("content", new)?;
    let notes = match notes.filter(|_| !replace) {
        Some(notes) => format!("{}\n\n{}", notes.trim_end(), new.trim_end()),
        None => new.trim_end().to_owned(),
    };
    if notes.len() <= MAX_BODY_BYTES {
        return Ok(notes);
    }
    let problem = format!("the notes would have {} bytes, more than the {MAX_BODY_BYTES} allowed", notes.len());
    Err(GeneralRefusal::invalid("content", problem, "Write the notes that still matter with replace=true. The history keeps the others."))
}

/// Returns a topic in its one form.
///
/// # Errors
/// When it is not a word of lower-case letters, digits and `-`.
pub fn topic(given: &str) -> Result<String, KnowledgeRefusal> {
    let topic = given.trim().trim_end_matches(".md");
    let is_word = topic.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'));
    let is_free = !["notes", "archived", "resolved"].contains(&topic);
    if !topic.is_empty() && topic.len() <= MAX_TOPIC_BYTES && is_word && !topic.starts_with('-') && is_free {
        return Ok(topic.to_owned());
    }
    Err(KnowledgeRefusal::Topic { topic: excerpt(given, MAX_SHOWN) })
}

/// Returns the folder of an agent, which is never one of the others, hidden, or above them.
fn folder_of(agent: &str) -> String {
    let name = |(place, name): (usize, &str)| {
        let is_taken = name.starts_with('.') || (place == 0 && ["intel", "traps"].iter().any(|taken| name.eq_ignore_ascii_case(taken)));
        if is_taken { format!("_{name}") } else { name.to_owned() }
    };
    agent.split('/').enumerate().map(name).collect::<Vec<_>>().join("/")
}

fn bounded(field: &'static str, given: &str, most: usize) -> Result<String, GeneralRefusal> {
    let text = validate_body(field, given)?;
    if text.len() <= most {
        return Ok(text);
    }
    let problem = format!("it has {} bytes, more than the {most} allowed", text.len());
    Err(GeneralRefusal::invalid(field, problem, "Keep what others need, and cite files instead of quoting them."))
}

events! {
    /// A change of knowledge. It never contains the texts.
    KnowledgeEvent {
        IntelWritten "intel_written" { knowledge: i64, topic: String, version: u32 }
        TrapWritten "trap_written" { knowledge: i64, topic: String, version: u32 }
        NoteWritten "note_written" { knowledge: i64, topic: String, version: u32 }
        IntelArchived "intel_archived" { knowledge: i64, topic: String }
        TrapResolved "trap_resolved" { knowledge: i64, topic: String }
    }
}

#[cfg(test)]
mod tests;
