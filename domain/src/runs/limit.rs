//! Limits: how much time, requests and money agents may use, and how much of that is used.
//!
//! Must not know where usage is stored, or what happens when a limit is reached.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use utoipa::ToSchema;

use crate::event::kinds::events;
use crate::runs::failure::FailureClass;
use crate::runs::usage::{UsageSums, money, tokens};
use crate::vocabulary::vocabulary;

/// The percentage of a limit from which it is nearly used up.
const NEAR_PERCENT: i128 = 80;

/// An amount of money in millionths of a US dollar; in the configuration, a number of dollars.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Usd(i64);

impl Usd {
    pub const fn micro(amount: i64) -> Self {
        Self(amount)
    }

    pub const fn micro_usd(self) -> i64 {
        self.0
    }
}

impl Serialize for Usd {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0 % 1_000_000 == 0 { serializer.serialize_i64(self.0 / 1_000_000) } else { serializer.serialize_f64(self.0 as f64 / 1e6) }
    }
}

impl<'de> Deserialize<'de> for Usd {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let dollars = f64::deserialize(deserializer)?;
        Ok(Self((dollars * 1e6).round() as i64))
    }
}

/// The configured limits. A limit that is null does not apply. Tokens count only where no price is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// How long one run may work. Time in which the machine is suspended does not count.
    pub run_minutes: Option<u32>,
    /// Requests of one run to its model.
    pub run_turns: Option<u32>,
    pub run_cost_usd: Option<Usd>,
    pub run_tokens: Option<u64>,
    /// How full the conversation of one run may become, in percent of what its model can read. Its task then goes on in a new session.
    pub run_context_percent: Option<u32>,
    pub task_cost_usd: Option<Usd>,
    pub task_tokens: Option<u64>,
    /// The budget of a project that has none of its own.
    pub project_cost_usd: Option<Usd>,
    pub project_tokens: Option<u64>,
    /// All projects together, on one day in UTC.
    pub day_cost_usd: Option<Usd>,
    pub day_tokens: Option<u64>,
}

impl Default for Limits {
    fn default() -> Self {
        let (usd, million) = (|dollars: i64| Some(Usd(dollars * 1_000_000)), |count: u64| Some(count * 1_000_000));
        Self {
            run_minutes: Some(240),
            run_turns: Some(1000),
            run_cost_usd: usd(25),
            run_tokens: million(50),
            // Claude Code shortens a conversation by itself at about 84 percent.
            run_context_percent: Some(75),
            task_cost_usd: usd(50),
            task_tokens: million(100),
            project_cost_usd: usd(100),
            project_tokens: million(200),
            day_cost_usd: usd(200),
            day_tokens: million(400),
        }
    }
}

vocabulary! {
    /// The subject of a limit.
    LimitScope, "scope of a limit" {
        Run = "run",
        Task = "task",
        Project = "project",
        /// All projects on one day in UTC.
        Day = "day",
    }
}

vocabulary! {
    /// The measure of a limit.
    LimitMeasure, "measure of a limit" {
        /// In seconds.
        Time = "time",
        /// Requests to a model.
        Turns = "turns",
        /// In millionths of a US dollar.
        Cost = "cost",
        Tokens = "tokens",
        /// The size of the conversation in tokens.
        Context = "context",
    }
}

/// How much of a limit is used, in the unit of its measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LimitUse {
    pub scope: LimitScope,
    pub measure: LimitMeasure,
    pub used: i64,
    pub limit: i64,
}

impl LimitUse {
    pub const fn is_reached(&self) -> bool {
        self.used >= self.limit
    }

    /// Whether the limit is nearly used up, but not reached. No human needs to know that a conversation is.
    pub fn is_near(&self) -> bool {
        self.measure != LimitMeasure::Context && !self.is_reached() && i128::from(self.used) * 100 >= i128::from(self.limit) * NEAR_PERCENT
    }

    /// Describes the use: "the project used $8.10 of $10.00".
    pub fn sentence(&self) -> String {
        if self.measure == LimitMeasure::Context {
            return format!("the conversation has {}, and a new one starts at {}", self.amount(self.used), self.amount(self.limit));
        }
        let subject = match self.scope {
            LimitScope::Run => "the attempt",
            LimitScope::Task => "the task",
            LimitScope::Project => "the project",
            LimitScope::Day => "all projects together",
        };
        let today = if self.scope == LimitScope::Day { " today" } else { "" };
        format!("{subject} used {} of {}{today}", self.amount(self.used), self.amount(self.limit))
    }

