//! Assignment of tasks to external agents: on creation, later, and unassignment.

use std::collections::BTreeSet;

use domain::board::project::PlanApproval;
use domain::board::stage::Stage;
use domain::board::status::{HeldBy, Status};
use domain::board::task::{NewTask, TaskUpdate};
use domain::runs::agent_kind::AgentKind;
use domain::team::role::Role;

use crate::Caller;
use crate::tests::external_agents::{assigned, contributors, crew, messages_to, stage, update};
use crate::tests::store::{Store, code, new_task, parts, refusal, whole_board};

#[tokio::test]
async fn task_created_for_an_agent_notifies_it_and_the_leads() {
    let store = Store::board().await;
    let crew = crew(&store).await;
    let new = NewTask { assigned_to: Some("ben".to_owned()), role_hat: Some(Role::Builder), ..new_task("A page") };
    let task = store.db.create_task(&crew.tess, &store.project, new).await.unwrap();
    assert_eq!((Stage::of(&task.card), task.card.held_by, task.created_by.as_deref()), (Stage::Assigned, None, Some("tess")));
    assert_eq!((contributors(&task.card), task.card.contributors.role_hat), ("ben /  / - / -".to_owned(), Some(Role::Builder)));
    assert_eq!(messages_to(&store, "ben").await, ["tess: [ASSIGNED] TASK-001: A page"]);
    assert_eq!(messages_to(&store, "lena").await, ["tess: [ASSIGNED] TASK-001: A page (copy)"]);
    assert_eq!(code(store.reserve(&task.card.id, AgentKind::Coder, "base").await), "not-now");
    let events = store.kinds_since(0).await;
    assert!(events.contains(&"task_assigned") && events.contains(&"hat_assigned"), "{events:?}");
    store.check_fold().await;
}

#[tokio::test]
async fn self_assigned_task_notifies_only_the_leads() {
    let store = Store::board().await;
    let crew = crew(&store).await;
    let new = NewTask { assigned_to: Some("ben".to_owned()), ..new_task("A page") };
    let task = store.db.create_task(&crew.ben, &store.project, new).await.unwrap().card.id;
    assert_eq!(messages_to(&store, "ben").await, Vec::<String>::new());
    assert_eq!(messages_to(&store, "lena").await, ["ben: [ASSIGNED] TASK-001: A page"]);
    stage(&store, &crew.ben, &task, Stage::InProgress).await.unwrap();
}

#[tokio::test]
async fn task_of_an_external_agent_is_held_for_the_human() {
    let store = Store::board().await;
    let rob = store.guest("rob").await;
    // Only the human starts tasks.
    let task = store.db.create_task(&rob, &store.project, NewTask { start: true, ..new_task("Mend it") }).await.unwrap();
    assert_eq!((task.card.held_by, Stage::of(&task.card)), (Some(HeldBy::Human), Stage::Pending));
    assert_eq!(task.created_by.as_deref(), Some("rob"));
    for title in ["", " ", "a\0b", &"x".repeat(1 << 20)] {
        assert_eq!(code(store.db.create_task(&rob, &store.project, new_task(title)).await), "invalid");
    }
    let Caller::Agent(mut elsewhere) = rob.clone() else { panic!("not an external agent") };
    elsewhere.project_id = "PROJ-404".parse().unwrap();
    assert_eq!(code(store.db.create_task(&Caller::Agent(elsewhere), &store.project, new_task("Spy")).await), "not-found");
    store.leaves(&rob, "rob").await;
    assert_eq!(code(store.db.create_task(&rob, &store.project, new_task("Late")).await), "not-registered");
}

#[tokio::test]
async fn only_active_external_agents_can_be_assigned() {
    let store = Store::board().await;
    let crew = crew(&store).await;
    let running = store.task("Running").await;
    store.agent(&running, AgentKind::Coder).await;
    let before = store.dump().await;
    let make = async |to: &str| {
        let new = NewTask { assigned_to: Some(to.to_owned()), ..new_task("One") };
        refusal(store.db.create_task(&crew.lena, &store.project, new).await)
    };
    let own = make("coder-TASK-001").await;
    assert_eq!(own.to_string(), "assigned_to: coder-TASK-001 is not an external agent");
    assert!(own.hint().contains("omit assigned_to"), "{}", own.hint());
    assert_eq!((make("human").await.code(), make("all").await.code()), ("invalid", "invalid"));
    let unknown = make("benn").await;
    assert_eq!(unknown.code(), "unknown-agent");
    assert!(unknown.hint().starts_with("Did you mean ben"), "{}", unknown.hint());
    let planning = NewTask { assigned_to: Some("ben".to_owned()), phase: Some(AgentKind::Planner), ..new_task("Plan") };
    assert_eq!(code(store.db.create_task(&crew.lena, &store.project, planning).await), "invalid");
    assert_eq!(store.dump().await, before, "a refused task leaves nothing behind");
    store.leaves(&crew.ben, "ben").await;
    assert_eq!(make("ben").await.code(), "dead-agent");
}

