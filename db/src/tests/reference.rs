//! References in repositories: ours only when written down.

use crate::tests::store::Store;

#[tokio::test]
async fn only_what_was_written_down_is_ours() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let seq = store.db.latest();
    let branch = "refs/heads/vr/TASK-001/work";
    assert!(!store.db.owns_reference("a/.git", branch).await.unwrap());
    store.db.own_reference("a/.git", branch, Some(&task)).await.unwrap();
    store.db.own_reference("a/.git", branch, None).await.unwrap();
    assert!(store.db.owns_reference("a/.git", branch).await.unwrap());
    assert!(!store.db.owns_reference("b/.git", branch).await.unwrap());
    assert_eq!(store.db.latest(), seq, "written before every branch: too frequent for the log");
}
