//! Ticks: the passes of the runner since the server started, which show whether it works.

use crate::time::Timestamp;

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

    /// Counts a pass.
    pub const fn record(&mut self, at: Timestamp) {
        self.last_at = Some(at);
        self.count += 1;
    }
}
