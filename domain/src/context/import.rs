//! Imports: records of another program's database that become records of a project.
//!
//! Must not know how that database is read. Nothing of it is changed, and a repeated import adds only what is new.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::event::kinds::events;
use crate::id::ProjectId;
use crate::refusal::category::refusals;
use crate::team::agent::{MAX_NAME_BYTES, full_name};
use crate::vocabulary::vocabulary;

/// The maximum number of problems that a report lists.
pub const MAX_PROBLEMS: usize = 200;

vocabulary! {
    /// The program that wrote a database.
    ImportSource, "program" {
        /// shared-context-server.
        SharedContext = "shared_context",
        /// dead-drop-teams.
        DeadDrop = "dead_drop",
    }
}

vocabulary! {
    /// A kind of record that can be imported.
    ImportKind, "kind of record" {
        Agent = "agent",
        Session = "session",
        SessionMessage = "session_message",
        Memory = "memory",
        Goal = "goal",
        Task = "task",
        Message = "message",
        Contract = "contract",
    }
}

impl ImportSource {
    /// Returns the name of the program, as its users write it.
    pub const fn program(self) -> &'static str {
        match self {
            Self::SharedContext => "shared-context",
            Self::DeadDrop => "dead-drop",
        }
    }
}

/// The arguments of an import.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewImport {
    pub source: ImportSource,
    /// The absolute path of the database on the machine of the board.
    pub path: String,
    /// The project that gets the records.
    pub project_id: ProjectId,
    /// Whether the report only says what an import would do. It does not look for conflicts with records of the project.
    #[serde(default)]
    pub dry_run: bool,
}

/// The result of an import.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ImportReport {
    pub source: ImportSource,
    pub project_id: ProjectId,
    pub dry_run: bool,
    pub counts: Vec<ImportCount>,
    /// Records that were skipped or changed, at most 200 of them.
    pub problems: Vec<ImportProblem>,
    /// How many more problems there are.
    pub further_problems: u32,
    /// Tables with rows that have no counterpart here.
    pub ignored: Vec<IgnoredTable>,
}

/// The records of one kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ImportCount {
    pub kind: ImportKind,
    pub found: u32,
    /// Written, or to be written after a dry run.
    pub imported: u32,
    /// Imported before.
    pub known: u32,
    pub skipped: u32,
}

/// A record that was not imported, or not as it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ImportProblem {
    pub kind: ImportKind,
    /// Its id or name in the other database.
    pub record: String,
    pub problem: String,
    /// Whether it was left out.
    pub skipped: bool,
}

/// A table whose rows are not imported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct IgnoredTable {
    pub table: String,
    pub rows: u32,
}

impl ImportReport {
    pub fn new(request: &NewImport) -> Self {
        let NewImport { source, project_id, dry_run, .. } = request;
        Self {
            source: *source,
            project_id: project_id.clone(),
            dry_run: *dry_run,
            counts: Vec::new(),
            problems: Vec::new(),
            further_problems: 0,
            ignored: Vec::new(),
        }
    }

    /// Returns the count of a kind, which is 0 at first.
    pub fn count(&mut self, kind: ImportKind) -> &mut ImportCount {
        let index = self.counts.iter().position(|count| count.kind == kind).unwrap_or_else(|| {
            self.counts.push(ImportCount { kind, found: 0, imported: 0, known: 0, skipped: 0 });
            self.counts.len() - 1
        });
        &mut self.counts[index]
    }

    /// Adds a problem, and counts the record as skipped if it is.
    pub fn add_problem(&mut self, problem: ImportProblem) {
        if problem.skipped {
            self.count(problem.kind).skipped += 1;
        }
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(problem);
        } else {
            self.further_problems += 1;
        }
    }
}

/// Returns a valid name for an agent that was called `given`, which differs from all `taken` ones also without regard to case. It is `given`
/// if possible.
pub fn agent_name(given: &str, team: Option<&str>, taken: &BTreeSet<String>) -> String {
    let letters = |word: &str| -> String {
        let is_allowed = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
        word.trim().chars().map(|letter| if is_allowed(letter) { letter } else { '-' }).take(MAX_NAME_BYTES / 2 - 8).collect()
    };
    let (team, short) = match (given.split_once('/'), team) {
        (Some((team, short)), _) => (Some(letters(team)), letters(short)),
        (None, team) => (team.filter(|team| !team.trim().is_empty()).map(letters), letters(given)),
    };
    let short = if short.is_empty() { "agent".to_owned() } else { short };
    let is_free = |name: &String| !taken.iter().any(|taken| taken.eq_ignore_ascii_case(name));
    let team = team.filter(|team| full_name("a", Some(team)).is_ok());
    let plain = full_name(&short, team.as_deref());
    let numbered = (2..).filter_map(|number: u32| full_name(&format!("{short}-{number}"), team.as_deref()).ok());
    let imported = full_name(&format!("imported-{short}"), team.as_deref());
    plain.into_iter().chain(imported).chain(numbered).find(is_free).unwrap_or(short)
}

events! {
    /// An import.
    ImportEvent {
        /// One step of an import was written.
        Imported "imported" { source: ImportSource, record: ImportKind, records: u32 }
    }
}

refusals! {
    /// Why a database cannot be imported.
    ImportRefusal {
        #[error("{path} is not a database of {}: {problem}", origin.program())]
        Unusable { path: String, origin: ImportSource, problem: String } => Unprocessable "import-unusable",
    }
}

impl ImportRefusal {
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::Unusable { origin: ImportSource::SharedContext, .. } => {
                "Give the path of the file that DATABASE_PATH of shared-context-server names, by default chat_history.db.".to_owned()
            }
            Self::Unusable { origin: ImportSource::DeadDrop, .. } => {
                "Give the path of the file that DEAD_DROP_DB_PATH names, by default ~/.dead-drop/messages.db.".to_owned()
            }
        }
    }
}

#[cfg(test)]
mod tests;
