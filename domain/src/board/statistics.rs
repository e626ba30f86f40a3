//! Statistics of a project: what each kind of agent consumed and finished on each day.
//!
//! Must not know how the sums are kept.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::runs::agent_kind::AgentKind;
use crate::runs::usage::UsageSums;
use crate::time::Timestamp;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// `GET /api/projects/{id}/statistics`: the last days, the earliest first. Days are dates in UTC.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ProjectStatistics {
    /// The first and the last day of the period, such as `2026-01-31`.
    pub since: String,
    pub until: String,
    /// The days and kinds of agents with any figure.
    pub days: Vec<DayStatistics>,
}

/// The figures of one day and one kind of agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DayStatistics {
    pub day: String,
    pub phase: AgentKind,
    #[serde(flatten)]
    pub usage: UsageSums,
    /// How many of its tasks became done. A task that was reopened counts again.
    pub finished: u32,
    /// How many of them had a managed agent, and so are part of the times.
    pub timed: u32,
    /// From the start of the first agent of each such task until it was done, in seconds together.
    pub cycle_seconds: i64,
    /// The part of it in which no agent worked on the task.
    pub wait_seconds: i64,
}

impl DayStatistics {
    /// A day without any figure.
    pub fn of(day: String, phase: AgentKind) -> Self {
        Self { day, phase, usage: UsageSums::default(), finished: 0, timed: 0, cycle_seconds: 0, wait_seconds: 0 }
    }
}

impl ProjectStatistics {
    /// Every day of the period.
    pub fn all_days(&self) -> Vec<String> {
        let mut days = vec![self.since.clone()];
        let mut at: Option<Timestamp> = format!("{}T00:00:00.000Z", self.since).parse().ok();
        while let Some(next) = at.map(|at| at.after(DAY)).filter(|next| next.day() <= self.until) {
            days.push(next.day());
            at = Some(next);
        }
        days
    }
}

/// Returns the first day of a period of so many days that ends with `now`.
pub fn first_day(now: Timestamp, days: u32) -> String {
    now.before(DAY * days.saturating_sub(1)).day()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn period_has_every_day_once() {
        let now: Timestamp = "2026-03-01T10:00:00.000Z".parse().unwrap();
        let statistics = ProjectStatistics { since: first_day(now, 3), until: now.day(), days: Vec::new() };
        assert_eq!(statistics.all_days(), ["2026-02-27", "2026-02-28", "2026-03-01"]);
        assert_eq!(first_day(now, 1), now.day());
        let broken = ProjectStatistics { since: "soon".to_owned(), ..statistics };
        assert_eq!(broken.all_days(), ["soon"]);
    }
}
