//! Parks all agents when a failure says nothing about its task, and lifts the parking when a run shows that agents can work.
//!
//! It must not decide which agents start meanwhile; the schedule does.

use std::time::Duration;

use db::Db;
use domain::runs::failure::{EndClass, FailureClass};
use domain::runs::parking::ParkReason;
use domain::runs::run::Run;
use domain::time::Timestamp;

/// The limit may have ended by the time it is recorded.
const MIN_RATE_LIMIT: Duration = Duration::from_secs(5);

/// Parks all agents when the failure of a run is not the task's, and returns the run's end class. `limited_until` is in seconds since the Unix
/// epoch.
///
/// # Errors
/// When the store fails.
pub(crate) async fn park(db: &Db, failure: FailureClass, limited_until: Option<i64>, error: Option<&str>) -> db::Result<EndClass> {
    let Some(reason) = failure.park_reason() else { return Ok(EndClass::Failed) };
    let limited_until = limited_until.filter(|_| reason == ParkReason::RateLimited).map(|seconds| limit_end(seconds, db::now()));
    db.park_after_run(reason, error.unwrap_or(reason.sentence()).to_owned(), limited_until).await?;
    Ok(EndClass::Parked)
}

fn limit_end(seconds: i64, now: Timestamp) -> Timestamp {
    let reported = Timestamp::from_milliseconds(seconds.saturating_mul(1000));
    reported.clamp(now.after(MIN_RATE_LIMIT), now.after(ParkReason::RateLimited.max_duration()))
}

/// Lifts the parkings whose cause is gone, because the model responded to `run`: the agent program works, is signed in and reaches the board
/// and the service. Only a probe shows that: a run from before the parking may have got its last response before the outage.
///
/// # Errors
/// When the store fails.
pub(crate) async fn confirm_service(db: &Db, run: &Run) -> db::Result<()> {
    confirm(db, run, |reason| reason != ParkReason::DiskFull).await
}

/// Lifts the parking for a full disk, because `run` ended without a failure. A start alone does not prove that the disk has room, because its
/// files are small.
///
/// # Errors
/// When the store fails.
pub(crate) async fn confirm_disk(db: &Db, run: &Run) -> db::Result<()> {
    confirm(db, run, |reason| reason == ParkReason::DiskFull).await
}

async fn confirm(db: &Db, run: &Run, is_over: impl Fn(ParkReason) -> bool) -> db::Result<()> {
    // Read first: this is called often, and a parking rarely exists.
    for parking in db.parkings().await? {
        if is_over(parking.reason) && run.started_at >= parking.until {
            db.resume(parking.reason).await?;
        }
    }
    Ok(())
}
