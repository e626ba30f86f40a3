//! The event log: some use case records every kind, events are read by number, and subscribers are notified.

mod story;

pub(crate) use story::story;

use std::collections::BTreeSet;

use domain::board::status::{HeldBy, Status};
use domain::board::task::event::TaskEvent;
use domain::event::Event;
use domain::id::TaskId;
use domain::runs::agent_kind::AgentKind;

use crate::Caller;
use crate::tests::store::{Store, probe};

#[tokio::test]
async fn every_event_kind_is_recorded_and_read_back() {
    let store = story().await;
    let recorded: BTreeSet<&str> = store.kinds_since(0).await.into_iter().collect();
    let known: BTreeSet<&str> = Event::kinds().into_iter().collect();
    assert_eq!(known.difference(&recorded).collect::<Vec<_>>(), Vec::<&&str>::new(), "no use case records these");
    store.check_fold().await;
}

#[tokio::test]
async fn event_numbers_have_no_gaps_across_pages() {
    let store = story().await;
    let all = store.db.events_after(0, None, u32::MAX).await.unwrap();
    assert_eq!(all.iter().map(|envelope| envelope.seq).collect::<Vec<_>>(), (1..=store.db.latest()).collect::<Vec<_>>());
    assert!(all.is_sorted_by_key(|envelope| envelope.at));
    let (mut paged, mut seq) = (Vec::new(), 0);
    loop {
        let page = store.db.events_after(seq, None, 7).await.unwrap();
        let Some(last) = page.last() else { break };
        assert!(page.len() <= 7);
        seq = last.seq;
        paged.extend(page);
    }
    assert_eq!(paged, all);
    assert_eq!(store.db.latest(), seq);
}

#[tokio::test]
async fn project_log_contains_its_own_and_global_events() {
    let store = Store::board().await;
    let elsewhere = domain::wire::NewProject { title: "Other".to_owned(), ..Default::default() };
    let elsewhere = store.db.create_project(&Caller::owner(), elsewhere, probe()).await.unwrap().id;
    store.db.set_owner("owner", "token").await.unwrap();
    store.task("One").await;
    let kinds = async |id| store.db.events_after(0, Some(&id), 9).await.unwrap().iter().map(|envelope| envelope.event.kind()).collect::<Vec<_>>();
    assert_eq!(kinds(store.project.clone()).await, ["project_created", "token_made", "task_created"]);
    assert_eq!(kinds(elsewhere).await, ["project_created", "token_made"]);
    store.check_fold().await;
}

#[tokio::test]
async fn last_event_about_a_card_carries_the_card() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let seq = store.db.latest();
    store.agent(&task, AgentKind::Coder).await;
    let events = store.db.events_after(seq, None, 3).await.unwrap();
    assert_eq!(events.iter().map(|envelope| envelope.event.kind()).collect::<Vec<_>>(), ["task_moved", "agent_registered", "run_started"]);
    assert_eq!((events[0].card.as_ref(), events[1].card.as_ref(), events[1].project.as_ref()), (None, None, None));
    let card = events[2].card.as_ref().unwrap();
    assert_eq!((card.status, card.run.as_ref().map(|run| run.attempt)), (Status::InProgress, Some(1)));
    assert_eq!((events[0].run_id.as_ref(), events[2].run_id.as_ref().unwrap().as_str()), (None, "RUN-001"));
}

#[tokio::test]
async fn subscriber_is_notified_after_the_commit() {
    let store = Store::board().await;
    let mut news = store.db.subscribe();
    news.borrow_and_update();
    let seq = store.db.latest();
    let waiting = tokio::spawn(async move {
        news.changed().await.unwrap();
        *news.borrow()
    });
    store.db.set_owner("owner", "token").await.unwrap();
    assert_eq!(waiting.await.unwrap(), seq + 1);
    assert_eq!(store.kinds_since(seq).await, ["token_made"]);
}

#[tokio::test]
async fn stored_event_format_is_stable() {
    let store = Store::board().await;
    let task: TaskId = store.task("One").await;
    let seq = store.db.latest();
    store.db.stop_task(&Caller::owner(), &task).await.unwrap();
    assert_eq!(store.since(seq).await, [TaskEvent::Held { by: HeldBy::Stop }.into()]);
    let sql = "SELECT printf('%d %s %s %s %s %s', seq, project_id, task_id, coalesce(run_id, 'NULL'), actor, kind) || char(10) ||
        json_set(payload, '$.card.created_at', at IS NOT NULL, '$.card.updated_at', 1) FROM events WHERE seq > $1";
    let row: String = sqlx::query_scalar(sql).bind(seq).fetch_one(&store.db.readers).await.unwrap();
    insta::assert_snapshot!(row, @r#"
    3 PROJ-001 TASK-001 NULL human task_held
    {"event":{"kind":"task_held","by":"stop"},"card":{"id":"TASK-001","project_id":"PROJ-001","parent_task_id":null,"title":"One","phase":"coder","status":"backlog","held_by":"stop","attention":null,"wait_reason":null,"cancel_reason":null,"depends_on":[],"priority":0,"approved_sha":null,"verified_by":null,"round_of":null,"round":null,"run":null,"comments":0,"runs":0,"cost_micro_usd":0,"tokens":0,"created_at":1,"updated_at":1}}
    "#);
}
