//! References in repositories: ours only when written down.

use domain::runs::agent_kind::AgentKind;

use crate::tests::store::Store;

#[tokio::test]
async fn only_what_was_written_down_is_ours() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let seq = store.db.latest();
    let branch = "refs/heads/vr/TASK-001/work";
    assert!(!store.db.owns_reference("a/.git", branch).await.unwrap());
    store.db.claim_reference("a/.git", branch, Some(&task)).await.unwrap();
    store.db.claim_reference("a/.git", branch, None).await.unwrap();
    assert!(store.db.owns_reference("a/.git", branch).await.unwrap());
    assert!(!store.db.owns_reference("b/.git", branch).await.unwrap());
    assert_eq!(store.db.latest(), seq, "written before every branch: too frequent for the log");
}

#[tokio::test]
async fn a_reference_is_at_rest_while_no_agent_works_on_its_task() {
    let store = Store::board().await;
    let (one, two) = (store.task("One").await, store.task("Two").await);
    for (name, task) in [("main-line", None), ("one", Some(&one)), ("two", Some(&two))] {
        store.db.claim_reference("a/.git", name, task).await.unwrap();
    }
    let at_rest = async || store.db.idle_references().await.unwrap().into_iter().map(|(_, name)| name).collect::<Vec<_>>();
    assert_eq!(at_rest().await, ["main-line", "one", "two"]);
    let agent = store.agent(&one, AgentKind::Coder).await;
    assert_eq!(at_rest().await, ["main-line", "two"]);
    store.finish(&agent).await;
    assert_eq!(at_rest().await, ["main-line", "one", "two"]);
}
