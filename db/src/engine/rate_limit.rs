//! Limits the rate of each caller, in memory. Its size is bounded by the number of callers of the last minutes.
//!
//! Must not know what a request does; it is told the cost.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use domain::rate_limit::{Cost, RateLimits, RateUse};
use domain::refusal::GeneralRefusal;

/// Above this number of callers, those that used nothing up are forgotten.
const MIN_SWEEP: usize = 256;

#[derive(Debug, Clone)]
pub(crate) struct RateLimiter {
    limits: RateLimits,
    callers: Arc<Mutex<Callers>>,
}

#[derive(Debug)]
struct Callers {
    used: HashMap<String, RateUse>,
    /// The number of callers at which the idle ones are forgotten, so that a sweep costs each call little.
    sweep_at: usize,
}

impl RateLimiter {
    pub(crate) fn new(limits: RateLimits) -> Self {
        Self { limits, callers: Arc::new(Mutex::new(Callers { used: HashMap::new(), sweep_at: MIN_SWEEP })) }
    }

    /// Counts a request of the caller with this key.
    pub(crate) fn spend(&self, key: String, cost: Cost, now_ms: i64) -> Result<(), GeneralRefusal> {
        if self.limits == RateLimits::NONE {
            return Ok(());
        }
        let mut callers = self.callers.lock().unwrap_or_else(PoisonError::into_inner);
        if callers.used.len() >= callers.sweep_at {
            callers.used.retain(|_, used| !used.is_idle(&self.limits, now_ms));
            callers.sweep_at = MIN_SWEEP.max(2 * callers.used.len());
        }
        let spent = callers.used.entry(key).or_default().spend(&self.limits, cost, now_ms);
        spent.map_err(|early| GeneralRefusal::RateLimited { what: early.what, seconds: early.seconds })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_callers_are_forgotten_and_busy_ones_are_not() {
        let limiter = RateLimiter::new(RateLimits { writes_per_minute: Some(1), ..RateLimits::NONE });
        let write = Cost { writes: 1, ..Cost::default() };
        for second in 0..100_000 {
            limiter.spend(format!("agent-{second}"), write, second * 1_000).unwrap();
            assert!(limiter.callers.lock().unwrap().used.len() <= MIN_SWEEP);
        }
        let now = 100_000_000;
        limiter.spend("greedy".to_owned(), write, now).unwrap();
        for number in 0..1_000 {
            limiter.spend(format!("other-{number}"), write, now).unwrap();
        }
        assert!(limiter.spend("greedy".to_owned(), write, now).is_err(), "a sweep forgives nothing");
    }
}