#[tokio::test]
async fn short_and_team_names_resolve_to_the_assignee() {
    let store = Store::board().await;
    let lead = store.member("platform/lea", &[Role::Lead]).await;
    store.plan_battle().await;
    store.member("platform/ann", &[]).await;
    store.member("apps/ann", &[]).await;
    store.member("lead", &[Role::Lead]).await;
    let new = |to: &str| NewTask { assigned_to: Some(to.to_owned()), ..new_task("One") };
    let task = store.db.create_task(&lead, &store.project, new("ann")).await.unwrap();
    assert_eq!(task.card.contributors.assigned_to.as_deref(), Some("platform/ann"));
    assert_eq!(code(store.db.create_task(&Caller::owner(), &store.project, new("ann")).await), "ambiguous-agent");
}

#[tokio::test]
async fn assignee_cannot_start_before_dependencies_are_done() {
    let store = Store::board().await;
    let crew = crew(&store).await;
    let first = store.task("First").await;
    let new = NewTask { assigned_to: Some("ben".to_owned()), depends_on: vec![first.clone()], ..new_task("Second") };
    let second = store.db.create_task(&crew.lena, &store.project, new).await.unwrap().card.id;
    let refused = refusal(stage(&store, &crew.ben, &second, Stage::InProgress).await);
    assert_eq!(refused.to_string(), "TASK-002 depends on unfinished tasks: TASK-001");
    store.cancel(&first, "duplicate").await;
    assert_eq!(stage(&store, &crew.ben, &second, Stage::InProgress).await.unwrap().card.status, Status::InProgress);
}

#[tokio::test]
async fn only_leads_assign_waiting_tasks() {
    let store = Store::board().await;
    let crew = crew(&store).await;
    let rob = store.guest("rob").await;
    let task = store.db.create_task(&rob, &store.project, new_task("Mend it")).await.unwrap().card.id;
    let to = |name: &str| TaskUpdate { stage: Some(Stage::Assigned), assigned_to: Some(name.to_owned()), ..TaskUpdate::default() };
    let refused = refusal(update(&store, &crew.tess, &task, to("tess")).await);
    assert_eq!(refused.to_string(), "making it assigned requires a lead, and tess is not one");
    assert_eq!(code(update(&store, &rob, &task, to("rob")).await), "unverified");
    assert_eq!(code(stage(&store, &crew.lena, &task, Stage::Assigned).await), "invalid");
    let given = update(&store, &crew.lena, &task, to("rob")).await.unwrap().card;
    assert_eq!((Stage::of(&given), given.held_by, contributors(&given)), (Stage::Assigned, None, "rob /  / - / -".to_owned()));
    // Reassignment before the start keeps the stage.
    let moved = TaskUpdate { assigned_to: Some("ben".to_owned()), ..TaskUpdate::default() };
    assert_eq!(code(update(&store, &rob, &task, moved.clone()).await), "unverified");
    update(&store, &crew.lena, &task, moved).await.unwrap();
    assert_eq!(messages_to(&store, "rob").await, ["lena: [ASSIGNED] TASK-001: Mend it", "lena: [UNASSIGNED] TASK-001: Mend it"]);
    assert_eq!(messages_to(&store, "ben").await, ["lena: [ASSIGNED] TASK-001: Mend it"]);
    assert_eq!(code(stage(&store, &rob, &task, Stage::InProgress).await), "not-assignee");
    store.check_fold().await;
}

#[tokio::test]
async fn lead_respects_stopped_tasks_and_plan_holds() {
    let store = Store::board().await;
    let crew = crew(&store).await;
    let task = store.task("One").await;
    store.db.stop_task(&Caller::owner(), &task).await.unwrap();
    assert_eq!(code(store.db.assign_task(&crew.lena, &task, Some("ben".to_owned()), None).await), "not-now");
    let card = store.db.assign_task(&Caller::owner(), &task, Some("ben".to_owned()), None).await.unwrap().card;
    assert_eq!((card.held_by, Stage::of(&card)), (None, Stage::Assigned));

    let (store, planner) = Store::plan(PlanApproval::Ask).await;
    let ben = store.member("ben", &[]).await;
    let planning = store.agent(&planner, AgentKind::Planner).await;
    let new = NewTask { assigned_to: Some("ben".to_owned()), ..new_task("Part") };
    let part = store.db.create_task(&planning.caller, &store.project, new).await.unwrap().card;
    assert_eq!((part.held_by, part.contributors.assigned_to.as_deref()), (Some(HeldBy::Plan), Some("ben")));
    assert_eq!(code(stage(&store, &ben, &part.id, Stage::InProgress).await), "not-now");
    store.move_to(&planning.caller, &planner, Status::Done).await.unwrap();
    store.db.approve_plan(&Caller::owner(), &store.project).await.unwrap();
    stage(&store, &ben, &part.id, Stage::InProgress).await.unwrap();
}

