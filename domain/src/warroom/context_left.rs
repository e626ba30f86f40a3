//! How much of its context window an agent has left: its HP in the words of the raid.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::refusal::general::GeneralRefusal;
use crate::vocabulary::vocabulary;

vocabulary! {
    /// What an agent's remaining context is good for.
    Condition, "condition" {
        /// More than half is left.
        Healthy = "healthy",
        /// At most half: light tasks only.
        Wounded = "wounded",
        /// Less than a quarter: it should hand over to a fresh agent.
        Critical = "critical",
    }
}

/// The used part of a context window, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ContextUse {
    used: u64,
    limit: u64,
}

impl ContextUse {
    /// # Errors
    /// When the limit is zero, or more is used than the window holds.
    pub fn new(used: u64, limit: u64) -> Result<Self, GeneralRefusal> {
        if limit == 0 {
            return Err(GeneralRefusal::invalid("tokens_limit", "it is 0", "Give the size of your context window in tokens, such as 200000."));
        }
        if used > limit {
            let problem = format!("{used} is more than tokens_limit, {limit}");
            return Err(GeneralRefusal::invalid("tokens_used", problem, "Give the tokens of your context window that are in use."));
        }
        Ok(Self { used, limit })
    }

    /// The remaining part in percent, rounded down.
    pub const fn percent_left(self) -> u64 {
        ((self.limit - self.used) as u128 * 100 / self.limit as u128) as u64
    }

    pub const fn condition(self) -> Condition {
        // Compared without rounding: 50.4 % is more than half.
        let left = (self.limit - self.used) as u128 * 4;
        let limit = self.limit as u128;
        if left > 2 * limit {
            Condition::Healthy
        } else if left >= limit {
            Condition::Wounded
        } else {
            Condition::Critical
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn condition(used: u64, limit: u64) -> (u64, Condition) {
        let given = ContextUse::new(used, limit).expect("the numbers are valid");
        (given.percent_left(), given.condition())
    }

    #[test]
    fn condition_changes_at_a_half_and_a_quarter() {
        assert_eq!(condition(0, 200_000), (100, Condition::Healthy));
        assert_eq!(condition(99_999, 200_000), (50, Condition::Healthy));
        assert_eq!(condition(100_000, 200_000), (50, Condition::Wounded));
        assert_eq!(condition(150_000, 200_000), (25, Condition::Wounded));
        assert_eq!(condition(150_001, 200_000), (24, Condition::Critical));
        assert_eq!(condition(u64::MAX, u64::MAX), (0, Condition::Critical));
        assert_eq!(condition(0, u64::MAX), (100, Condition::Healthy));
    }

    #[test]
    fn impossible_numbers_are_refused() {
        assert!(ContextUse::new(1, 0).is_err());
        assert!(ContextUse::new(200_001, 200_000).is_err());
    }
}
