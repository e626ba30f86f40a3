//! How much of its context window an agent has left, which a raid calls its HP.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::refusal::general::GeneralRefusal;
use crate::time::Timestamp;
use crate::vocabulary::vocabulary;
use crate::warroom::class::AgentClass;
use crate::warroom::class::refusal::ClassRefusal;

vocabulary! {
    /// The use that an agent's remaining context still has.
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

    /// The same from the numbers of a report or a row.
    ///
    /// # Errors
    /// Also when a number is negative.
    pub fn from_counts(used: i64, limit: i64) -> Result<Self, GeneralRefusal> {
        let negative = |field, count: i64| GeneralRefusal::invalid(field, format!("{count} is negative"), "Give a number of tokens, such as 40000.");
        let used = u64::try_from(used).map_err(|_| negative("tokens_used", used))?;
        Self::new(used, u64::try_from(limit).map_err(|_| negative("tokens_limit", limit))?)
    }

    /// The same from what an agent program reports, which can be more than its window holds shortly before it compacts. None where nothing
    /// sensible is known.
    pub fn measured(used: i64, limit: i64) -> Option<Self> {
        Self::from_counts(used.min(limit), limit).ok()
    }

    pub const fn used(self) -> u64 {
        self.used
    }

    pub const fn limit(self) -> u64 {
        self.limit
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

impl Condition {
    /// The condition, unless plenty is left.
    pub fn unless_healthy(self) -> Option<Self> {
        Some(self).filter(|condition| *condition != Self::Healthy)
    }
}

/// The part of its context window that an agent has left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ContextLeft {
    pub tokens_used: u64,
    pub tokens_limit: u64,
    /// The remaining part in percent, rounded down.
    pub percent: u64,
    pub condition: Condition,
}

impl From<ContextUse> for ContextLeft {
    fn from(given: ContextUse) -> Self {
        Self { tokens_used: given.used(), tokens_limit: given.limit(), percent: given.percent_left(), condition: given.condition() }
    }
}

/// The report of an external agent about its own context.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContextReport {
    /// Its contents, in a few words.
    pub context: String,
    /// Without numbers, the earlier ones stay.
    pub tokens_used: Option<i64>,
    /// Without it, the earlier one stays.
    pub tokens_limit: Option<i64>,
}

impl ContextReport {
    /// The used part of the context after this report. `before` is that of the report before it.
    ///
    /// # Errors
    /// When the numbers are impossible, or there is no limit yet.
    pub fn context_use(&self, before: Option<ContextUse>) -> Result<Option<ContextUse>, GeneralRefusal> {
        let known = |count: Option<u64>| count.and_then(|count| i64::try_from(count).ok());
        let limit = self.tokens_limit.or(known(before.map(ContextUse::limit)));
        match (self.tokens_used, limit) {
            (None, _) if self.tokens_limit.is_none() => Ok(before),
            (_, None) => {
                Err(GeneralRefusal::invalid("tokens_limit", "it is missing", "Give the size of your context window in tokens, such as 200000."))
            }
            (used, Some(limit)) => {
                let used = used.or(known(before.map(ContextUse::used)));
                let missing = || GeneralRefusal::invalid("tokens_used", "it is missing", "Give the tokens of your context window that are in use.");
                ContextUse::from_counts(used.ok_or_else(missing)?, limit).map(Some)
            }
        }
    }
}

/// When an agent reported its own context last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LastReport {
    pub class: AgentClass,
    pub at: Timestamp,
}

impl LastReport {
    /// Whether the report is older than the class allows.
    pub fn is_due(self, now: Timestamp) -> bool {
        now.since(self.at) > self.class.report_due()
    }

    /// # Errors
    /// When the report is older than the class allows.
    pub fn require_fresh(self, now: Timestamp) -> Result<(), ClassRefusal> {
        if !self.is_due(now) {
            return Ok(());
        }
        let due_minutes = self.class.report_due().as_secs() / 60;
        Err(ClassRefusal::ReportDue { class: self.class, age_minutes: now.since(self.at).as_secs() / 60, due_minutes })
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
    fn measured_use_is_at_most_the_window() {
        let low = |used, limit| ContextUse::measured(used, limit).map(|given| given.condition().unless_healthy());
        assert_eq!((low(1, 100), low(60, 100)), (Some(None), Some(Some(Condition::Wounded))));
        assert_eq!((low(900, 100), low(1, 0), low(-1, 100)), (Some(Some(Condition::Critical)), None, None));
    }

    #[test]
    fn impossible_numbers_are_refused() {
        assert!(ContextUse::new(1, 0).is_err());
        assert!(ContextUse::new(200_001, 200_000).is_err());
        assert!(ContextUse::from_counts(-1, 200_000).is_err() && ContextUse::from_counts(0, -1).is_err());
    }

    #[test]
    fn numbers_that_a_report_omits_stay() {
        let report = |tokens_used, tokens_limit| ContextReport { context: "the parser".to_owned(), tokens_used, tokens_limit };
        let before = ContextUse::new(50, 100).ok();
        assert_eq!(report(None, None).context_use(None).unwrap(), None);
        assert_eq!(report(None, None).context_use(before).unwrap(), before);
        assert_eq!(report(Some(80), None).context_use(before).unwrap(), ContextUse::new(80, 100).ok());
        assert_eq!(report(None, Some(200)).context_use(before).unwrap(), ContextUse::new(50, 200).ok());
        for (used, limit, before) in [
            (Some(1), None, None),
            (None, Some(100), None),
            (Some(0), Some(0), before),
            (Some(-1), Some(100), before),
            (Some(101), None, before),
            (None, Some(49), before),
            (Some(1), Some(i64::MIN), before),
        ] {
            assert!(report(used, limit).context_use(before).is_err(), "{used:?} {limit:?}");
        }
    }

    #[test]
    fn report_is_due_after_the_time_of_its_class() {
        let at = Timestamp::from_milliseconds(0);
        for (class, minutes) in [(AgentClass::Coder, 5), (AgentClass::Lead, 15), (AgentClass::Oracle, 30)] {
            let report = LastReport { class, at };
            let after = |seconds: u64| report.require_fresh(at.after(std::time::Duration::from_secs(minutes * 60 + seconds)));
            assert_eq!(after(0), Ok(()));
            assert_eq!(after(61), Err(ClassRefusal::ReportDue { class, age_minutes: minutes + 1, due_minutes: minutes }));
        }
    }
}
