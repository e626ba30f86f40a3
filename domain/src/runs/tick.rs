//! Ticks: the passes of the runner since the server started, which show whether it works.

use std::time::Duration;

use crate::time::Timestamp;

/// The longest time between two passes of a runner that works, with a margin: it passes at least every 30 seconds.
const MAX_PAUSE: Duration = Duration::from_secs(90);

/// The passes that succeeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ticks {
    /// When the runner started.
    pub since: Timestamp,
    pub last_at: Option<Timestamp>,
    pub count: u64,
}

impl Ticks {
    /// Before the first pass.
    pub const fn new(since: Timestamp) -> Self {
        Self { since, last_at: None, count: 0 }
    }

    /// Whether the runner works.
    pub fn is_ticking(&self, now: Timestamp) -> bool {
        now.since(self.last_at.unwrap_or(self.since)) <= MAX_PAUSE
    }

    /// Counts a pass.
    pub const fn record(&mut self, at: Timestamp) {
        self.last_at = Some(at);
        self.count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runner_without_a_recent_pass_does_not_work() {
        let start = Timestamp::from_milliseconds(1_000_000);
        let (soon, late) = (start.after(MAX_PAUSE), start.after(MAX_PAUSE + Duration::from_millis(1)));
        let mut ticks = Ticks::new(start);
        assert!(ticks.is_ticking(soon) && !ticks.is_ticking(late), "the first pass is due");
        ticks.record(soon);
        assert!(ticks.is_ticking(late) && !ticks.is_ticking(late.after(MAX_PAUSE)));
    }
}
