//! Health: whether an agent still responds, judged from its last heartbeat.
//!
//! Must not read a clock: the caller passes the time.

use std::time::Duration;

use crate::time::Timestamp;
use crate::vocabulary::vocabulary;

vocabulary! {
    /// The time since an agent's last heartbeat, as a class.
    Health, "health" {
        /// Less than two minutes.
        Healthy = "healthy",
        /// Less than ten minutes.
        Stale = "stale",
        Dead = "dead",
        /// No heartbeat yet.
        Unknown = "unknown",
    }
}

impl Health {
    pub const STALE_AFTER: Duration = Duration::from_secs(2 * 60);
    pub const DEAD_AFTER: Duration = Duration::from_secs(10 * 60);

    pub fn of(last_heartbeat: Option<Timestamp>, now: Timestamp) -> Self {
        match last_heartbeat.map(|heartbeat| now.since(heartbeat)) {
            None => Self::Unknown,
            Some(age) if age < Self::STALE_AFTER => Self::Healthy,
            Some(age) if age < Self::DEAD_AFTER => Self::Stale,
            Some(_) => Self::Dead,
        }
    }

    /// Returns when a disconnected agent becomes unresponsive if it sends no heartbeat. For an agent without any heartbeat, count from
    /// `asked`. Never count time before `tracking_since`: earlier heartbeats are unknown.
    pub fn unresponsive_at(last_heartbeat: Option<Timestamp>, asked: Timestamp, tracking_since: Timestamp) -> Timestamp {
        last_heartbeat.unwrap_or(asked).max(tracking_since).after(Self::DEAD_AFTER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn health_changes_after_two_and_after_ten_minutes() {
        let heartbeat = Timestamp::from_milliseconds(1_000_000);
        let after = |seconds| Health::of(Some(heartbeat), heartbeat.after(Duration::from_secs(seconds)));
        assert_eq!(Health::of(None, heartbeat), Health::Unknown);
        assert_eq!([after(0), after(119), after(120), after(599), after(600)], {
            use Health::{Dead, Healthy, Stale};
            [Healthy, Healthy, Stale, Stale, Dead]
        });
    }

    #[test]
    fn disconnected_agent_is_unresponsive_after_ten_minutes() {
        let minute = |minute: u64| Timestamp::from_milliseconds(0).after(Duration::from_secs(minute * 60));
        let unresponsive_at =
            |heartbeat: Option<u64>, asked, tracking_since| Health::unresponsive_at(heartbeat.map(minute), minute(asked), minute(tracking_since));
        assert_eq!(unresponsive_at(Some(20), 25, 0), minute(30), "the last heartbeat counts, not the request after it");
        assert_eq!(unresponsive_at(None, 25, 0), minute(35), "without a heartbeat the request counts");
        assert_eq!(unresponsive_at(Some(20), 25, 60), minute(70), "heartbeats were not tracked before");
        assert_eq!(unresponsive_at(None, 25, 60), minute(70));
    }
}
