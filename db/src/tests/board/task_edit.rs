//! Edits of tasks: texts, order and dependencies; start, retry and stop.

use domain::board::attention::AttentionKind;
use domain::board::status::{HeldBy, Status};
use domain::board::task::TaskPatch;
use domain::board::task::event::TaskEvent;
use domain::event::Event;
use domain::runs::agent_kind::AgentKind;
use domain::runs::evidence::EvidenceResult;
use domain::runs::failure::{EndClass, FailureClass};

use crate::tests::store::{Store, code, refusal};
use crate::{Caller, MoveRequest};

fn depends(on: &[&domain::id::TaskId]) -> TaskPatch {
    TaskPatch { depends_on: Some(on.iter().map(|id| (*id).clone()).collect()), ..TaskPatch::default() }
}

#[tokio::test]
async fn edit_event_names_changed_fields() {
    let store = Store::board().await;
    let (first, second) = (store.task("One").await, store.task("Two").await);
    let seq = store.db.latest();
    let patch = TaskPatch {
        title: Some("One".to_owned()),
        description: Some("More".to_owned()),
        priority: Some(3),
        model: Some("m".to_owned()),
        depends_on: Some(vec![second.clone(), second.clone()]),
        ..TaskPatch::default()
    };
    let task = store.db.edit_task(&Caller::owner(), &first, patch.clone()).await.unwrap();
    assert_eq!((task.description.as_deref(), task.model.as_deref(), task.card.priority), (Some("More"), Some("m"), 3));
    assert_eq!(task.card.depends_on, [second]);
    store.db.edit_task(&Caller::owner(), &first, patch).await.unwrap();
    let fields = ["description", "model", "priority", "depends_on"].map(str::to_owned).to_vec();
    assert_eq!(store.since(seq).await, [TaskEvent::Edited { fields }.into()]);
    let cleared = TaskPatch { description: Some(String::new()), ..TaskPatch::default() };
    assert_eq!(store.db.edit_task(&Caller::owner(), &first, cleared).await.unwrap().description, None);
    store.check_fold().await;
}

#[tokio::test]
async fn cycles_and_foreign_dependencies_are_refused() {
    let store = Store::board().await;
    let first = store.task("One").await;
    let second = store.task_after("Two", &[&first]).await;
    let third = store.task_after("Three", &[&second]).await;
    let before = store.dump().await;
    let refused = refusal(store.db.edit_task(&Caller::owner(), &first, depends(&[&third])).await);
    assert_eq!(refused.to_string(), "the dependencies form a cycle: TASK-001 → TASK-003 → TASK-002 → TASK-001");
    assert_eq!(code(store.db.edit_task(&Caller::owner(), &first, depends(&[&first])).await), "dependency-circle");
    assert_eq!(code(store.db.edit_task(&Caller::owner(), &first, depends(&[&"TASK-404".parse().unwrap()])).await), "not-found");
    assert_eq!(code(store.db.edit_task(&Caller::Runner, &first, depends(&[])).await), "human-only");
    assert_eq!(store.dump().await, before);
}

#[tokio::test]
async fn cancelled_dependency_needs_attention_until_settled() {
    let store = Store::board().await;
    let (first, second) = (store.task("One").await, store.task("Two").await);
    let waiting = store.task_after("Waits", &[&first, &second]).await;
    let lost_dependency = async || store.card(&waiting).await.attention.map(|attention| attention.detail[..8].to_owned());
    store.cancel(&first, "duplicate").await;
    assert_eq!(lost_dependency().await, None, "a duplicate counts as done");
    store.cancel(&second, "failed").await;
    assert_eq!(lost_dependency().await.as_deref(), Some("TASK-002"));
    assert_eq!(store.card(&waiting).await.attention.unwrap().kind, AttentionKind::DependencyCancelled);
    store.db.start_task(&Caller::owner(), &waiting).await.unwrap();
    assert_eq!(lost_dependency().await.as_deref(), Some("TASK-002"), "starting it does not restore the dependency");
    let third = store.task("Three").await;
    store.cancel(&third, "abandoned").await;
    store.db.edit_task(&Caller::owner(), &waiting, depends(&[&third])).await.unwrap();
    assert_eq!(lost_dependency().await.as_deref(), Some("TASK-004"));
    store.move_to(&Caller::owner(), &third, Status::Backlog).await.unwrap();
    assert_eq!(lost_dependency().await, None);
    store.check_fold().await;
}

#[tokio::test]
async fn start_and_retry_reset_attempts() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let failures = async || store.db.snapshot().await.unwrap().tasks[0].failures;
    for attempt in 1..=3 {
        let agent = store.agent(&task, AgentKind::Coder).await;
        store.end(&agent.run, EndClass::Failed, Some(FailureClass::Crashed)).await;
        assert_eq!(failures().await, attempt);
    }
    assert_eq!(store.card(&task).await.attention.unwrap().kind, AttentionKind::Failed);
    assert_eq!(code(store.reserve(&task, AgentKind::Coder, "base").await.map(|_| ())), "not-now");
    store.db.retry_task(&Caller::owner(), &task, Default::default()).await.unwrap();
    let state = store.db.snapshot().await.unwrap().tasks.remove(0);
    assert_eq!((state.failures, state.last_failure, state.retry_at), (0, None, None));
    assert_eq!(state.task.card.attention, None);
    store.db.stop_task(&Caller::owner(), &task).await.unwrap();
    assert_eq!(store.card(&task).await.held_by, Some(HeldBy::Stop));
    store.db.start_task(&Caller::owner(), &task).await.unwrap();
    assert_eq!(store.card(&task).await.held_by, None);
    store.check_fold().await;
}

#[tokio::test]
async fn only_the_human_starts_and_stops_open_tasks() {
    let store = Store::board().await;
    let task = store.task("One").await;
    for caller in [Caller::Runner, store.agent(&task, AgentKind::Coder).await.caller] {
        assert_eq!(code(store.db.start_task(&caller, &task).await), "human-only");
        assert_eq!(code(store.db.retry_task(&caller, &task, Default::default()).await), "human-only");
        assert_eq!(code(store.db.stop_task(&caller, &task).await), "human-only");
    }
    store.cancel(&task, "obsolete").await;
    assert_eq!(code(store.db.start_task(&Caller::owner(), &task).await), "not-now");
    assert_eq!(code(store.db.retry_task(&Caller::owner(), &task, Default::default()).await), "not-now");
    assert_eq!(code(store.db.stop_task(&Caller::owner(), &task).await), "no-live-run");
}

#[tokio::test]
async fn edit_and_move_happen_together_or_not_at_all() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let patch = || TaskPatch { title: Some("Two".to_owned()), ..TaskPatch::default() };
    let change = async |to| {
        let request = MoveRequest { to, reason: Some("obsolete".to_owned()), merge: false };
        store.db.edit_and_move_task(&Caller::owner(), &task, patch(), request, EvidenceResult::Nothing).await
    };
    let seq = store.db.latest();
    assert_eq!(code(change(Status::InReview).await), "illegal-move");
    assert_eq!((store.card(&task).await.title.as_str(), store.db.latest()), ("One", seq), "the edit was undone with the move");

    let changed = change(Status::Cancelled).await.unwrap().card;
    assert_eq!((changed.title.as_str(), changed.status), ("Two", Status::Cancelled));
    let events = store.since(seq).await;
    assert!(matches!(events.as_slice(), [Event::Task(TaskEvent::Edited { .. }), Event::Task(TaskEvent::Moved { .. }), ..]), "{events:?}");
    store.check_fold().await;
}
