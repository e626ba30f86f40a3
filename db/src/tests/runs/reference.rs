//! References in repositories: ours only if recorded.

use domain::runs::agent_kind::AgentKind;

use crate::tests::store::Store;

#[tokio::test]
async fn only_recorded_references_are_ours() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let seq = store.db.latest();
    let branch = "refs/heads/vr/TASK-001/work";
    assert!(!store.db.owns_reference("a/.git", branch).await.unwrap());
    store.db.claim_reference("a/.git", branch, Some(&task)).await.unwrap();
    store.db.claim_reference("a/.git", branch, None).await.unwrap();
    assert!(store.db.owns_reference("a/.git", branch).await.unwrap());
    assert!(!store.db.owns_reference("b/.git", branch).await.unwrap());
    assert_eq!(store.db.latest(), seq, "too frequent for the event log");
}

#[tokio::test]
async fn reference_is_idle_without_a_live_run() {
    let store = Store::board().await;
    let (one, two) = (store.task("One").await, store.task("Two").await);
    for (name, task) in [("main-line", None), ("one", Some(&one)), ("two", Some(&two))] {
        store.db.claim_reference("a/.git", name, task).await.unwrap();
    }
    let at_rest = async || store.db.idle_references("a/.git").await.unwrap();
    store.db.claim_reference("b/.git", "elsewhere", None).await.unwrap();
    assert_eq!(at_rest().await, ["main-line", "one", "two"]);
    let agent = store.agent(&one, AgentKind::Coder).await;
    assert_eq!(at_rest().await, ["main-line", "two"]);
    store.finish(&agent).await;
    assert_eq!(at_rest().await, ["main-line", "one", "two"]);
}
