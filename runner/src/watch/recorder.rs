//! When the usage of a run is recorded: at intervals within a turn, sooner after many requests, and at once at the end of a turn. Pure.
//!
//! It must not know the usage itself.

use std::time::Duration;

use tokio::time::Instant;

/// The shortest time between two records within a turn, because each is an event with the card.
const INTERVAL: Duration = Duration::from_secs(10);
/// The number of requests that do not wait for it, because limits are judged from the record.
const MAX_REQUESTS: i64 = 5;

#[derive(Debug)]
pub(super) struct UsageRecorder {
    started_at: Instant,
    is_pending: bool,
    /// The last record, and the number of requests that it included.
    recorded_at: Option<Instant>,
    recorded_turns: i64,
}

impl UsageRecorder {
    pub(super) fn new(now: Instant) -> Self {
        Self { started_at: now, is_pending: false, recorded_at: None, recorded_turns: 0 }
    }

    pub(super) fn request_made(&mut self) {
        self.is_pending = true;
    }

    /// The report of the turn corrects the estimate, so it does not wait.
    pub(super) fn turn_ended(&mut self) {
        (self.is_pending, self.recorded_at) = (true, None);
    }

    /// When the usage is recorded after so many requests.
    pub(super) fn due_at(&self, turns: i64) -> Option<Instant> {
        let waits = turns < self.recorded_turns + MAX_REQUESTS;
        self.is_pending.then(|| self.recorded_at.filter(|_| waits).map_or(self.started_at, |last| last + INTERVAL))
    }

    pub(super) fn recorded(&mut self, turns: i64, now: Instant) {
        (self.is_pending, self.recorded_at, self.recorded_turns) = (false, Some(now), turns);
    }
}
