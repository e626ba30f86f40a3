//! Battle plans: what the leads of a project want to reach, and in which order. One is active for each scope.

use crate::vocabulary::vocabulary;

vocabulary! {
    /// Whether a plan is what agents work on.
    BattlePlanStatus, "status of a battle plan" {
        /// What the current session is for.
        Active = "active",
        /// A newer plan took its place.
        Superseded = "superseded",
        /// The session ended and reached its goals.
        Completed = "completed",
        /// The session ended without reaching them.
        Abandoned = "abandoned",
        /// What was wanted changed.
        Obsolete = "obsolete",
    }
}

impl BattlePlanStatus {
    /// Whether a lead may set it by hand. A new plan of the same scope supersedes the active one, and a plan that ended stays ended.
    pub const fn can_become(self, next: Self) -> bool {
        matches!(self, Self::Active) && matches!(next, Self::Completed | Self::Abandoned | Self::Obsolete)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_active_plan_ends_by_hand() {
        let all = || BattlePlanStatus::ALL.iter().copied();
        let legal: Vec<(&str, &str)> =
            all().flat_map(|from| all().filter(move |to| from.can_become(*to)).map(move |to| (from.as_str(), to.as_str()))).collect();
        assert_eq!(legal, [("active", "completed"), ("active", "abandoned"), ("active", "obsolete")]);
    }
}
