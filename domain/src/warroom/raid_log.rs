//! The raid log: what agents decided and found during a session, for later agents.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::event::kinds::events;
use crate::id::{ProjectId, RunId};
use crate::refusal::general::GeneralRefusal;
use crate::text::validate_body;
use crate::time::Timestamp;
use crate::vocabulary::vocabulary;

/// The longest entry, in bytes.
pub const MAX_ENTRY_BYTES: usize = 10_000;

vocabulary! {
    /// How much an entry matters, from the least to the most.
    Priority, "priority" {
        /// Routine; removed when the session ends.
        Low = "low",
        /// Decisions and findings.
        Normal = "normal",
        /// Blockers and discoveries that change the work of others.
        High = "high",
        /// Something broke.
        Critical = "critical",
    }
}

impl Priority {
    /// This priority and all above it.
    pub fn and_above(self) -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied().skip_while(move |priority| *priority != self)
    }

    /// Whether entries stay when a session ends.
    pub fn outlives_session(self) -> bool {
        self != Self::Low
    }
}

/// An entry. It is never changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RaidLogEntry {
    pub id: i64,
    pub project_id: ProjectId,
    /// The participant that wrote it.
    pub author: String,
    /// The run of a managed agent.
    pub run_id: Option<RunId>,
    pub entry: String,
    pub priority: Priority,
    pub created_at: Timestamp,
}

/// The arguments of a new entry.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewRaidLogEntry {
    /// At most 10,000 bytes.
    pub entry: String,
    /// `normal` if it is missing.
    #[serde(default)]
    pub priority: Option<Priority>,
}

impl NewRaidLogEntry {
    /// Returns the text of the entry.
    ///
    /// # Errors
    /// When it is blank, too long, or contains U+0000.
    pub fn text(&self) -> Result<String, GeneralRefusal> {
        let entry = validate_body("entry", &self.entry)?;
        if entry.len() > MAX_ENTRY_BYTES {
            let problem = format!("it has {} bytes, more than the {MAX_ENTRY_BYTES} allowed", entry.len());
            return Err(GeneralRefusal::invalid("entry", problem, "Write what was decided or found, and name the file with the details."));
        }
        Ok(entry)
    }
}

events! {
    /// A new entry. It never contains the text.
    RaidLogEvent {
        Logged "raid_logged" { entry: i64, priority: Priority }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_bounded_texts() {
        let text = |entry: String| NewRaidLogEntry { entry, priority: None }.text();
        assert_eq!(text("The port is taken".to_owned()).unwrap(), "The port is taken");
        assert!(text("x".repeat(MAX_ENTRY_BYTES)).is_ok());
        for bad in [String::new(), " ".to_owned(), "a\0".to_owned(), "x".repeat(MAX_ENTRY_BYTES + 1), "x".repeat(1 << 20)] {
            assert!(text(bad).is_err());
        }
    }

    #[test]
    fn filter_includes_what_matters_more() {
        assert_eq!(Priority::High.and_above().collect::<Vec<_>>(), [Priority::High, Priority::Critical]);
        assert_eq!(Priority::Low.and_above().count(), 4);
    }

    #[test]
    fn only_routine_ends_with_the_session() {
        let gone: Vec<Priority> = Priority::ALL.iter().copied().filter(|priority| !priority.outlives_session()).collect();
        assert_eq!(gone, [Priority::Low]);
    }
}
