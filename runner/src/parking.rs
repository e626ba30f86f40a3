//! Parks every agent when a failure says nothing about a task, and lets them go on when it is seen that they can.
//!
//! Who starts meanwhile is the plan's to decide.

use std::time::Duration;

use db::Db;
use domain::runs::failure::{EndClass, FailureClass};
use domain::runs::parking::{ParkReason, Parking};
use domain::time::Timestamp;

const RATE_LIMIT_GUESS: Duration = Duration::from_secs(300);
/// A limit may be lifted before it was recorded.
const SHORTEST_RATE_LIMIT: Duration = Duration::from_secs(5);

/// Parks every agent when the failure is not the task's, and says how the run ended then. `limited_until` is in seconds since the Unix
/// epoch.
///
/// # Errors
/// When the store fails.
pub(crate) async fn park(db: &Db, failure: FailureClass, limited_until: Option<i64>, error: Option<&str>) -> db::Result<EndClass> {
    let Some(reason) = failure.park_reason() else { return Ok(EndClass::Failed) };
    let detail = error.unwrap_or(reason.sentence()).to_owned();
    if reason.needs_probe() {
        db.park_with_backoff(reason, detail).await?;
    } else {
        db.park(Parking { reason, until: until(reason, limited_until, db::now()), detail }).await?;
    }
    Ok(EndClass::Parked)
}

fn until(reason: ParkReason, limited_until: Option<i64>, now: Timestamp) -> Timestamp {
    match (reason, limited_until) {
        (ParkReason::RateLimited, Some(seconds)) => {
            let told = Timestamp::from_milliseconds(seconds.saturating_mul(1000));
            told.clamp(now.after(SHORTEST_RATE_LIMIT), now.after(reason.max_duration()))
        }
        (ParkReason::RateLimited, None) => now.after(RATE_LIMIT_GUESS),
        _ => now.after(reason.max_duration()),
    }
}

/// Notes that what `reason` kept from working was seen to work.
///
/// # Errors
/// When the store fails.
pub(crate) async fn works(db: &Db, reason: ParkReason) -> db::Result<()> {
    // Asked first, because it is noted often and is news seldom.
    if db.parkings().await?.iter().any(|parking| parking.reason == reason) {
        db.resume(reason).await?;
    }
    Ok(())
}
