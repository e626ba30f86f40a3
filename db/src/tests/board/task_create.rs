//! Creation of tasks: by the human, by agents, and several at once.

use domain::board::project::PlanApproval;
use domain::board::status::{HeldBy, Status};
use domain::board::task::{Dependency, NewSubtask, NewTask};
use domain::runs::agent_kind::AgentKind;
use domain::team::role::Role;

use crate::Caller;
use crate::tests::store::{Store, code, new_task, parts, refusal};

#[tokio::test]
async fn human_card_is_held_unless_started() {
    let store = Store::board().await;
    let full = NewTask {
        description: Some(" keep\r\nme ".to_owned()),
        phase: Some(AgentKind::Planner),
        priority: Some(7),
        model: Some("a-model".to_owned()),
        ..new_task("  Trim me ")
    };
    let task = store.db.create_task(&Caller::owner(), &store.project, full).await.unwrap();
    assert_eq!((task.card.title.as_str(), task.card.phase, task.card.status), ("Trim me", AgentKind::Planner, Status::Backlog));
    assert_eq!((task.card.held_by, task.card.priority), (Some(HeldBy::Human), 7));
    assert_eq!((task.description.as_deref(), task.model.as_deref()), (Some(" keep\r\nme "), Some("a-model")));
    let first = store.task("Start at once").await;
    assert_eq!(store.card(&first).await.held_by, None);
    let second = store.task_after("Then this", &[&first, &first]).await;
    assert_eq!(store.card(&second).await.depends_on, [first]);
    store.check_fold().await;
}

#[tokio::test]
async fn invalid_task_is_refused_without_side_effects() {
    let store = Store::board().await;
    let before = store.dump().await;
    let create = async |new: NewTask| store.db.create_task(&Caller::owner(), &store.project, new).await;
    assert_eq!(code(create(new_task(" ")).await), "invalid");
    assert_eq!(code(create(new_task(&"x".repeat(501))).await), "invalid");
    assert_eq!(code(create(NewTask { description: Some("a\0".to_owned()), ..new_task("t") }).await), "invalid");
    assert_eq!(code(create(NewTask { phase: Some(AgentKind::Reviewer), ..new_task("t") }).await), "invalid");
    assert_eq!(code(create(NewTask { depends_on: vec!["TASK-404".parse().unwrap()], ..new_task("t") }).await), "not-found");
    assert_eq!(code(create(NewTask { depends_on: vec!["TASK-001".parse().unwrap()], ..new_task("itself") }).await), "dependency-circle");
    assert_eq!(code(create(NewTask { parent_task_id: Some("TASK-404".parse().unwrap()), ..new_task("t") }).await), "not-found");
    assert_eq!(code(store.db.create_task(&Caller::owner(), &"PROJ-009".parse().unwrap(), new_task("t")).await), "not-found");
    assert_eq!(code(store.db.task(&"TASK-001".parse().unwrap()).await), "not-found");
    assert_eq!(store.dump().await, before);
    assert_eq!(store.task("The numbers of refused ones are given again").await.as_str(), "TASK-001");
}

#[tokio::test]
async fn subtasks_refer_to_each_other_by_position() {
    let (store, planner) = Store::plan(PlanApproval::Auto).await;
    let agent = store.agent(&planner, AgentKind::Planner).await;
    let after = |index: u32, title: &str| NewSubtask { depends_on: vec![Dependency::Index(index)], ..parts(&[title]).remove(0) };
    let made = store.db.create_subtasks(&agent.caller, &planner, vec![after(1, "Last"), parts(&["First"]).remove(0)]).await.unwrap();
    assert_eq!(made[0].card.depends_on, [made[1].card.id.clone()]);
    assert!(made.iter().all(|task| task.card.parent_task_id.as_ref() == Some(&planner) && task.card.held_by.is_none()));
    let known = NewSubtask { depends_on: vec![Dependency::Task(made[0].card.id.clone())], ..parts(&["After both"]).remove(0) };
    assert_eq!(store.db.create_subtasks(&agent.caller, &planner, vec![known]).await.unwrap()[0].card.depends_on, [made[0].card.id.clone()]);
    store.check_fold().await;
}

