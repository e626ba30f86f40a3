//! Reports: which facts of the store are in them, and what they cost.

use domain::board::attention::{AttentionAction, AttentionKind};
use domain::board::report::Report;
use domain::board::status::Status;
use domain::board::wait_reason::WaitReason;
use domain::id::TaskId;
use domain::runs::agent_kind::AgentKind;
use domain::runs::parking::ParkReason;
use domain::runs::usage::Usage;
use domain::time::Timestamp;

use crate::tests::store::{Store, head};
use crate::{Caller, RetentionLimits, now};

/// Lets a reviewer send a task back with a comment instead of a reason.
async fn send_back(store: &Store, task: &TaskId, comment: &str) {
    let reviewer = store.agent_at(task, AgentKind::Reviewer, "head").await;
    store.db.add_comment(&reviewer.caller, task, comment, None).await.unwrap();
    store.move_with(&reviewer.caller, task, Status::InProgress, None, head("head")).await.unwrap();
    store.finish(&reviewer).await;
}

/// The time of the newest event, after which the next one has a later time.
async fn moment(store: &Store) -> Timestamp {
    let last = store.db.events_after(0, None, u32::MAX).await.unwrap().last().unwrap().at;
    while now() <= last {
        tokio::task::yield_now().await;
    }
    now()
}

#[tokio::test]
async fn report_joins_what_happened_with_what_is_pending() {
    let store = Store::board().await;
    let done = store.task("Footer").await;
    store.complete(&done).await;
    let back = store.in_review("Header").await;
    send_back(&store, &back, "The test is missing").await;
    let failed = store.task("Menu").await;
    store.db.request_attention(&failed, AttentionKind::Failed, "Three attempts failed").await.unwrap();
    let waiting = store.task("Search").await;
    store.db.set_wait_reasons(vec![(waiting.clone(), Some(WaitReason::NoFreeSlot { limit: 4 }))]).await.unwrap();
    let worker = store.agent(&waiting, AgentKind::Coder).await;
    store.db.run_usage(&worker.run, Usage { cost_micro_usd: 250_000, output_tokens: 10, turns: 2, ..Usage::default() }).await.unwrap();
    store.db.park_after_check(ParkReason::DiskFull, "1 GiB is free".to_owned(), now()).await.unwrap();

    let report = store.db.report(Timestamp::from_milliseconds(0)).await.unwrap();
    let Report { projects, parked, usage, .. } = &report;
    let [project] = projects.as_slice() else { panic!("{report:?}") };
    assert_eq!(project.ready_to_land.as_ref().map(|ready| (ready.base_branch.as_str(), ready.diff)), Some(("main", None)));
    assert_eq!(project.finished.iter().map(|task| (&task.task_id, task.title.as_str())).collect::<Vec<_>>(), [(&done, "Footer")]);
    let sent_back: Vec<_> = project.sent_back.iter().map(|sent| (&sent.task.task_id, sent.times, sent.reason.as_deref())).collect();
    assert_eq!(sent_back, [(&back, 1, Some("The test is missing"))]);
    let needs_you: Vec<_> = project.needs_you.iter().map(|needs| (&needs.task.task_id, needs.action, needs.reason.as_str())).collect();
    assert_eq!(needs_you, [(&failed, AttentionAction::Retry, "Three attempts failed")]);
    assert_eq!((parked.len(), usage.cost_micro_usd, project.usage.turns), (1, 250_000, 2));
}

#[tokio::test]
async fn report_leaves_out_what_happened_before() {
    let store = Store::board().await;
    let task = store.in_review("Header").await;
    send_back(&store, &task, "The test is missing").await;
    let since = moment(&store).await;
    let quiet = store.db.report(since).await.unwrap();
    assert_eq!((quiet.projects, quiet.since), (Vec::new(), since));
    let first = store.task("Footer").await;
    store.complete(&first).await;
    let report = store.db.report(since).await.unwrap();
    let [project] = report.projects.as_slice() else { panic!("{report:?}") };
    assert_eq!((project.finished.len(), project.sent_back.len()), (1, 0));
}

/// Whatever the number of events is, the start is found, and no earlier event is read.
#[tokio::test]
async fn period_starts_at_its_first_event() {
    let store = Store::board().await;
    for number in 0..9 {
        moment(&store).await;
        let task = store.task(&format!("Task {number}")).await;
        store.cancel(&task, "obsolete").await;
        store.move_with(&Caller::owner(), &task, Status::Backlog, None, domain::runs::evidence::EvidenceResult::Nothing).await.unwrap();
    }
    let events = store.db.events_after(0, None, u32::MAX).await.unwrap();
    let mut connection = store.db.readers.acquire().await.unwrap();
    for envelope in &events {
        let expected = events.iter().find(|event| event.at >= envelope.at).unwrap().seq;
        let (first, since) = crate::board::report::first_event(&mut connection, envelope.at).await.unwrap();
        assert_eq!((first, since), (expected, envelope.at));
    }
    let later = now().after(std::time::Duration::from_secs(60));
    assert_eq!(crate::board::report::first_event(&mut connection, later).await.unwrap().0, events.len() as i64 + 1);
}

#[tokio::test]
async fn report_begins_with_the_oldest_event_that_is_kept() {
    let store = Store::board().await;
    for title in ["One", "Two"] {
        store.task(title).await;
        moment(&store).await;
    }
    let limits = RetentionLimits { keep: std::time::Duration::from_secs(3600), max_events: 1 };
    store.db.prune(limits).await.unwrap();
    let oldest = store.db.events_after(0, None, 1).await.unwrap().remove(0);
    assert!(oldest.seq > 1, "events were removed");
    assert_eq!(store.db.report(Timestamp::from_milliseconds(0)).await.unwrap().since, oldest.at);
    let later = oldest.at.after(std::time::Duration::from_millis(1));
    assert_eq!(store.db.report(later).await.unwrap().since, later);
}