    fn amount(&self, amount: i64) -> String {
        match self.measure {
            LimitMeasure::Time => minutes(amount),
            LimitMeasure::Turns => format!("{amount} requests"),
            LimitMeasure::Cost => money(amount).unwrap_or_else(|| "$0.00".to_owned()),
            LimitMeasure::Tokens | LimitMeasure::Context => format!("{} tokens", tokens(amount)),
        }
    }

    /// Returns the failure of a run that ended because of this limit.
    pub const fn failure(&self) -> FailureClass {
        match self.measure {
            LimitMeasure::Time => FailureClass::TimedOut,
            LimitMeasure::Turns => FailureClass::MaxTurns,
            LimitMeasure::Cost | LimitMeasure::Tokens => FailureClass::Budget,
            LimitMeasure::Context => FailureClass::ContextFull,
        }
    }
}

fn minutes(seconds: i64) -> String {
    match seconds / 60 {
        0 => format!("{seconds} s"),
        minutes @ 1..60 => format!("{minutes} min"),
        minutes => format!("{} h {:02} min", minutes / 60, minutes % 60),
    }
}

impl Limits {
    /// Returns all keys with their values.
    pub fn amounts(&self) -> [(&'static str, Option<i64>); 11] {
        let tokens = |count: Option<u64>| count.map(|count| i64::try_from(count).unwrap_or(i64::MAX));
        let usd = |amount: Option<Usd>| amount.map(Usd::micro_usd);
        [
            ("run_minutes", self.run_minutes.map(i64::from)),
            ("run_turns", self.run_turns.map(i64::from)),
            ("run_cost_usd", usd(self.run_cost_usd)),
            ("run_tokens", tokens(self.run_tokens)),
            ("run_context_percent", self.run_context_percent.map(i64::from)),
            ("task_cost_usd", usd(self.task_cost_usd)),
            ("task_tokens", tokens(self.task_tokens)),
            ("project_cost_usd", usd(self.project_cost_usd)),
            ("project_tokens", tokens(self.project_tokens)),
            ("day_cost_usd", usd(self.day_cost_usd)),
            ("day_tokens", tokens(self.day_tokens)),
        ]
    }

    /// Returns the use of the limits of one run. `context` is the size of its conversation and what its model can read, in tokens.
    pub fn of_run(&self, used: UsageSums, worked: Duration, context: Option<(i64, i64)>) -> Vec<LimitUse> {
        let part = |measure, used, limit: Option<i64>| limit.map(|limit| LimitUse { scope: LimitScope::Run, measure, used, limit });
        let seconds = i64::try_from(worked.as_secs()).unwrap_or(i64::MAX);
        let time = part(LimitMeasure::Time, seconds, self.run_minutes.map(|minutes| i64::from(minutes) * 60));
        let turns = part(LimitMeasure::Turns, used.turns, self.run_turns.map(i64::from));
        let spent = spending(LimitScope::Run, used, self.run_cost_usd, self.run_tokens, 0);
        let context = context.and_then(|(size, window)| {
            part(LimitMeasure::Context, size, self.run_context_percent.map(|percent| window.saturating_mul(i64::from(percent)) / 100))
        });
        // The human's limits come first: a new session would reach them too.
        [time, turns, spent, context].into_iter().flatten().collect()
    }

    /// Returns the use of the limit of a task, which was raised `raises` times. A raise adds the original limit once more.
    pub fn of_task(&self, used: UsageSums, raises: u32) -> Option<LimitUse> {
        spending(LimitScope::Task, used, self.task_cost_usd, self.task_tokens, raises)
    }

    /// Returns the use of the budget of a project: its own, or the configured one.
    pub fn of_project(&self, used: UsageSums, own_micro_usd: Option<i64>, raises: u32) -> Option<LimitUse> {
        spending(LimitScope::Project, used, own_micro_usd.map(Usd).or(self.project_cost_usd), self.project_tokens, raises)
    }

    /// Returns the use of the limit of one day.
    pub fn of_day(&self, used: UsageSums, raises: u32) -> Option<LimitUse> {
        spending(LimitScope::Day, used, self.day_cost_usd, self.day_tokens, raises)
    }
}

/// The use of a limit of money, or of tokens where nothing has a price. Before anything is used, a limit of money shows what applies.
fn spending(scope: LimitScope, used: UsageSums, cost: Option<Usd>, tokens: Option<u64>, raises: u32) -> Option<LimitUse> {
    let is_unused = used.cost_micro_usd == 0 && used.tokens() == 0;
    let (measure, used, limit) = if used.cost_micro_usd > 0 || (is_unused && cost.is_some()) {
        (LimitMeasure::Cost, used.cost_micro_usd, cost?.0)
    } else {
        (LimitMeasure::Tokens, used.tokens(), i64::try_from(tokens?).unwrap_or(i64::MAX))
    };
    Some(LimitUse { scope, measure, used, limit: limit.saturating_mul(i64::from(raises) + 1) })
}

events! {
    /// A change of the state of a limit.
    LimitEvent {
        /// 80 percent of a limit is used. Recorded once until the limit is raised.
        Near "limit_near" { limit: LimitUse }
        Raised "limit_raised" { scope: LimitScope }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(cost_micro_usd: i64, input_tokens: i64, turns: i64) -> UsageSums {
        UsageSums { cost_micro_usd, input_tokens, turns, ..UsageSums::default() }
    }

    #[test]
    fn limit_is_near_from_eighty_percent_and_reached_at_all() {
        let state = |used| {
            let limit = LimitUse { scope: LimitScope::Task, measure: LimitMeasure::Cost, used, limit: 10 };
            (limit.is_near(), limit.is_reached())
        };
        assert_eq!([7, 8, 9, 10, 11].map(state), [(false, false), (true, false), (true, false), (false, true), (false, true)]);
    }

    #[test]
    fn tokens_count_only_without_a_price() {
        let limits = Limits::default();
        let measure = |used| limits.of_task(used, 0).map(|limit| (limit.measure, limit.limit));
        assert_eq!(measure(used(0, 5, 1)), Some((LimitMeasure::Tokens, 100_000_000)));
        assert_eq!(measure(used(1, 5, 1)), Some((LimitMeasure::Cost, 50_000_000)));
        assert_eq!(measure(used(0, 0, 0)), Some((LimitMeasure::Cost, 50_000_000)), "a fresh task shows its money");
        let limits = Limits { task_cost_usd: None, ..Limits::default() };
        assert_eq!(limits.of_task(used(1, 5, 1), 0), None, "the limit of tokens does not replace one of money");
        assert_eq!(limits.of_task(used(0, 0, 0), 0).map(|limit| limit.measure), Some(LimitMeasure::Tokens));
    }

    #[test]
    fn raise_adds_the_limit_once_more() {
        let limit = |own, raises| Limits::default().of_project(used(1, 0, 0), own, raises).unwrap().limit;
        assert_eq!([limit(None, 0), limit(None, 1), limit(Some(7), 0), limit(Some(7), 2)], [100_000_000, 200_000_000, 7, 21]);
    }

    #[test]
    fn each_measure_of_a_run_has_its_words_and_its_failure() {
        let uses = Limits::default().of_run(used(8_100_000, 0, 12), Duration::from_secs(3 * 3600 + 300), Some((151_000, 200_000)));
        assert_eq!(uses.iter().map(LimitUse::is_reached).collect::<Vec<_>>(), [false, false, false, true]);
        let words: Vec<_> = uses.iter().map(|limit| (limit.sentence(), limit.failure())).collect();
        let expected = [
            ("the attempt used 3 h 05 min of 4 h 00 min", FailureClass::TimedOut),
            ("the attempt used 12 requests of 1000 requests", FailureClass::MaxTurns),
            ("the attempt used $8.10 of $25.00", FailureClass::Budget),
            ("the conversation has 151.0k tokens, and a new one starts at 150.0k tokens", FailureClass::ContextFull),
        ];
        assert_eq!(words, expected.map(|(words, failure)| (words.to_owned(), failure)));
        let day = Limits::default().of_day(used(0, 1_000_000, 0), 0).unwrap();
        assert_eq!(day.sentence(), "all projects together used 1.0M tokens of 400.0M tokens today");
        assert_eq!([0, 59, 60, 3_599].map(minutes), ["0 s", "59 s", "1 min", "59 min"]);
    }

    #[test]
    fn money_is_written_in_dollars() {
        let round_trip = |text: &str| serde_json::to_string(&serde_json::from_str::<Usd>(text).unwrap()).unwrap();
        assert_eq!(["25", "0.05", "0"].map(round_trip), ["25", "0.05", "0"]);
    }
}
