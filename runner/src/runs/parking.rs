//! Parks all agents when a failure says nothing about its task, and lifts the parking when a run shows that agents can work.
//!
//! It must not decide which agents start meanwhile; the schedule does.

use std::time::Duration;

use db::Db;
use domain::runs::failure::{EndClass, FailureClass};
use domain::runs::parking::{ParkReason, Parking};
use domain::runs::run::Run;
use domain::time::Timestamp;

/// How long to park after a rate limit that names no end.
const DEFAULT_RATE_LIMIT: Duration = Duration::from_secs(300);
/// The limit may have ended by the time it is recorded.
const MIN_RATE_LIMIT: Duration = Duration::from_secs(5);

/// Parks all agents when the failure is not the task's, and returns the run's end class. `limited_until` is in seconds since the Unix
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
        db.park(Parking { reason, until: parked_until(reason, limited_until, db::now()), detail }).await?;
    }
    Ok(EndClass::Parked)
}

fn parked_until(reason: ParkReason, limited_until: Option<i64>, now: Timestamp) -> Timestamp {
    match (reason, limited_until) {
        (ParkReason::RateLimited, Some(seconds)) => {
            let reported = Timestamp::from_milliseconds(seconds.saturating_mul(1000));
            reported.clamp(now.after(MIN_RATE_LIMIT), now.after(reason.max_duration()))
        }
        (ParkReason::RateLimited, None) => now.after(DEFAULT_RATE_LIMIT),
        _ => now.after(reason.max_duration()),
    }
}

/// Lifts the parking for `reason`, because `run` has shown that its cause is gone. Only a probe shows that: a run from before the parking may
/// have got its last response before the outage.
///
/// # Errors
/// When the store fails.
pub(crate) async fn confirm_recovered(db: &Db, reason: ParkReason, run: &Run) -> db::Result<()> {
    // Read first: this is called often, and the parking rarely exists.
    if db.parkings().await?.iter().any(|parking| parking.reason == reason && run.started_at >= parking.until) {
        db.resume(reason).await?;
    }
    Ok(())
}
