//! How a reason that keeps every agent from starting stands: not over, over, or to be found out by one agent for all.
//!
//! Must not know how a reason is found, nor how it is lifted.

use domain::board::wait_reason::WaitReason;
use domain::runs::parking::{ParkReason, Parking};
use domain::time::Timestamp;

/// What a parking means for agents that could be started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stand {
    Closed,
    /// To be lifted, or looked at again.
    Over,
    /// One agent is let through: whether it gets on tells whether the others will.
    Trial,
}

pub(super) fn stand(parking: &Parking, now: Timestamp) -> Stand {
    match parking {
        _ if !parking.has_expired(now) => Stand::Closed,
        // Not one that a clock put hours ahead: nobody could be said to have begun since.
        Parking { reason, until, .. } if reason.needs_probe() && *until <= now => Stand::Trial,
        _ => Stand::Over,
    }
}

/// What the cards say that wait for it. Most times move with every look; on a card only that counts which is worth waiting for.
pub(super) fn why(parking: &Parking) -> WaitReason {
    let until = (parking.reason == ParkReason::RateLimited).then_some(parking.until);
    WaitReason::Parked { reason: parking.reason, until }
}
