//! How long nobody has been connected to an app. It must not look at connections itself.

use std::time::Duration;

use tokio::time::Instant;

/// The time without a connection after which an app is ended.
const LIMIT: Duration = Duration::from_secs(30 * 60);
/// The time between two looks at its connections.
const INTERVAL: Duration = Duration::from_secs(5);

/// The limit of an app, and the time between two looks at its connections.
#[derive(Debug, Clone, Copy)]
pub(in crate::runs::preview) struct IdleLimit {
    pub(in crate::runs::preview) limit: Duration,
    pub(in crate::runs::preview) interval: Duration,
}

impl Default for IdleLimit {
    fn default() -> Self {
        Self { limit: LIMIT, interval: INTERVAL }
    }
}

/// The last use of an app.
#[derive(Debug)]
pub(super) struct LastUse {
    limit: IdleLimit,
    used_at: Instant,
    looked_at: Instant,
}

impl LastUse {
    pub(super) fn new(limit: IdleLimit, now: Instant) -> Self {
        Self { limit, used_at: now, looked_at: now }
    }

    pub(super) fn used(&mut self, now: Instant) {
        self.used_at = now;
    }

    /// Whether nobody has been connected for too long. `is_connected` is asked when another look is due.
    pub(super) fn is_over(&mut self, now: Instant, is_connected: impl FnOnce() -> bool) -> bool {
        if now.duration_since(self.looked_at) <= self.limit.interval {
            return false;
        }
        self.looked_at = now;
        if is_connected() {
            self.used_at = now;
        }
        now.duration_since(self.used_at) > self.limit.limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);
    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn app_is_over_thirty_minutes_after_its_last_connection() {
        let start = Instant::now();
        let mut last = LastUse::new(IdleLimit::default(), start);
        assert!(!last.is_over(start + 29 * MINUTE, || false));
        assert!(!last.is_over(start + 30 * MINUTE, || false), "exactly the limit");
        assert!(last.is_over(start + 30 * MINUTE + 6 * SECOND, || false));
        assert!(!last.is_over(start + 31 * MINUTE, || true), "someone came back");
        assert!(!last.is_over(start + 61 * MINUTE, || false));
        last.used(start + 61 * MINUTE);
        assert!(!last.is_over(start + 91 * MINUTE, || false));
        assert!(last.is_over(start + 91 * MINUTE + 6 * SECOND, || false));
    }

    #[test]
    fn looks_at_connections_are_five_seconds_apart() {
        let start = Instant::now();
        let mut last = LastUse::new(IdleLimit::default(), start);
        let mut looks = 0;
        for quarter in 1..=120 {
            last.is_over(start + quarter * SECOND / 4, || {
                looks += 1;
                false
            });
        }
        assert_eq!(looks, 5, "in half a minute");
    }
}
