//! The order of open tasks, which a person changes.

use domain::board::order::NewPlace;
use domain::board::project::PlanApproval;
use domain::board::status::{CancelReason, HeldBy, Status};
use domain::board::task::TaskPatch;
use domain::board::task::event::TaskEvent;
use domain::id::TaskId;
use domain::runs::evidence::EvidenceResult;

use crate::tests::store::{Store, code, whole_board};
use crate::{Caller, MoveRequest};

fn before(task: &TaskId) -> NewPlace {
    NewPlace { before: Some(task.clone()), after: None }
}

fn after(task: &TaskId) -> NewPlace {
    NewPlace { before: None, after: Some(task.clone()) }
}

async fn backlog(store: &Store) -> Vec<TaskId> {
    whole_board(&store.db, &store.project).await.unwrap().column(Status::Backlog).into_iter().map(|card| card.id.clone()).collect()
}

#[tokio::test]
async fn reordered_task_keeps_its_place() {
    let store = Store::board().await;
    let [one, two, three] = [store.task("One").await, store.task("Two").await, store.task("Three").await];
    let owner = Caller::owner();
    let seq = store.db.latest();
    store.db.reorder_task(&owner, &three, before(&one)).await.unwrap();
    store.db.reorder_task(&owner, &one, after(&two)).await.unwrap();
    assert_eq!(backlog(&store).await, [three.clone(), two.clone(), one.clone()]);
    let edited = || TaskEvent::Edited { fields: vec!["position".to_owned()] }.into();
    assert_eq!(store.since(seq).await, [edited(), edited()]);
    let seq = store.db.latest();
    store.db.reorder_task(&owner, &one, after(&two)).await.unwrap();
    assert_eq!(store.db.latest(), seq, "it is there already");
    let four = store.task("Four").await;
    assert_eq!(backlog(&store).await.last(), Some(&four), "a new task comes last");
    let urgent = TaskPatch { priority: Some(1), ..TaskPatch::default() };
    store.db.edit_task(&owner, &four, urgent).await.unwrap();
    store.db.reorder_task(&owner, &one, before(&four)).await.unwrap();
    assert_eq!((backlog(&store).await[0].clone(), store.card(&one).await.priority), (one, 1), "it takes the priority of its place");
    store.check_fold().await;
}

#[tokio::test]
async fn only_an_open_task_of_the_same_column_can_be_a_neighbour() {
    let store = Store::board().await;
    let [one, two] = [store.task("One").await, store.task("Two").await];
    let owner = Caller::owner();
    let both = NewPlace { before: Some(two.clone()), after: Some(two.clone()) };
    let refused = [
        code(store.db.reorder_task(&owner, &one, before(&one)).await),
        code(store.db.reorder_task(&owner, &one, after(&TaskId::new(99))).await),
        code(store.db.reorder_task(&owner, &one, NewPlace::default()).await),
        code(store.db.reorder_task(&owner, &one, both).await),
        code(store.db.reorder_task(&owner, &TaskId::new(99), before(&one)).await),
    ];
    assert_eq!(refused, ["invalid", "invalid", "invalid", "invalid", "not-found"]);
    store.db.move_task(&owner, &two, cancelled(), EvidenceResult::Nothing).await.unwrap();
    assert_eq!(code(store.db.reorder_task(&owner, &one, before(&two)).await), "invalid");
    assert_eq!(code(store.db.reorder_task(&owner, &two, before(&one)).await), "not-now");
    assert_eq!(code(store.db.reorder_task(&Caller::Runner, &one, after(&two)).await), "human-only");
}

fn cancelled() -> MoveRequest {
    MoveRequest { to: Status::Cancelled, reason: Some(CancelReason::Obsolete.as_str().to_owned()), merge: false }
}

#[tokio::test]
async fn task_removed_from_a_plan_returns_to_it() {
    let (store, planner) = Store::plan(PlanApproval::Ask).await;
    let children = store.planned(&planner, &["One", "Two"]).await;
    let owner = Caller::owner();
    store.db.add_comment(&owner, &planner, "Why?", None).await.unwrap();
    store.db.move_task(&owner, &children[0], cancelled(), EvidenceResult::Nothing).await.unwrap();
    let plan = store.db.plan(&store.project).await.unwrap();
    assert_eq!(plan.tasks.iter().map(|task| &task.card.id).collect::<Vec<_>>(), [&children[1]]);
    assert_eq!((plan.planner.map(|planner| planner.id), plan.comments[0].content.as_str()), (Some(planner), "Why?"));
    store.db.move_task(&owner, &children[0], MoveRequest::to(Status::Backlog), EvidenceResult::Nothing).await.unwrap();
    assert_eq!(store.card(&children[0]).await.held_by, Some(HeldBy::Plan), "it waits with its plan");
    assert_eq!(store.db.plan(&store.project).await.unwrap().tasks.len(), 2);
    store.db.approve_plan(&owner, &store.project).await.unwrap();
    store.db.move_task(&owner, &children[0], cancelled(), EvidenceResult::Nothing).await.unwrap();
    store.db.move_task(&owner, &children[0], MoveRequest::to(Status::Backlog), EvidenceResult::Nothing).await.unwrap();
    assert_eq!(store.card(&children[0]).await.held_by, Some(HeldBy::Human), "the plan has started");
    store.check_fold().await;
}
