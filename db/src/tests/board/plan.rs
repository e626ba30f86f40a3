//! Plans that wait for the human's approval.

use domain::board::project::{PlanApproval, ProjectStatus};
use domain::board::status::{CancelReason, HeldBy, Status};
use domain::id::TaskId;
use domain::runs::agent_kind::AgentKind;
use domain::runs::evidence::EvidenceResult;

use crate::Caller;
use crate::tests::store::{Store, code, parts, whole_board};

async fn held(store: &Store, ids: &[TaskId]) -> Vec<Option<HeldBy>> {
    let mut held = Vec::new();
    for id in ids {
        held.push(store.card(id).await.held_by);
    }
    held
}

#[tokio::test]
async fn plan_is_held_until_approved() {
    let (store, planner) = Store::plan(PlanApproval::Ask).await;
    let children = store.planned(&planner, &["One", "Two"]).await;
    assert_eq!(held(&store, &children).await, [Some(HeldBy::Plan); 2]);
    assert_eq!(whole_board(&store.db, &store.project).await.unwrap().plan().len(), 2);
    assert_eq!(store.project().await.status, ProjectStatus::Active, "a project with a pending plan is not complete");
    assert_eq!(code(store.reserve(&children[0], AgentKind::Coder, "base").await.map(|_| ())), "not-now");
    let seq = store.db.latest();
    store.db.approve_plan(&Caller::owner(), &store.project).await.unwrap();
    assert_eq!(store.kinds_since(seq).await, ["plan_approved", "task_released", "task_released"]);
    assert_eq!(held(&store, &children).await, [None; 2]);
    store.agent(&children[0], AgentKind::Coder).await;
    assert_eq!(code(store.db.approve_plan(&Caller::owner(), &store.project).await), "no-plan-waiting");
    store.check_fold().await;
}

#[tokio::test]
async fn revised_plan_returns_to_its_planner_with_feedback() {
    let (store, planner) = Store::plan(PlanApproval::Ask).await;
    let children = store.planned(&planner, &["One", "Two"]).await;
    store.db.revise_plan(&Caller::owner(), &store.project, "Smaller steps").await.unwrap();
    for child in &children {
        let card = store.card(child).await;
        assert_eq!((card.status, card.cancel_reason), (Status::Cancelled, Some(CancelReason::Obsolete)));
    }
    assert_eq!(store.status(&planner).await, Status::InProgress);
    assert_eq!(store.db.comments(&planner).await.unwrap()[0].content, "Smaller steps");
    let again = store.planned(&planner, &["Smaller"]).await;
    assert_eq!(held(&store, &again).await, [Some(HeldBy::Plan)]);
    store.check_fold().await;
}

#[tokio::test]
async fn feedback_reaches_running_planner() {
    let (store, planner) = Store::plan(PlanApproval::Ask).await;
    let agent = store.agent(&planner, AgentKind::Planner).await;
    store.db.create_subtasks(&agent.caller, &planner, parts(&["One"])).await.unwrap();
    store.db.revise_plan(&Caller::owner(), &store.project, "Smaller steps").await.unwrap();
    assert_eq!(store.status(&planner).await, Status::InProgress);
    assert_eq!(store.db.comments(&planner).await.unwrap()[0].content, "Smaller steps");
    store.db.create_subtasks(&agent.caller, &planner, parts(&["Smaller"])).await.unwrap();
}

#[tokio::test]
async fn starting_one_task_keeps_the_rest_of_the_plan_held() {
    let (store, planner) = Store::plan(PlanApproval::Ask).await;
    let children = store.planned(&planner, &["One", "Two"]).await;
    store.db.start_task(&Caller::owner(), &children[0]).await.unwrap();
    assert_eq!(held(&store, &children).await, [None, Some(HeldBy::Plan)]);
    store.db.approve_plan(&Caller::owner(), &store.project).await.unwrap();
    assert_eq!(held(&store, &children).await, [None; 2]);
}

#[tokio::test]
async fn auto_approval_holds_nothing() {
    let (store, planner) = Store::plan(PlanApproval::Auto).await;
    let children = store.planned(&planner, &["One"]).await;
    assert_eq!(held(&store, &children).await, [None]);
    assert_eq!(code(store.db.approve_plan(&Caller::owner(), &store.project).await), "no-plan-waiting");
}

#[tokio::test]
async fn only_the_human_decides_about_a_plan() {
    let (store, planner) = Store::plan(PlanApproval::Ask).await;
    let agent = store.agent(&planner, AgentKind::Planner).await;
    store.db.create_subtasks(&agent.caller, &planner, parts(&["One"])).await.unwrap();
    let before = store.dump().await;
    assert_eq!(code(store.db.approve_plan(&agent.caller, &store.project).await), "human-only");
    assert_eq!(code(store.db.revise_plan(&Caller::Runner, &store.project, "x").await), "human-only");
    assert_eq!(code(store.db.revise_plan(&Caller::owner(), &store.project, " ").await), "invalid");
    assert_eq!(code(store.db.approve_plan(&Caller::owner(), &"PROJ-009".parse().unwrap()).await), "not-found");
    assert_eq!(store.dump().await, before);
    assert_eq!(code(store.move_with(&agent.caller, &planner, Status::Backlog, None, EvidenceResult::Nothing).await), "illegal-move");
}

#[tokio::test]
async fn finished_planner_cannot_add_tasks_or_ask() {
    let (store, planner) = Store::plan(PlanApproval::Ask).await;
    let planning = store.agent(&planner, AgentKind::Planner).await;
    store.db.create_subtasks(&planning.caller, &planner, parts(&["One"])).await.unwrap();
    store.move_to(&planning.caller, &planner, Status::Done).await.unwrap();
    let before = store.dump().await;
    assert_eq!(code(store.db.create_subtasks(&planning.caller, &planner, parts(&["Two"])).await), "not-now", "it would start without approval");
    assert_eq!(code(store.db.ask_question(&planning.caller, "Why?", Vec::new(), None).await), "not-now");
    assert_eq!(store.dump().await, before);
}

#[tokio::test]
async fn empty_plan_can_be_accepted() {
    let (store, planner) = Store::plan(PlanApproval::Auto).await;
    let planning = store.agent(&planner, AgentKind::Planner).await;
    store.move_with(&planning.caller, &planner, Status::Done, Some("nothing to do"), EvidenceResult::Nothing).await.unwrap();
    store.finish(&planning).await;
    assert!(store.card(&planner).await.attention.is_some());
    assert_eq!(store.project().await.status, ProjectStatus::Active);
    assert_eq!(store.db.retry_task(&Caller::owner(), &planner, Default::default()).await.unwrap().card.attention, None);
    assert_eq!(store.project().await.status, ProjectStatus::Complete);
    assert_eq!(code(store.db.retry_task(&Caller::owner(), &planner, Default::default()).await), "not-now");
    store.check_fold().await;
}
