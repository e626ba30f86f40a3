//! Counts for monitoring.

use domain::board::attention::AttentionKind;
use domain::board::status::Status;
use domain::runs::agent_kind::AgentKind;
use domain::runs::usage::Usage;

use crate::Figures;
use crate::tests::store::Store;

#[tokio::test]
async fn limits_in_use_name_the_costliest_open_task_and_the_log() {
    let store = Store::board().await;
    let before = store.db.limits_in_use().await.unwrap();
    assert_eq!((before.costliest_task, before.kept_events), (None, u64::try_from(store.db.latest()).unwrap()));
    let task = store.task("One").await;
    let coder = store.agent(&task, AgentKind::Coder).await;
    store.db.run_usage(&coder.run, Usage { cost_micro_usd: 70, ..Usage::default() }).await.unwrap();
    let in_use = store.db.limits_in_use().await.unwrap();
    assert_eq!(in_use.costliest_task.map(|task| (task.id, task.cost_micro_usd)), Some((task, 70)));
    assert_eq!(in_use.kept_since, before.kept_since);
}

#[tokio::test]
async fn tasks_are_counted_by_status() {
    let store = Store::board().await;
    assert_eq!(store.db.figures().await.unwrap(), Figures::default());
    for title in ["One", "Two"] {
        store.task(title).await;
    }
    let third = store.task("Three").await;
    store.cancel(&third, "obsolete").await;
    let fourth = store.task("Four").await;
    store.db.request_attention(&fourth, AttentionKind::Repository, "Look").await.unwrap();
    let figures = store.db.figures().await.unwrap();
    assert_eq!(figures.tasks, [(Status::Backlog, 3), (Status::Cancelled, 1)].into());
    assert_eq!(figures.needing_attention, 1);
}
