//! Parking: told when it changes, remembered until it is lifted.

use domain::park::{ParkReason, Parking};
use domain::time::Timestamp;

use crate::tests::store::Store;

#[tokio::test]
async fn parking_is_told_once_and_lifted_once() {
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
