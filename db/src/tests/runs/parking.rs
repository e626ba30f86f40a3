//! Parking: each change is recorded, and it lasts until lifted.

use std::time::Duration;

use domain::runs::parking::{ParkReason, Parking};
use domain::time::Timestamp;

use crate::tests::store::Store;

#[tokio::test]
async fn parking_is_recorded_once_and_lifted_once() {
    let store = Store::board().await;
    let seq = store.db.latest();
    let parking = |reason, milliseconds| (reason, Timestamp::from_milliseconds(milliseconds), "no key".to_owned(), 0);
    let stored = async || {
        let parkings = store.db.parkings().await.unwrap();
        parkings.into_iter().map(|Parking { reason, until, detail, failed_probes, .. }| (reason, until, detail, failed_probes)).collect::<Vec<_>>()
    };
    let (signed_out, missing) = (ParkReason::SignedOut, ParkReason::ProgramMissing);
    for (reason, milliseconds) in [(signed_out, 1_000), (signed_out, 1_000), (signed_out, 2_000), (missing, 5_000)] {
        store.db.park_after_check(reason, "no key".to_owned(), Timestamp::from_milliseconds(milliseconds)).await.unwrap();
    }
    assert_eq!(stored().await, [parking(missing, 5_000), parking(signed_out, 2_000)]);
    store.db.resume(signed_out).await.unwrap();
    store.db.resume(signed_out).await.unwrap();
    assert_eq!(stored().await, [parking(missing, 5_000)]);
    assert_eq!(store.kinds_since(seq).await, ["agents_parked", "agents_parked", "agents_parked", "agents_resumed"]);
    store.check_fold().await;
}

/// Three agents reach the same limit, and one of them learns of a longer one.
#[tokio::test]
async fn limit_lasts_until_its_latest_end() {
    let store = Store::board().await;
    let end = |seconds| crate::now().after(Duration::from_secs(seconds));
    let (short, long) = (end(600), end(7200));
    for until in [short, long, short] {
        store.db.park_after_run(ParkReason::RateLimited, "limit".to_owned(), Some(until)).await.unwrap();
    }
    let parking = store.db.parkings().await.unwrap().remove(0);
    assert_eq!((parking.until, parking.failed_probes), (long, 1));
}

/// The number of failed probes is stored, so the backoff survives restarts.
#[tokio::test]
async fn parking_backoff_grows_and_resets() {
    let store = Store::board().await;
    let reason = ParkReason::ServiceUnreachable;
    let until = async || store.db.parkings().await.unwrap().remove(0).until;
    let fail = async || {
        let before = crate::now();
        store.db.park_after_run(reason, "Connection error".to_owned(), None).await.unwrap();
        let pause = until().await.since(before);
        assert!(pause <= reason.max_duration());
        pause.as_secs()
    };
    let time_passes = async || {
        store.db.park_after_check(reason, "Connection error".to_owned(), crate::now().before(Duration::from_millis(1))).await.unwrap();
    };
    for expected in [10, 20, 40, 80, 160, 300, 300] {
        assert_eq!(fail().await, expected);
        let told = (until().await, store.db.latest());
        store.db.park_after_run(reason, "another agent's".to_owned(), None).await.unwrap();
        assert_eq!((until().await, store.db.latest()), told, "a failure during the pause belongs to a run that started before it");
        time_passes().await;
    }
    store.db.resume(reason).await.unwrap();
    assert_eq!(fail().await, 10);
    store.check_fold().await;
}
