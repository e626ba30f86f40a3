//! Interrupts: kept until the agent goes on, with a message or with a card that asks for one, and without an attempt.

use domain::board::attention::AttentionKind;
use domain::board::status::{HeldBy, Status};
use domain::runs::agent_kind::AgentKind;
use domain::runs::failure::EndClass;

use crate::Caller;
use crate::engine::tx::NoEventReason;
use crate::tests::store::{Store, code};

#[tokio::test]
async fn interrupt_without_a_message_asks_for_one() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let agent = store.agent(&task, AgentKind::Coder).await;
    let seq = store.db.latest();
    let run = store.db.interrupt_run(&Caller::owner(), &agent.run, None).await.unwrap();
    let interrupt = run.interrupt.unwrap();
    assert_eq!(interrupt.by, "human");
    assert_eq!(store.card(&task).await.attention.unwrap().kind, AttentionKind::Interrupted);
    assert_eq!(store.kinds_since(seq).await, ["run_interrupted", "comment_added", "task_needs_you"]);
    store.check_fold().await;

    store.db.message_run(&Caller::owner(), &agent.run, "Use red.").await.unwrap();
    assert_eq!(store.card(&task).await.attention, None);
    assert!(store.db.run(&agent.run).await.unwrap().interrupt.is_some(), "until the agent goes on");
    store.db.interrupt_over(&agent.run, "an earlier one").await.unwrap();
    assert!(store.db.run(&agent.run).await.unwrap().interrupt.is_some());
    store.db.interrupt_over(&agent.run, &interrupt.id).await.unwrap();
    store.db.interrupt_over(&agent.run, &interrupt.id).await.unwrap();
    assert_eq!(store.db.run(&agent.run).await.unwrap().interrupt, None);
    assert_eq!(store.kinds_since(seq).await[3..], ["comment_added", "message_queued", "task_settled", "run_interrupt_over"].map(str::to_owned));
    store.check_fold().await;
}

#[tokio::test]
async fn interrupt_with_a_message_queues_it() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let agent = store.agent(&task, AgentKind::Coder).await;
    store.db.interrupt_run(&Caller::owner(), &agent.run, Some("Use red.")).await.unwrap();
    assert_eq!(store.db.undelivered(&agent.run).await.unwrap()[0].content, "Use red.");
    assert_eq!((store.card(&task).await.attention, store.db.comments(&task).await.unwrap().len()), (None, 1));
}

#[tokio::test]
async fn wait_for_a_message_is_not_work() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let agent = store.agent(&task, AgentKind::Coder).await;
    store.db.interrupt_run(&Caller::owner(), &agent.run, None).await.unwrap();
    // As if it had started and been interrupted an hour ago.
    let aged = store.db.write(|tx| {
        Box::pin(async move {
            tx.skip_event(NoEventReason::NothingChanged);
            let earlier = "UPDATE agent_runs SET started_uptime_ms = started_uptime_ms - 3700000, waits_since_ms = waits_since_ms - 3600000";
            sqlx::query(earlier).execute(&mut tx.connection).await?;
            Ok(())
        })
    });
    aged.await.unwrap();
    let worked = async || store.db.snapshot().await.unwrap().worked[&agent.run].as_secs();
    assert!((100..160).contains(&worked().await), "{}", worked().await);
    store.db.message_run(&Caller::owner(), &agent.run, "Go on.").await.unwrap();
    assert!((100..160).contains(&worked().await), "{}", worked().await);
}

#[tokio::test]
async fn run_that_ends_while_it_is_interrupted_holds_its_task() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let agent = store.agent(&task, AgentKind::Coder).await;
    store.db.interrupt_run(&Caller::owner(), &agent.run, None).await.unwrap();
    store.end(&agent.run, EndClass::Stopped, None).await;
    let card = store.card(&task).await;
    assert_eq!((card.status, card.held_by, card.attention), (Status::InProgress, Some(HeldBy::Stop), None));
    store.check_fold().await;
    store.db.start_task(&Caller::owner(), &task).await.unwrap();
    let next = store.agent(&task, AgentKind::Coder).await;
    assert_eq!(store.db.run(&next.run).await.unwrap().interrupt, None);
}

#[tokio::test]
async fn finished_run_settles_its_interrupt() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let agent = store.agent(&task, AgentKind::Coder).await;
    store.db.interrupt_run(&Caller::owner(), &agent.run, None).await.unwrap();
    store.end(&agent.run, EndClass::Finished, None).await;
    let card = store.card(&task).await;
    assert_eq!((card.held_by, card.attention), (None, None));
}

#[tokio::test]
async fn only_persons_interrupt_and_only_live_runs() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let agent = store.agent(&task, AgentKind::Coder).await;
    assert_eq!(code(store.db.interrupt_run(&agent.caller, &agent.run, None).await), "human-only");
    store.db.stop_task(&Caller::owner(), &task).await.unwrap();
    assert_eq!(code(store.db.interrupt_run(&Caller::owner(), &agent.run, None).await), "no-live-run");
    store.end(&agent.run, EndClass::Stopped, None).await;
    assert_eq!(code(store.db.interrupt_run(&Caller::owner(), &agent.run, None).await), "no-live-run");
}
