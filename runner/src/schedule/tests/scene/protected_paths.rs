//! Approved commits that change protected paths. Must not know what the schedule does with them.

use domain::runs::protected_paths::ProtectedChange;

use super::{Draft, Scene};

impl Draft {
    /// In review, approved by `name`.
    pub(in crate::schedule::tests) fn approved_by(self, name: &str) -> Self {
        self.approved().card(|card| card.contributors.approved_by = Some(name.to_owned()))
    }

    /// In review, approved by `name`, with a change of `CLAUDE.md`.
    pub(in crate::schedule::tests) fn approved_with_instructions(self, name: &str) -> Self {
        self.approved_by(name).card(|card| card.protected_paths = ProtectedChange::find(["CLAUDE.md".to_owned()], &["CLAUDE.md".to_owned()]))
    }
}

impl Scene {
    pub(in crate::schedule::tests) fn protected_paths_need_human(mut self) -> Self {
        self.config.protected_paths_need_human = true;
        self
    }
}
