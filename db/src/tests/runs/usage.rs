//! Usage: the sums by task, kind and day equal the sums over the runs, whatever is written twice or corrected.

use domain::runs::agent_kind::AgentKind;
use domain::runs::failure::EndClass;
use domain::runs::usage::{ModelInfo, Price, Usage, UsageSums};
use domain::warroom::context_left::Condition;

use crate::tests::store::{MAX_ATTEMPTS, Store, code};
use crate::{Caller, RunEnd};

fn usage(cost_micro_usd: i64, turns: i64) -> Usage {
    Usage { cost_micro_usd, input_tokens: 100 * turns, output_tokens: turns, turns, ..Usage::default() }
}

fn sums(cost_micro_usd: i64, turns: i64) -> UsageSums {
    UsageSums::from(usage(cost_micro_usd, turns))
}

fn end(class: EndClass, usage: Option<Usage>) -> RunEnd {
    RunEnd { usage, ..RunEnd::new(class, MAX_ATTEMPTS) }
}

#[tokio::test]
async fn sums_of_a_project_equal_those_over_its_runs() {
    let store = Store::board().await;
    let (one, two) = (store.task("One").await, store.task("Two").await);
    let first = store.agent(&one, AgentKind::Coder).await;
    store.db.run_usage(&first.run, usage(70, 1)).await.unwrap();
    // An adopted run is read from its start again; the report of a turn may also lower an estimate.
    store.db.run_usage(&first.run, usage(70, 1)).await.unwrap();
    store.db.run_usage(&first.run, usage(50, 2)).await.unwrap();
    let other = store.agent(&two, AgentKind::Coder).await;
    store.db.run_usage(&other.run, usage(0, 4)).await.unwrap();
    store.db.end_run(&other.run, end(EndClass::Failed, None)).await.unwrap();
    store.db.stop_run(&Caller::owner(), &first.run).await.unwrap();
    store.db.end_run(&first.run, end(EndClass::Finished, Some(usage(60, 3)))).await.unwrap();
    store.db.end_run(&first.run, end(EndClass::Finished, Some(usage(900, 9)))).await.unwrap();

    let found = store.db.usage(&store.project, &store.config.limits).await.unwrap();
    assert_eq!(found.total, sums(60, 7));
    assert_eq!(found.by_kind.iter().map(|kind| (kind.phase, kind.sums)).collect::<Vec<_>>(), [(AgentKind::Coder, sums(60, 7))]);
    assert_eq!(found.by_day.iter().map(|day| (day.day.clone(), day.sums)).collect::<Vec<_>>(), [(crate::now().day(), sums(60, 7))]);
    let tasks: Vec<_> = found.by_task.iter().map(|task| (task.task_id.clone(), task.cost_micro_usd, task.tokens)).collect();
    assert_eq!(tasks, [(one.clone(), 60, 303), (two, 0, 404)], "first by cost, then by tokens");
    let card = store.card(&one).await;
    assert_eq!((card.cost_micro_usd, card.tokens), (60, 303));
    assert_eq!(code(store.db.usage(&"PROJ-404".parse().unwrap(), &store.config.limits).await), "not-found");
    store.check_fold().await;
}

#[tokio::test]
async fn card_shows_consumption_without_a_price_and_a_low_context() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let coder = store.agent(&task, AgentKind::Coder).await;
    let seq = store.db.latest();
    store.db.run_usage(&coder.run, usage(0, 1)).await.unwrap();
    store.db.run_usage(&coder.run, Usage { context_tokens: Some(9), ..usage(0, 1) }).await.unwrap();
    assert_eq!(store.kinds_since(seq).await, ["run_usage"], "the size of the conversation alone is not an event");
    let of_context = |tokens: i64| Usage { context_tokens: Some(tokens), context_limit: Some(100), ..usage(0, 1) };
    let mut shown = Vec::new();
    for tokens in [40, 50, 60, 76, 900, 10] {
        store.db.run_usage(&coder.run, of_context(tokens)).await.unwrap();
        shown.push(store.card(&task).await.run.and_then(|run| run.low_context));
    }
    let (wounded, critical) = (Some(Condition::Wounded), Some(Condition::Critical));
    assert_eq!(shown, [None, wounded, wounded, critical, critical, None]);
    assert_eq!(store.kinds_since(seq).await, ["run_usage"; 4], "what the card shows is an event");
    assert_eq!(store.card(&task).await.tokens, 101);
    store.check_fold().await;
}

#[tokio::test]
async fn latest_report_of_a_model_is_kept() {
    let store = Store::board().await;
    let models = |entries: &[(&str, Option<i64>, Option<i64>)]| {
        let info = |price: Option<i64>, context_window| ModelInfo { price: price.map(Price::new), context_window };
        entries.iter().map(|(model, price, window)| ((*model).to_owned(), info(*price, *window))).collect()
    };
    store.db.record_models(models(&[("a", Some(1), Some(200_000)), ("b", None, Some(8))])).await.unwrap();
    store.db.record_models(models(&[("a", Some(3), None), ("b", Some(2), Some(9))])).await.unwrap();
    assert_eq!(store.db.models().await.unwrap(), models(&[("a", Some(3), Some(200_000)), ("b", Some(2), Some(9))]));
}
