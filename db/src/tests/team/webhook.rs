//! Webhooks: which events cause a notification, and what a restart keeps.

use domain::board::attention::{AttentionAction, AttentionKind};
use domain::board::project::PlanApproval;
use domain::board::status::Status;
use domain::board::task::retry::RetryOptions;
use domain::event::Seq;
use domain::runs::evidence::EvidenceResult;
use domain::runs::parking::ParkReason;
use domain::team::webhook::{Notification, NotificationKind};
use domain::time::Timestamp;

use crate::tests::store::Store;
use crate::{Caller, WebhookProgress, now};

const URL: &str = "https://example.org/hook?key=secret";

/// The notifications after `seq`, and the last event that was read.
async fn notifications(store: &Store, mut seq: Seq, kinds: &[NotificationKind]) -> (Vec<Notification>, Seq) {
    let mut found = Vec::new();
    loop {
        let next = store.db.next_notification(seq, kinds).await.unwrap();
        seq = next.seq;
        let Some(notification) = next.notification else { return (found, seq) };
        found.push(notification);
    }
}

#[tokio::test]
async fn pending_decisions_and_complete_projects_are_notified() {
    let store = Store::board().await;
    let task = store.task("Menu").await;
    store.db.request_attention(&task, AttentionKind::Failed, "Three attempts failed").await.unwrap();
    let (found, seq) = notifications(&store, 0, NotificationKind::ALL).await;
    let [Notification::NeedsYou(found)] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((&found.needs_you.task.task_id, found.needs_you.action), (&task, AttentionAction::Retry));
    assert_eq!((found.needs_you.reason.as_str(), found.project.title.as_str()), ("Three attempts failed", "Board"));
    assert_eq!(seq, store.db.latest(), "everything was read");

    store.db.retry_task(&Caller::owner(), &task, RetryOptions::default()).await.unwrap();
    store.complete(&task).await;
    let (found, _) = notifications(&store, seq, NotificationKind::ALL).await;
    assert!(matches!(found.as_slice(), [Notification::Complete(project)] if project.project_id == store.project), "{found:?}");
    assert_eq!(notifications(&store, seq, &[NotificationKind::NeedsYou]).await.0, []);
    assert_eq!(notifications(&store, seq, &[NotificationKind::Morning]).await, (Vec::new(), store.db.latest()));
}

#[tokio::test]
async fn settled_decision_is_not_notified() {
    let store = Store::board().await;
    let task = store.task("Menu").await;
    store.db.request_attention(&task, AttentionKind::Failed, "First").await.unwrap();
    store.db.request_attention(&task, AttentionKind::Failed, "Second").await.unwrap();
    let (found, _) = notifications(&store, 0, NotificationKind::ALL).await;
    assert!(matches!(found.as_slice(), [Notification::NeedsYou(found)] if found.needs_you.reason == "Second"), "{found:?}");
    store.db.retry_task(&Caller::owner(), &task, RetryOptions::default()).await.unwrap();
    store.complete(&task).await;
    store.move_with(&Caller::owner(), &task, Status::InProgress, Some("Again"), EvidenceResult::Nothing).await.unwrap();
    assert_eq!(notifications(&store, 0, NotificationKind::ALL).await.0, [], "the project is not complete either");
}

#[tokio::test]
async fn new_webhook_starts_with_the_next_event() {
    let store = Store::board().await;
    let task = store.task("Menu").await;
    store.db.request_attention(&task, AttentionKind::Failed, "Before").await.unwrap();
    let progress = store.db.webhook_progress(URL).await.unwrap();
    assert_eq!((progress.seq, progress.failures, progress.retry_at), (store.db.latest(), 0, None));
}

#[tokio::test]
async fn progress_is_stored_without_the_address() {
    let store = Store::board().await;
    let at = Timestamp::from_milliseconds(1_769_850_300_000);
    let progress = WebhookProgress { seq: 1, failures: 3, retry_at: Some(at), reported_until: at };
    let seq = store.db.latest();
    let other = "https://example.org/other";
    for url in [URL, other] {
        store.db.record_webhook_progress(url, WebhookProgress { failures: 0, ..progress }).await.unwrap();
        store.db.record_webhook_progress(url, progress).await.unwrap();
    }
    assert_eq!(store.db.webhook_progress(URL).await.unwrap(), progress);
    assert_eq!(store.db.latest(), seq, "an event would be the next one to notify about");
    let address: String = URL.bytes().map(|byte| format!("{byte:02X}")).collect();
    assert!(store.dump().await.iter().all(|row| !row.contains(&address)));

    store.db.remove_other_webhooks(&[URL.to_owned()]).await.unwrap();
    assert_eq!(store.db.webhook_progress(URL).await.unwrap(), progress);
    assert_eq!(store.db.webhook_progress(other).await.unwrap().failures, 0, "it was removed, and is new again");
}

#[tokio::test]
async fn plan_is_notified_until_it_is_approved() {
    let (store, planner) = Store::plan(PlanApproval::Ask).await;
    store.planned(&planner, &["One", "Two"]).await;
    let planned = || async { notifications(&store, 0, &[NotificationKind::NeedsYou]).await.0 };
    let found = planned().await;
    let [Notification::Plan(plan)] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((&plan.project.project_id, plan.planned_tasks), (&store.project, 2));
    store.db.approve_plan(&Caller::owner(), &store.project).await.unwrap();
    assert_eq!(planned().await, []);
}

#[tokio::test]
async fn outage_that_only_the_human_can_end_is_notified_once() {
    let store = Store::board().await;
    let start = store.db.latest();
    let park = async |reason, detail: &str| store.db.park_after_check(reason, detail.to_owned(), now()).await.unwrap();
    park(ParkReason::ServiceUnreachable, "no route").await;
    assert_eq!(notifications(&store, start, NotificationKind::ALL).await.0, [], "it often passes by itself");
    park(ParkReason::ProgramMissing, "not found").await;
    let (found, seq) = notifications(&store, start, NotificationKind::ALL).await;
    let [Notification::Parked(parked)] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((parked.kind, parked.reason.as_str()), (ParkReason::ProgramMissing, "the agent program was not found"));
    assert!(parked.remedy.contains("agent_command"), "{parked:?}");
    park(ParkReason::ProgramMissing, "still not found").await;
    assert_eq!(notifications(&store, seq, NotificationKind::ALL).await.0, [], "a prolonged parking is the same outage");
    store.db.resume(ParkReason::ProgramMissing).await.unwrap();
    assert_eq!(notifications(&store, start, NotificationKind::ALL).await.0, [], "it is over");
}