#[tokio::test]
async fn subtasks_are_created_all_or_none() {
    let (store, planner) = Store::plan(PlanApproval::Auto).await;
    let agent = store.agent(&planner, AgentKind::Planner).await;
    let before = store.dump().await;
    let on = |dependencies: Vec<Dependency>| NewSubtask { depends_on: dependencies, ..parts(&["Bad"]).remove(0) };
    let good = parts(&["Good"]).remove(0);
    for bad in [
        on(vec![Dependency::Index(2)]),
        on(vec![Dependency::Index(1)]),
        on(vec![Dependency::Task("TASK-404".parse().unwrap())]),
        parts(&[" "]).remove(0),
        NewSubtask { phase: Some(AgentKind::Orchestrator), ..parts(&["Bad"]).remove(0) },
    ] {
        refusal(store.db.create_subtasks(&agent.call("same call"), &planner, vec![good.clone(), bad]).await);
        assert_eq!(store.dump().await, before);
    }
    let circle = vec![on(vec![Dependency::Index(1)]), on(vec![Dependency::Index(0)])];
    assert_eq!(code(store.db.create_subtasks(&agent.caller, &planner, circle).await), "dependency-circle");
    assert_eq!(code(store.db.create_subtasks(&agent.caller, &planner, Vec::new()).await), "invalid");
    assert_eq!(code(store.db.create_subtasks(&agent.caller, &planner, parts(&["x"; 51])).await), "invalid");
    assert_eq!(store.dump().await, before);
    let made = store.db.create_subtasks(&agent.call("same call"), &planner, vec![good; 50]).await.unwrap();
    assert_eq!(made.len(), 50);
}

#[tokio::test]
async fn agents_add_tasks_only_to_their_own_plan() {
    let (store, planner) = Store::plan(PlanApproval::Ask).await;
    let other = store.task("Not of the plan").await;
    let agent = store.agent(&planner, AgentKind::Planner).await;
    let loose = store.db.create_task(&agent.caller, &store.project, new_task("No parent named")).await.unwrap();
    assert_eq!(loose.card.parent_task_id.as_ref(), Some(&planner));
    assert_eq!(loose.card.held_by, Some(HeldBy::Plan), "a single task is held like a whole plan");
    let wrong = NewTask { parent_task_id: Some(other.clone()), ..new_task("t") };
    assert_eq!(code(store.db.create_task(&agent.caller, &store.project, wrong).await), "not-your-task");
    assert_eq!(code(store.db.create_subtasks(&agent.caller, &other, parts(&["t"])).await), "not-your-task");
    let coder = store.agent(&other, AgentKind::Coder).await;
    assert_eq!(code(store.db.create_task(&coder.caller, &store.project, new_task("t")).await), "not-your-role");
    assert_eq!(code(store.db.create_subtasks(&coder.caller, &other, parts(&["t"])).await), "not-your-role");
    let elsewhere = domain::wire::NewProject { title: "Other".to_owned(), ..Default::default() };
    let elsewhere = store.db.create_project(&Caller::owner(), elsewhere, crate::tests::store::probe()).await.unwrap().id;
    assert_eq!(code(store.db.create_task(&agent.caller, &elsewhere, new_task("t")).await), "not-found");
}

#[tokio::test]
async fn cancelled_task_cannot_get_children() {
    let store = Store::board().await;
    let parent = store.task("Parent").await;
    store.cancel(&parent, "obsolete").await;
    assert_eq!(code(store.db.create_subtasks(&Caller::owner(), &parent, parts(&["t"])).await), "not-now");
    let other = store.task("Other").await;
    let made = store.db.create_subtasks(&Caller::owner(), &other, parts(&["t"])).await.unwrap();
    assert_eq!(made[0].card.parent_task_id, Some(other));
}

#[tokio::test]
async fn external_agent_adds_to_a_plan_only_as_lead() {
    let (store, planner) = Store::plan(PlanApproval::Auto).await;
    let (lena, ben, rob) = (store.member("lena", &[Role::Lead]).await, store.member("ben", &[]).await, store.guest("rob").await);
    store.plan_battle().await;
    let below = || NewTask { parent_task_id: Some(planner.clone()), ..new_task("Part") };
    assert_eq!(code(store.db.create_task(&ben, &store.project, below()).await), "lead-only");
    assert_eq!(code(store.db.create_task(&rob, &store.project, below()).await), "unverified");
    assert_eq!(store.db.create_task(&lena, &store.project, below()).await.unwrap().card.parent_task_id, Some(planner.clone()));
    store.db.create_task(&ben, &store.project, new_task("On its own")).await.unwrap();
}
