//! The raid log: what agents decided and found during a session, for those who come later.

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

#[cfg(test)]
mod tests {
    use super::*;

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
