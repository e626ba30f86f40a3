//! Counts for monitoring.

use domain::board::attention::AttentionKind;
use domain::board::status::Status;

use crate::Figures;
use crate::tests::store::Store;

#[tokio::test]
async fn tasks_are_counted_by_status() {
    let store = Store::board().await;
    assert_eq!(store.db.figures().await.unwrap(), Figures::default());
    for title in ["One", "Two"] {
        store.task(title).await;
    }
    let third = store.task("Three").await;
    store.cancel(&third, "obsolete").await;
    let fourth = store.task("Four").await;
    store.db.request_attention(&fourth, AttentionKind::Repository, "Look").await.unwrap();
    let figures = store.db.figures().await.unwrap();
    assert_eq!(figures.tasks, [(Status::Backlog, 3), (Status::Cancelled, 1)].into());
    assert_eq!(figures.needing_attention, 1);
}
