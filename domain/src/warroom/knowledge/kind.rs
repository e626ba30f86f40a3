//! The kinds and states of knowledge, and how much of it can be live. It must not know an item.

use crate::vocabulary::vocabulary;

/// The most items of a project that are neither archived nor resolved. Reads of them are bounded by it.
pub const MAX_LIVE: usize = 1_000;

vocabulary! {
    /// The kinds of knowledge.
    KnowledgeKind, "kind of knowledge" {
        /// A confirmed finding.
        Intel = "intel",
        /// A hazard that someone met.
        Trap = "trap",
        /// The notes of an agent for itself and its successors, confirmed or not.
        Note = "note",
    }
}

vocabulary! {
    /// Whether knowledge still holds.
    KnowledgeState, "state of knowledge" {
        Live = "live",
        /// Archived intel, or a resolved trap.
        Closed = "closed",
    }
}
