//! The history of a project: newest first, in pages, by task, kind and actor.

use domain::actor::Actor;
use domain::board::activity::{Activity, Topic};
use domain::event::Seq;
use domain::id::ProjectId;
use domain::runs::agent_kind::AgentKind;
use domain::runs::failure::{EndClass, FailureClass};

use crate::tests::store::{Store, code};
use crate::{ActivityQuery, Caller};

async fn page(store: &Store, query: ActivityQuery) -> (Vec<Activity>, Option<Seq>) {
    store
        .db
        .activity(&Caller::owner(), &store.project, &ActivityQuery { limit: if query.limit == 0 { 100 } else { query.limit }, ..query })
        .await
        .unwrap()
}

#[tokio::test]
async fn history_comes_in_pages_without_gaps() {
    let store = Store::board().await;
    for number in 0..5 {
        store.task(&format!("Task {number}")).await;
    }
    let (whole, end) = page(&store, ActivityQuery::default()).await;
    assert_eq!((end, whole[0].sentence.as_str()), (None, "You created TASK-005"));
    assert!(whole.windows(2).all(|pair| pair[0].seq > pair[1].seq), "newest first");
    let (mut read, mut before) = (Vec::new(), None);
    loop {
        let (items, next) = page(&store, ActivityQuery { before, limit: 2, ..ActivityQuery::default() }).await;
        read.extend(items);
        before = next;
        if before.is_none() {
            break;
        }
    }
    assert_eq!(read, whole);
    assert_eq!(code(store.db.activity(&Caller::owner(), &ProjectId::new(9), &ActivityQuery::default()).await), "not-found");
}

#[tokio::test]
async fn history_is_filtered_by_task_kind_and_actor() {
    let store = Store::board().await;
    let (one, two) = (store.task("One").await, store.task("Two").await);
    store.complete(&one).await;
    let of_two = page(&store, ActivityQuery { task: Some(two.clone()), ..ActivityQuery::default() }).await.0;
    assert!(!of_two.is_empty() && of_two.iter().all(|activity| activity.task_id.as_ref() == Some(&two)), "{of_two:?}");
    let created = page(&store, ActivityQuery { kind: Some("task_created".to_owned()), ..ActivityQuery::default() }).await.0;
    assert_eq!(created.len(), 2);
    let by_runner = page(&store, ActivityQuery { actor: Some(Actor::Runner), ..ActivityQuery::default() }).await.0;
    assert!(!by_runner.is_empty() && by_runner.iter().all(|activity| activity.actor == Actor::Runner), "{by_runner:?}");
    let (short, long) =
        (page(&store, ActivityQuery::default()).await.0, page(&store, ActivityQuery { details: true, ..ActivityQuery::default() }).await.0);
    assert!(short.len() < long.len(), "{} of {}", short.len(), long.len());
}

#[tokio::test]
async fn topics_divide_the_history() {
    let store = Store::board().await;
    let (one, two) = (store.task("One").await, store.task("Two").await);
    store.complete(&one).await;
    let coder = store.agent(&two, AgentKind::Coder).await;
    store.db.add_comment(&coder.caller, &two, "Broken", None).await.unwrap();
    store.end(&coder.run, EndClass::Failed, Some(FailureClass::Crashed)).await;
    let whole = page(&store, ActivityQuery::default()).await.0;
    let mut divided = Vec::new();
    for topic in Topic::ALL {
        let part = page(&store, ActivityQuery { topic: Some(*topic), ..ActivityQuery::default() }).await.0;
        assert!(part.iter().all(|activity| activity.topic == *topic), "{part:?}");
        divided.extend(part);
    }
    divided.sort_by_key(|activity| std::cmp::Reverse(activity.seq));
    assert_eq!(divided, whole);
    let failures = page(&store, ActivityQuery { topic: Some(Topic::Failures), ..ActivityQuery::default() }).await.0;
    assert_eq!(failures.iter().map(|activity| activity.kind.as_str()).collect::<Vec<_>>(), ["run_ended"], "{failures:?}");
    let messages = page(&store, ActivityQuery { topic: Some(Topic::Messages), ..ActivityQuery::default() }).await.0;
    assert_eq!(messages[0].sentence, "The coder commented on TASK-002");
}
