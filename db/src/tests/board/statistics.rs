//! Statistics: what was consumed and finished on each day, and how long it took.

use std::time::Duration;

use domain::board::status::Status;
use domain::runs::agent_kind::AgentKind;
use domain::runs::usage::Usage;

use crate::tests::store::{Store, code};
use crate::{Caller, MoveRequest};

#[tokio::test]
async fn finished_tasks_and_usage_are_counted_by_day_and_role() {
    let store = Store::board().await;
    let (one, two) = (store.task("One").await, store.task("Two").await);
    let coder = store.agent(&one, AgentKind::Coder).await;
    store.db.run_usage(&coder.run, Usage { cost_micro_usd: 70, input_tokens: 100, turns: 1, ..Usage::default() }).await.unwrap();
    store.finish(&coder).await;
    store.complete(&two).await;
    store.complete(&one).await;
    let today = crate::now().day();
    let found = store.db.statistics(&store.project, 30).await.unwrap();
    assert_eq!((found.until.as_str(), found.all_days().len()), (today.as_str(), 30));
    let of = |phase| found.days.iter().find(|day| day.phase == phase && day.day == today).cloned();
    let coders = of(AgentKind::Coder).unwrap();
    assert_eq!((coders.finished, coders.timed, coders.usage.cost_micro_usd), (2, 2, 70));
    assert!(coders.cycle_seconds >= coders.wait_seconds && coders.wait_seconds >= 0, "{coders:?}");
    assert_eq!(found.days.iter().map(|day| day.finished).sum::<u32>(), 2, "{found:?}");

    let human = Caller::owner();
    let reopened = MoveRequest { reason: Some("Once more".to_owned()), ..MoveRequest::to(Status::InProgress) };
    store.db.move_task(&human, &two, reopened, domain::runs::evidence::EvidenceResult::Nothing).await.unwrap();
    store.complete(&two).await;
    let again = store.db.statistics(&store.project, 1).await.unwrap();
    assert_eq!(again.days.iter().map(|day| day.finished).sum::<u32>(), 3, "a reopened task counts again");
    assert_eq!(code(store.db.statistics(&"PROJ-404".parse().unwrap(), 30).await), "not-found");
    store.check_fold().await;
}

#[tokio::test]
async fn waiting_is_the_part_of_the_cycle_without_an_agent() {
    let store = Store::board().await;
    let task = store.task("One").await;
    store.complete(&task).await;
    // The stored times decide, so the test moves the first run into the past: it worked for one of three hours.
    let now = crate::now();
    let (started, ended) = (now.before(Duration::from_secs(3 * 3600)), now.before(Duration::from_secs(2 * 3600)));
    let moved = task.clone();
    let update = store.db.write(move |tx| {
        Box::pin(async move {
            tx.skip_event(crate::engine::tx::NoEventReason::NothingChanged);
            let update = sqlx::query("UPDATE agent_runs SET started_at = $2, completed_at = $3 WHERE task_id = $1 AND phase = 'coder'");
            update.bind(moved.as_str()).bind(started.to_string()).bind(ended.to_string()).execute(&mut tx.connection).await?;
            Ok(())
        })
    });
    update.await.unwrap();
    let before = store.db.statistics(&store.project, 1).await.unwrap();
    let human = Caller::owner();
    let reopened = MoveRequest { reason: Some("Once more".to_owned()), ..MoveRequest::to(Status::InProgress) };
    store.db.move_task(&human, &task, reopened, domain::runs::evidence::EvidenceResult::Nothing).await.unwrap();
    store.complete(&task).await;
    let after = store.db.statistics(&store.project, 1).await.unwrap();
    let sum = |days: &[domain::board::statistics::DayStatistics], of: fn(&domain::board::statistics::DayStatistics) -> i64| {
        days.iter().map(of).sum::<i64>()
    };
    let cycle = sum(&after.days, |day| day.cycle_seconds) - sum(&before.days, |day| day.cycle_seconds);
    let wait = sum(&after.days, |day| day.wait_seconds) - sum(&before.days, |day| day.wait_seconds);
    assert!((3 * 3600..3 * 3600 + 60).contains(&cycle), "{cycle}");
    assert!((2 * 3600 - 60..=2 * 3600).contains(&wait), "{wait}");
}
