//! How long an agent may go on after it was told to hand over. Pure.
//!
//! It must not know why.

use std::time::Duration;

use tokio::time::Instant;

const GRACE: Duration = Duration::from_secs(300);
/// The same in an emergency.
const SHORT_GRACE: Duration = Duration::from_secs(120);
pub(super) const REQUESTS: i64 = 10;

#[derive(Debug, Clone, Copy)]
pub(super) struct HandOver {
    until: Instant,
    /// The number of requests of the run.
    until_turns: i64,
}

impl HandOver {
    /// The agent is told after it made `turns` requests.
    pub(super) fn new(turns: i64, now: Instant, is_emergency: bool) -> Self {
        Self { until: now + if is_emergency { SHORT_GRACE } else { GRACE }, until_turns: turns + REQUESTS }
    }

    pub(super) fn until(self) -> Instant {
        self.until
    }

    pub(super) fn is_used_up(self, turns: i64) -> bool {
        turns >= self.until_turns
    }
}
