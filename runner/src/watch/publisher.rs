//! When the activity line of a run is published: at once, but at most once in an interval. Pure.
//!
//! It must not know who reads the lines.

use std::time::Duration;

use tokio::time::Instant;

/// The shortest time between two activity lines of a run.
const INTERVAL: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
pub(super) struct ActivityPublisher {
    line: Option<String>,
    is_pending: bool,
    published_at: Option<Instant>,
}

impl ActivityPublisher {
    pub(super) fn set(&mut self, line: String) {
        (self.line, self.is_pending) = (Some(line), true);
    }

    /// Repeats the last line: open logs follow activity lines, and there are entries that have none.
    pub(super) fn repeat(&mut self) {
        self.is_pending = self.is_pending || self.line.is_some();
    }

    /// When [`Self::take`] returns a line that it holds back.
    pub(super) fn due_at(&self) -> Option<Instant> {
        self.published_at.filter(|_| self.is_pending).map(|last| last + INTERVAL)
    }

    /// The line to publish now.
    pub(super) fn take(&mut self, now: Instant) -> Option<String> {
        let is_due = self.is_pending && self.published_at.is_none_or(|last| now >= last + INTERVAL);
        if !is_due {
            return None;
        }
        (self.is_pending, self.published_at) = (false, Some(now));
        self.line.clone()
    }
}
