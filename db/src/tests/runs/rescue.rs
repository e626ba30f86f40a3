//! Restored and dropped rescues in the log.

use std::collections::BTreeMap;
use std::path::Path;

use domain::runs::agent_kind::AgentKind;

use crate::runs::rescue::EXPIRED;
use crate::testing::set_time;
use crate::tests::engine::index::plan;
use crate::tests::store::{Store, code};
use crate::{Caller, RecordedCheckouts, recorded_checkouts};

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

#[tokio::test]
async fn kept_work_has_an_age_and_ends() {
    let store = Store::board().await;
    let (db, project) = (&store.db, store.project().await);
    let prefix = "refs/vibe-relay/rescue/";
    let reference = format!("{prefix}TASK-001/uncommitted");
    set_time("2026-11-01T00:00:00.000Z".parse().unwrap());
    db.claim_reference(&project.git_dir, &reference, None).await.unwrap();
    db.claim_reference(&project.git_dir, "vr/TASK-001/work", None).await.unwrap();
    let kept_at = db.references_kept_at(&project.git_dir, prefix).await.unwrap();
    assert_eq!(kept_at, BTreeMap::from([(reference.clone(), "2026-11-01T00:00:00.000Z".parse().unwrap())]));
    let expired = async |cutoff: &str| db.expired_rescues(prefix, cutoff.parse().unwrap()).await.unwrap();
    assert!(expired("2026-11-01T00:00:00.000Z").await.is_empty());
    let [found] = &expired("2026-11-02T00:00:00.000Z").await[..] else { panic!("only the rescue") };
    assert_eq!((&found.project, &found.reference), (&store.project, &reference));
    let seq = db.latest();
    db.record_expired_rescue(found, Some(&"a1".to_owned())).await.unwrap();
    assert_eq!(store.kinds_since(seq).await, ["rescue_expired"]);
    assert!(expired("2027-01-01T00:00:00.000Z").await.is_empty() && !db.owns_reference(&project.git_dir, &reference).await.unwrap());

    // The same name later, for other work.
    db.claim_reference(&project.git_dir, &reference, None).await.unwrap();
    set_time("2026-12-01T00:00:00.000Z".parse().unwrap());
    db.claim_reference(&project.git_dir, &reference, None).await.unwrap();
    assert!(expired("2026-11-30T00:00:00.000Z").await.is_empty(), "the newer work counts");
    assert!(db.run_folders().await.unwrap().is_empty());
    let recorded = db.checkouts_on_record().await.unwrap();
    assert!(recorded.projects.contains(&store.project) && recorded.checkouts.is_empty(), "{recorded:?}");
    assert_eq!(recorded_checkouts(db.path()).await.unwrap(), recorded, "also while the board runs");
    assert_eq!(recorded_checkouts(Path::new("missing.db")).await.unwrap(), RecordedCheckouts::default());
}

#[tokio::test]
async fn expired_work_is_read_by_name() {
    let store = Store::board().await;
    let plan = plan(&store, EXPIRED).await;
    assert!(plan.contains("owned_refs_by_name (name>? AND name<?)"), "{plan}");
}
