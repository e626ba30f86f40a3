//! The circuit breaker behind a parking: agent starts are suspended, the time is over, or one run probes for all.
//!
//! It must not know how an outage is detected, nor how it is lifted.

use domain::board::wait_reason::WaitReason;
use domain::runs::parking::{ParkReason, Parking};
use domain::time::Timestamp;

/// The effect of a parking on tasks that could start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BreakerState {
    /// No agent starts.
    Open,
    /// The parking is to be lifted, or its cause to be checked again.
    Expired,
    /// One agent starts as a probe: its run shows whether the others would succeed.
    HalfOpen,
}

pub(super) fn breaker_state(parking: &Parking, now: Timestamp) -> BreakerState {
    match parking {
        _ if !parking.has_expired(now) => BreakerState::Open,
        // A clock that ran ahead may have put `until` into the future; then no run could count as started since.
        Parking { until, .. } if parking.needs_probe() && *until <= now => BreakerState::HalfOpen,
        _ => BreakerState::Expired,
    }
}

/// Returns the wait reason for cards. It names an end time only for rate limits, because other times change with every check.
pub(super) fn wait_reason(parking: &Parking) -> WaitReason {
    let until = (parking.reason == ParkReason::RateLimited).then_some(parking.until);
    WaitReason::Parked { reason: parking.reason, until }
}
