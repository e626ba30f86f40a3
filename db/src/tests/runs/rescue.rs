//! Restored and dropped rescues in the log.

use domain::runs::agent_kind::AgentKind;

use crate::Caller;
use crate::tests::store::{Store, code};

const REFERENCE: &str = "refs/vibe-relay/rescue/TASK-001/uncommitted";

#[tokio::test]
async fn log_tells_what_became_of_kept_work() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let git_dir = store.project().await.git_dir;
    store.db.claim_reference(&git_dir, REFERENCE, Some(&task)).await.unwrap();
    let seq = store.db.latest();
    store.db.record_restored_rescue(&Caller::owner(), &store.project, REFERENCE, "again").await.unwrap();
    assert!(store.db.owns_reference(&git_dir, REFERENCE).await.unwrap());
    store.db.record_dropped_rescue(&Caller::owner(), &store.project, REFERENCE, &"one".to_owned()).await.unwrap();
    assert!(!store.db.owns_reference(&git_dir, REFERENCE).await.unwrap());
    assert_eq!(store.kinds_since(seq).await, ["rescue_restored", "rescue_dropped"]);
    store.check_fold().await;
}

#[tokio::test]
async fn only_persons_decide_about_kept_work() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let agent = store.agent(&task, AgentKind::Coder).await;
    let before = store.dump().await;
    assert_eq!(code(store.db.record_restored_rescue(&agent.caller, &store.project, REFERENCE, "again").await), "human-only");
    assert_eq!(code(store.db.record_dropped_rescue(&agent.caller, &store.project, REFERENCE, &"one".to_owned()).await), "human-only");
    let nowhere = "PROJ-009".parse().unwrap();
    assert_eq!(code(store.db.record_dropped_rescue(&Caller::owner(), &nowhere, REFERENCE, &"one".to_owned()).await), "not-found");
    assert_eq!(code(store.db.record_restored_rescue(&Caller::owner(), &nowhere, REFERENCE, "again").await), "not-found");
    assert_eq!(store.dump().await, before);
}
