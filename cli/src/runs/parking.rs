//! Says on the terminal and in the log when agent starts are parked, and when they resume. Must not know why.

use db::Db;
use domain::runs::parking::{ParkReason, Parking};

use crate::output;

/// Prints one line for each change, from the state at the start on, until the store closes.
pub(crate) async fn announce(db: Db) {
    let mut commits = db.subscribe();
    let mut known = Vec::new();
    loop {
        commits.borrow_and_update();
        match db.parkings().await {
            Ok(current) => {
                for line in changes(&known, &current) {
                    output::line(&line);
                    tracing::info!("{line}");
                }
                known = current.iter().map(|parking| parking.reason).collect();
            }
            Err(error) => tracing::warn!(error = &error as &dyn std::error::Error, "the parkings could not be read"),
        }
        if commits.changed().await.is_err() {
            return;
        }
    }
}

/// The lines for what differs. A parking that is only prolonged is not repeated.
fn changes(known: &[ParkReason], current: &[Parking]) -> Vec<String> {
    let parked = current.iter().filter(|parking| !known.contains(&parking.reason)).map(|parking| {
        let Parking { reason, until, detail, .. } = parking;
        format!("parked: {}, next check at {}: {}", reason.sentence(), until.clock(), domain::text::excerpt(detail, 200))
    });
    let is_over = |reason: &&ParkReason| !current.iter().any(|parking| parking.reason == **reason);
    let resumed = known.iter().filter(is_over).map(|reason| format!("resumed: agents start again ({} before)", reason.sentence()));
    parked.chain(resumed).collect()
}

#[cfg(test)]
mod tests {
    use domain::time::Timestamp;

    use super::*;

    #[test]
    fn each_change_has_one_line() {
        let parking = |reason, until: &str| Parking {
            reason,
            since: Timestamp::from_milliseconds(0),
            until: until.parse().unwrap(),
            detail: "Line 1\nLine 2".to_owned(),
            failed_probes: 0,
        };
        let first = [parking(ParkReason::RateLimited, "2026-01-02T14:05:00Z")];
        let lines = changes(&[], &first);
        assert_eq!(lines, ["parked: rate limited, next check at 14:05 UTC: Line 1…"]);
        let prolonged = [parking(ParkReason::RateLimited, "2026-01-02T15:05:00Z")];
        assert_eq!(changes(&[ParkReason::RateLimited], &prolonged), [""; 0]);
        let other = [parking(ParkReason::DiskFull, "2026-01-02T15:05:00Z")];
        let lines = changes(&[ParkReason::RateLimited], &other);
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[1], "resumed: agents start again (rate limited before)");
    }
}
