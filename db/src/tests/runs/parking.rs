//! Parking: each change is recorded, and it lasts until lifted.

use std::time::Duration;

use domain::runs::parking::{ParkReason, Parking};
use domain::time::Timestamp;

use crate::tests::store::Store;

#[tokio::test]
async fn parking_is_recorded_once_and_lifted_once() {
    let store = Store::board().await;
    let seq = store.db.latest();
    let until = |milliseconds| Parking {
        reason: ParkReason::RateLimited,
        until: Timestamp::from_milliseconds(milliseconds),
        detail: "five-hour limit".to_owned(),
    };
    store.db.park(until(1_000)).await.unwrap();
    store.db.park(until(1_000)).await.unwrap();
    store.db.park(until(2_000)).await.unwrap();
    let signed_out = Parking { reason: ParkReason::SignedOut, ..until(5_000) };
    store.db.park(signed_out.clone()).await.unwrap();
    assert_eq!(store.db.parkings().await.unwrap(), [until(2_000), signed_out.clone()]);
    store.db.resume(ParkReason::RateLimited).await.unwrap();
    store.db.resume(ParkReason::RateLimited).await.unwrap();
    assert_eq!(store.db.parkings().await.unwrap(), [signed_out]);
    assert_eq!(store.kinds_since(seq).await, ["agents_parked", "agents_parked", "agents_parked", "agents_resumed"]);
    store.check_fold().await;
}

/// The number of failed probes is stored, so the backoff survives restarts.
#[tokio::test]
async fn parking_backoff_grows_and_resets() {
    let store = Store::board().await;
    let reason = ParkReason::ServiceUnreachable;
    let until = async || store.db.parkings().await.unwrap().remove(0).until;
    let fail = async || {
        let before = crate::now();
        store.db.park_with_backoff(reason, "Connection error".to_owned()).await.unwrap();
        let pause = until().await.since(before);
        assert!(pause <= reason.max_duration());
        pause.as_secs()
    };
    let time_passes = async || {
        let parking = Parking { until: crate::now().before(Duration::from_millis(1)), ..store.db.parkings().await.unwrap().remove(0) };
        store.db.park(parking).await.unwrap();
    };
    for expected in [10, 20, 40, 80, 160, 300, 300] {
        assert_eq!(fail().await, expected);
        let told = (until().await, store.db.latest());
        store.db.park_with_backoff(reason, "another agent's".to_owned()).await.unwrap();
        assert_eq!((until().await, store.db.latest()), told, "a failure during the pause belongs to a run that started before it");
        time_passes().await;
    }
    store.db.resume(reason).await.unwrap();
    assert_eq!(fail().await, 10);
    store.check_fold().await;
}
