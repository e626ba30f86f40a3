//! Hats: they come from the assignee's roles and never conflict within a project.

use domain::board::task::{NewTask, TaskUpdate};
use domain::runs::evidence::EvidenceResult;
use domain::team::role::Role;

use crate::Caller;
use crate::tests::external_agents::{assigned, completed, crew, update};
use crate::tests::store::{Store, code, new_task, refusal};

#[tokio::test]
async fn lead_assigns_hats_from_the_assignees_roles() {
    let store = Store::board().await;
    let crew = crew(&store).await;
    let cleo = store.member("cleo", &[]).await;
    let task = assigned(&store, "One", "ben").await;
    assert_eq!(code(store.db.assign_role_hat(&crew.ben, &task, Role::Builder).await), "lead-only");
    let refused = refusal(store.db.assign_role_hat(&crew.lena, &task, Role::Shipper).await);
    assert_eq!(refused.to_string(), "role_hat: shipper is not a role of ben: its roles are builder");
    assert_eq!(store.db.assign_role_hat(&crew.lena, &task, Role::Builder).await.unwrap().card.contributors.role_hat, Some(Role::Builder));
    // An agent without roles may take any hat.
    let other = assigned(&store, "Two", "cleo").await;
    store.db.assign_role_hat(&Caller::owner(), &other, Role::Pen).await.unwrap();
    let nobodys = store.task("Three").await;
    assert_eq!(code(store.db.assign_role_hat(&crew.lena, &nobodys, Role::Builder).await), "not-now");
    let worn: Vec<String> =
        store.db.hats(&store.project).await.unwrap().iter().map(|hat| format!("{} {} {}", hat.agent_name, hat.role_hat, hat.task_id)).collect();
    assert_eq!(worn, ["ben builder TASK-001", "cleo pen TASK-002"]);
    assert_eq!(cleo.name().as_deref(), Some("cleo"));
    store.check_fold().await;
}

#[tokio::test]
async fn hats_conflict_across_all_tasks_of_a_project() {
    let store = Store::board().await;
    let lena = store.member("lena", &[Role::Lead]).await;
    store.plan_battle().await;
    store.member("joe", &[Role::Builder, Role::Reviewer, Role::Tester, Role::Shipper]).await;
    let wears = |hat| NewTask { assigned_to: Some("joe".to_owned()), role_hat: Some(hat), ..new_task("One") };
    let first = store.db.create_task(&lena, &store.project, wears(Role::Builder)).await.unwrap().card.id;
    store.cancel(&first, "obsolete").await;
    let before = store.dump().await;
    for hat in [Role::Tester, Role::Reviewer] {
        let refused = refusal(store.db.create_task(&lena, &store.project, wears(hat)).await);
        assert_eq!(refused.to_string(), format!("joe cannot take the hat {hat}, because it had the hat builder on TASK-001"));
    }
    assert_eq!(store.dump().await, before);
    let second = store.db.create_task(&lena, &store.project, wears(Role::Shipper)).await.unwrap().card.id;
    assert_eq!(code(store.db.assign_role_hat(&lena, &second, Role::Tester).await), "hat-conflict");
    // Hats of another project do not conflict.
    let elsewhere = domain::wire::NewProject { title: "Other".to_owned(), ..Default::default() };
    let other = Store { project: store.db.create_project(&Caller::owner(), elsewhere, crate::tests::store::probe()).await.unwrap().id, ..store };
    other.member("joe", &[Role::Tester]).await;
    other.db.create_task(&Caller::owner(), &other.project, wears(Role::Tester)).await.unwrap();
}

#[tokio::test]
async fn task_with_conflicting_hat_cannot_be_assigned() {
    let store = Store::board().await;
    let crew = crew(&store).await;
    store.member("joe", &[Role::Builder, Role::Tester]).await;
    let wears = |name: &str, hat| NewTask { assigned_to: Some(name.to_owned()), role_hat: Some(hat), ..new_task("One") };
    store.db.create_task(&crew.lena, &store.project, wears("joe", Role::Tester)).await.unwrap();
    let task = store.db.create_task(&crew.lena, &store.project, wears("ben", Role::Builder)).await.unwrap().card.id;
    let to = |name: &str| TaskUpdate { assigned_to: Some(name.to_owned()), ..TaskUpdate::default() };
    assert_eq!(code(update(&store, &crew.lena, &task, to("joe")).await), "hat-conflict");
    assert_eq!(code(update(&store, &crew.lena, &task, to("tess")).await), "invalid");
    let card = store.db.assign_task(&Caller::owner(), &task, Some("tess".to_owned()), Some(Role::Tester)).await.unwrap().card;
    assert_eq!(card.contributors.role_hat, Some(Role::Tester));
}

#[tokio::test]
async fn builder_or_fixer_hat_excludes_verification() {
    let store = Store::board().await;
    let crew = crew(&store).await;
    let task = completed(&store, "One", &crew).await;
    let bob = store.member("bob", &[Role::Builder, Role::Fixer, Role::Tester]).await;
    let new = NewTask { assigned_to: Some("bob".to_owned()), role_hat: Some(Role::Fixer), ..new_task("Two") };
    store.db.create_task(&crew.lena, &store.project, new).await.unwrap();
    let refused = refusal(store.db.verify_task(&bob, &task, None).await);
    assert_eq!(refused.to_string(), "bob cannot take the hat tester, because it had the hat fixer on TASK-002");
    assert_eq!(code(store.db.reject_verification(&bob, &task, "No").await), "hat-conflict");
    // Verification counts as the tester's hat, which excludes building afterwards.
    store.db.verify_task(&crew.tess, &task, None).await.unwrap();
    assert_eq!(store.db.hats(&store.project).await.unwrap().last().unwrap().role_hat, Role::Tester);
    let register = domain::team::agent::Registration { name: "tess".to_owned(), roles: vec![Role::Builder], ..Default::default() };
    store.db.register(&crew.tess, &store.project, register, None).await.unwrap();
    let new = NewTask { assigned_to: Some("tess".to_owned()), role_hat: Some(Role::Builder), ..new_task("Three") };
    assert_eq!(code(store.db.create_task(&crew.lena, &store.project, new).await), "hat-conflict");
    let other = assigned(&store, "Four", "ben").await;
    crate::tests::external_agents::submit(&store, &other, &crew.ben).await;
    store.db.approve_task(&crew.lena, &other, None, EvidenceResult::Nothing).await.unwrap();
}
