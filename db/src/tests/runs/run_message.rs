//! Messages to a running agent: delivered once and kept in the thread.

use domain::runs::agent_kind::AgentKind;

use crate::Caller;
use crate::tests::store::{Store, code};

#[tokio::test]
async fn run_message_is_delivered_once_and_kept() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let agent = store.agent(&task, AgentKind::Coder).await;
    let seq = store.db.latest();
    store.db.message_run(&Caller::owner(), &agent.run, "Use tabs").await.unwrap();
    store.db.message_run(&Caller::owner(), &agent.run, "No, spaces").await.unwrap();
    let waiting = store.db.undelivered(&agent.run).await.unwrap();
    assert_eq!(waiting.iter().map(|message| message.content.as_str()).collect::<Vec<_>>(), ["Use tabs", "No, spaces"]);
    store.db.message_delivered(&agent.run, waiting[0].id).await.unwrap();
    store.db.message_delivered(&agent.run, waiting[0].id).await.unwrap();
    assert_eq!(store.db.undelivered(&agent.run).await.unwrap(), waiting[1..]);
    let kinds = ["comment_added", "message_queued", "comment_added", "message_queued", "message_delivered"];
    assert_eq!(store.kinds_since(seq).await, kinds);
    assert_eq!(store.db.comments(&task).await.unwrap()[1].content, "No, spaces");
    store.check_fold().await;
}

#[tokio::test]
async fn only_the_human_messages_live_runs() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let agent = store.agent(&task, AgentKind::Coder).await;
    assert_eq!(code(store.db.message_run(&agent.caller, &agent.run, "x").await), "human-only");
    assert_eq!(code(store.db.message_run(&Caller::owner(), &agent.run, "").await), "invalid");
    assert_eq!(code(store.db.message_run(&Caller::owner(), &"RUN-404".parse().unwrap(), "x").await), "not-found");
    store.db.stop_run(&Caller::owner(), &agent.run).await.unwrap();
    assert_eq!(code(store.db.message_run(&Caller::owner(), &agent.run, "x").await), "no-live-run");
    store.finish(&agent).await;
    assert_eq!(code(store.db.message_run(&Caller::owner(), &agent.run, "x").await), "no-live-run");
}