#[tokio::test]
async fn assignment_fences_the_run_and_unassignment_holds() {
    let store = Store::board().await;
    let crew = crew(&store).await;
    let task = store.task("One").await;
    let coder = store.agent(&task, AgentKind::Coder).await;
    let card = store.db.assign_task(&Caller::owner(), &task, Some("ben".to_owned()), Some(Role::Builder)).await.unwrap().card;
    assert!(card.run.unwrap().stopping);
    assert_eq!(code(store.db.add_comment(&coder.caller, &task, "But I am at it", None).await), "stale-run");
    store.finish(&coder).await;
    assert_eq!(code(store.reserve(&task, AgentKind::Coder, "base").await), "not-now");
    assert_eq!(code(store.db.assign_task(&crew.lena, &task, None, None).await), "human-only");
    let back = store.db.assign_task(&Caller::owner(), &task, None, None).await.unwrap().card;
    assert_eq!((back.held_by, back.contributors.role_hat), (Some(HeldBy::Human), None));
    assert_eq!(contributors(&back), "- / coder-TASK-001+ben / - / -", "it was in progress, so ben counts as a builder");
    assert_eq!(messages_to(&store, "ben").await, ["human: [ASSIGNED] TASK-001: One", "human: [UNASSIGNED] TASK-001: One"]);
    store.db.start_task(&Caller::owner(), &task).await.unwrap();
    store.reserve(&task, AgentKind::Coder, "base").await.unwrap();
    assert_eq!(code(store.db.assign_task(&crew.ben, &task, Some("ben".to_owned()), None).await), "lead-only");
    store.cancel(&task, "obsolete").await;
    assert_eq!(code(store.db.assign_task(&Caller::owner(), &task, Some("ben".to_owned()), None).await), "not-now");
    store.check_fold().await;
}

#[tokio::test]
async fn only_leads_create_several_tasks_at_once() {
    let store = Store::board().await;
    let crew = crew(&store).await;
    let plan = store.task("Plan").await;
    assert_eq!(code(store.db.create_subtasks(&crew.ben, &plan, parts(&["One"])).await), "lead-only");
    assert_eq!(code(store.db.create_subtasks(&store.guest("rob").await, &plan, parts(&["One"])).await), "unverified");
    let made = store.db.create_subtasks(&crew.lena, &plan, parts(&["One", "Two"])).await.unwrap();
    let seen: Vec<_> = made.iter().map(|task| (task.card.held_by, task.created_by.as_deref())).collect();
    assert_eq!(seen, [(Some(HeldBy::Human), Some("lena")); 2]);
}

#[tokio::test]
async fn task_names_its_creator() {
    let (store, planner) = Store::plan(PlanApproval::Auto).await;
    let children = store.planned(&planner, &["One"]).await;
    store.complete(&children[0]).await;
    let made_by: Vec<Option<String>> = sqlx::query_scalar("SELECT created_by FROM tasks ORDER BY id").fetch_all(&store.db.readers).await.unwrap();
    assert_eq!(made_by.iter().map(|name| name.as_deref().unwrap()).collect::<Vec<_>>(), ["human", "planner-TASK-001", "runner"]);
}

#[tokio::test]
async fn concurrently_created_tasks_get_unique_ids() {
    let store = Store::board().await;
    let mut writers = Vec::new();
    for writer in 0..8 {
        let (db, project, caller) = (store.db.clone(), store.project.clone(), store.member(&format!("agent-{writer}"), &[]).await);
        writers.push(tokio::spawn(async move {
            let mut ids = Vec::new();
            for number in 0..25 {
                ids.push(db.create_task(&caller, &project, new_task(&format!("Task {number}"))).await.unwrap().card.id);
            }
            ids
        }));
    }
    let mut ids = BTreeSet::new();
    for writer in writers {
        ids.extend(writer.await.unwrap());
    }
    assert_eq!(ids.len(), 200);
    assert_eq!(whole_board(&store.db, &store.project).await.unwrap().cards.len(), 200);
}

#[tokio::test]
async fn unresponsive_agent_cannot_be_assigned() {
    let store = Store::board().await;
    let crew = crew(&store).await;
    store.make_unresponsive("ben").await;
    let new = NewTask { assigned_to: Some("ben".to_owned()), ..new_task("One") };
    assert_eq!(code(store.db.create_task(&crew.lena, &store.project, new).await), "dead-agent");
    let tess = assigned(&store, "Two", "tess").await;
    assert_eq!(store.card(&tess).await.contributors.assigned_to.as_deref(), Some("tess"));
}
