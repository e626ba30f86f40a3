//! Rate limits: how much a caller may write, search and send within a minute.
//!
//! Pure: the caller of a function passes the time. Must not know callers or requests.

use serde::{Deserialize, Serialize};

const MINUTE_MS: f64 = 60_000.0;
/// The error that adding and draining may cause.
const ROUNDING: f64 = 1e-6;

/// The configured limits of each caller. A limit that is null does not apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RateLimits {
    pub writes_per_minute: Option<u32>,
    pub searches_per_minute: Option<u32>,
    /// Of the bodies of requests.
    pub bytes_per_minute: Option<u32>,
}

impl Default for RateLimits {
    fn default() -> Self {
        Self { writes_per_minute: Some(3_000), searches_per_minute: Some(1_200), bytes_per_minute: Some(256 * 1024 * 1024) }
    }
}

impl RateLimits {
    pub const NONE: Self = Self { writes_per_minute: None, searches_per_minute: None, bytes_per_minute: None };

    /// Each limit by the name of its setting.
    pub const fn amounts(&self) -> [(&'static str, Option<u32>); 3] {
        [
            ("writes_per_minute", self.writes_per_minute),
            ("searches_per_minute", self.searches_per_minute),
            ("bytes_per_minute", self.bytes_per_minute),
        ]
    }
}

/// The cost of a request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cost {
    pub writes: u32,
    pub searches: u32,
    pub bytes: u32,
}

/// Why a request has to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooSoon {
    pub what: &'static str,
    /// Until the same request is accepted.
    pub seconds: u64,
}

/// The part of its limits that one caller used up. It drains steadily, all of a limit within a minute.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct RateUse {
    writes: f64,
    searches: f64,
    bytes: f64,
    at_ms: i64,
}

impl RateUse {
    /// Uses up `cost`, all of it or nothing.
    ///
    /// # Errors
    /// When a limit does not allow it yet. A request that is larger than a whole limit is allowed after a minute without any.
    pub fn spend(&mut self, limits: &RateLimits, cost: Cost, now_ms: i64) -> Result<(), TooSoon> {
        self.drain(limits, now_ms);
        check("writes", limits.writes_per_minute, self.writes, cost.writes)?;
        check("searches", limits.searches_per_minute, self.searches, cost.searches)?;
        check("bytes", limits.bytes_per_minute, self.bytes, cost.bytes)?;
        self.writes += f64::from(cost.writes);
        self.searches += f64::from(cost.searches);
        self.bytes += f64::from(cost.bytes);
        Ok(())
    }

    /// Whether nothing is used up, as if the caller had never called.
    pub fn is_idle(&mut self, limits: &RateLimits, now_ms: i64) -> bool {
        self.drain(limits, now_ms);
        self.writes <= 0.0 && self.searches <= 0.0 && self.bytes <= 0.0
    }

    fn drain(&mut self, limits: &RateLimits, now_ms: i64) {
        // The clock of the machine can be set back.
        let elapsed = now_ms.saturating_sub(self.at_ms).max(0) as f64;
        self.at_ms = now_ms;
        let drained = |used: f64, limit: Option<u32>| limit.map_or(0.0, |limit| (used - elapsed * f64::from(limit) / MINUTE_MS).max(0.0));
        self.writes = drained(self.writes, limits.writes_per_minute);
        self.searches = drained(self.searches, limits.searches_per_minute);
        self.bytes = drained(self.bytes, limits.bytes_per_minute);
    }
}

fn check(what: &'static str, limit: Option<u32>, used: f64, cost: u32) -> Result<(), TooSoon> {
    let Some(limit) = limit.map(f64::from) else { return Ok(()) };
    let excess = (used + f64::from(cost) - limit).min(used);
    if cost == 0 || excess <= ROUNDING {
        return Ok(());
    }
    Err(TooSoon { what, seconds: (excess * 60.0 / limit).ceil().max(1.0) as u64 })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LIMITS: RateLimits = RateLimits { writes_per_minute: Some(60), searches_per_minute: Some(6), bytes_per_minute: Some(600) };
    const WRITE: Cost = Cost { writes: 1, searches: 0, bytes: 0 };

    #[test]
    fn burst_of_a_minute_is_allowed_and_then_its_rate() {
        let mut used = RateUse::default();
        assert!((0..60).all(|_| used.spend(&LIMITS, WRITE, 0).is_ok()));
        assert_eq!(used.spend(&LIMITS, WRITE, 0), Err(TooSoon { what: "writes", seconds: 1 }));
        assert_eq!(used.spend(&LIMITS, WRITE, 999), Err(TooSoon { what: "writes", seconds: 1 }));
        assert_eq!(used.spend(&LIMITS, WRITE, 1_000), Ok(()), "the hint was true");
        assert!(used.spend(&LIMITS, WRITE, 1_000).is_err());
    }

    #[test]
    fn refused_request_uses_nothing_up() {
        let mut used = RateUse::default();
        let search = Cost { writes: 1, searches: 6, bytes: 1 };
        assert_eq!(used.spend(&LIMITS, search, 0), Ok(()));
        let before = used;
        assert_eq!(used.spend(&LIMITS, search, 0), Err(TooSoon { what: "searches", seconds: 60 }));
        assert_eq!(used, before);
        assert_eq!(used.spend(&LIMITS, WRITE, 0), Ok(()), "writes have a limit of their own");
    }

    #[test]
    fn request_above_a_whole_limit_waits_until_nothing_is_used() {
        let mut used = RateUse::default();
        let huge = Cost { writes: 0, searches: 0, bytes: 6_000 };
        assert_eq!(used.spend(&LIMITS, huge, 0), Ok(()));
        assert_eq!(used.spend(&LIMITS, huge, 0), Err(TooSoon { what: "bytes", seconds: 600 }));
        assert!(!used.is_idle(&LIMITS, 599_000));
        assert!(used.is_idle(&LIMITS, 600_000));
        assert_eq!(used.spend(&LIMITS, huge, 600_000), Ok(()));
        assert_eq!(RateUse::default().spend(&RateLimits::NONE, Cost { writes: u32::MAX, searches: 0, bytes: u32::MAX }, 0), Ok(()));
    }

    proptest! {
        #[test]
        fn never_more_than_the_limit_and_the_hint_is_true(steps in proptest::collection::vec((0..3_000_i64, 1..20_u32), 1..60)) {
            let (mut used, mut now, mut accepted) = (RateUse::default(), 0_i64, 0_u32);
            for (wait, writes) in steps {
                now += wait;
                let cost = Cost { writes, searches: 0, bytes: 0 };
                match used.spend(&LIMITS, cost, now) {
                    Ok(()) => accepted += writes,
                    Err(early) => {
                        let mut later = used;
                        prop_assert!(later.spend(&LIMITS, cost, now + i64::try_from(early.seconds).unwrap() * 1_000).is_ok());
                    }
                }
                prop_assert!(f64::from(accepted) <= 60.0 + now as f64 / 1_000.0 + 1e-6);
            }
        }
    }
}
