//! How long an agent may go on after it was told to hand over. Pure.
//!
//! It must not know which limit was reached.

use std::time::Duration;

use tokio::time::Instant;

const GRACE: Duration = Duration::from_secs(300);
pub(super) const REQUESTS: i64 = 10;

#[derive(Debug, Clone, Copy)]
pub(super) struct HandOver {
    until: Instant,
    /// The number of requests of the run.
    until_turns: i64,
}

impl HandOver {
    /// The agent is told after it made `turns` requests.
    pub(super) fn new(turns: i64, now: Instant) -> Self {
        Self { until: now + GRACE, until_turns: turns + REQUESTS }
    }

    pub(super) fn until(self) -> Instant {
        self.until
    }

    pub(super) fn is_used_up(self, turns: i64) -> bool {
        turns >= self.until_turns
    }
}
