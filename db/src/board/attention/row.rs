//! Reads the tasks that need attention. Must not know what settles it.

/// The condition on complete cards; finished ones can need attention too.
pub(crate) const NEEDING_ATTENTION: &str = "WHERE t.attention IS NOT NULL ORDER BY length(t.id), t.id";
