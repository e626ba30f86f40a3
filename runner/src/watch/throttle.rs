//! How often a run's agent may be interrupted, and how often a failed delivery is retried. Pure.

use std::time::Duration;

use tokio::time::Instant;

/// Between two interruptions by participants who are not leads. The human and leads may always interrupt; the limit does not count
/// them.
pub(super) const INTERRUPTION_INTERVAL: Duration = Duration::from_secs(60);
const FIRST_RETRY: Duration = Duration::from_secs(1);
const MAX_RETRY: Duration = Duration::from_secs(60);

#[derive(Debug, Clone, Default)]
pub(super) struct DeliveryThrottle {
    /// When someone who is not a lead last interrupted the agent.
    interrupted_at: Option<Instant>,
    /// Failed deliveries in a row, and when the next one is tried.
    failures: u32,
    retry_at: Option<Instant>,
}

impl DeliveryThrottle {
    /// When the agent may be interrupted, which may be in the past.
    pub(super) fn due(&self, urgent: bool, now: Instant) -> Instant {
        match self.interrupted_at {
            Some(at) if !urgent => at + INTERRUPTION_INTERVAL,
            _ => now,
        }
    }

    /// The end of the pause after a failed delivery, while it lasts.
    pub(super) fn blocked_until(&self, now: Instant) -> Option<Instant> {
        self.retry_at.filter(|until| now < *until)
    }

    pub(super) fn record_interruption(&mut self, now: Instant) {
        self.interrupted_at = Some(now);
    }

    pub(super) fn record_attempt(&mut self, accepted: bool, now: Instant) {
        if accepted {
            (self.failures, self.retry_at) = (0, None);
        } else {
            self.retry_at = Some(now + FIRST_RETRY.saturating_mul(1 << self.failures.min(6)).min(MAX_RETRY));
            self.failures = self.failures.saturating_add(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_interrupt_once_a_minute_and_leads_at_any_time() {
        let now = Instant::now();
        let second = Duration::from_secs(1);
        assert_eq!(DeliveryThrottle::default().due(false, now), now);
        let mut throttle = DeliveryThrottle::default();
        throttle.record_interruption(now);
        assert_eq!(throttle.due(false, now + second), now + INTERRUPTION_INTERVAL);
        assert_eq!(throttle.due(true, now + second), now + second);
        assert!(throttle.due(false, now + 2 * INTERRUPTION_INTERVAL) <= now + 2 * INTERRUPTION_INTERVAL);
    }

    #[test]
    fn retry_delay_grows_and_resets_after_success() {
        let now = Instant::now();
        let mut throttle = DeliveryThrottle::default();
        assert_eq!(throttle.blocked_until(now), None);
        let delays: Vec<u64> = (0..9)
            .map(|_| {
                throttle.record_attempt(false, now);
                throttle.blocked_until(now).unwrap().duration_since(now).as_secs()
            })
            .collect();
        assert_eq!(delays, [1, 2, 4, 8, 16, 32, 60, 60, 60]);
        assert_eq!(throttle.blocked_until(now + MAX_RETRY), None, "the pause is over");
        throttle.record_attempt(true, now);
        assert_eq!(throttle.blocked_until(now), None);
        throttle.record_attempt(false, now);
        assert_eq!(throttle.blocked_until(now), Some(now + FIRST_RETRY));
    }
}
