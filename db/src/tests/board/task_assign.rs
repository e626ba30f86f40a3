//! Giving tasks to agents from outside: when they are made, afterwards, and back again.

use std::collections::BTreeSet;

use domain::board::project::PlanApproval;
use domain::board::stage::Stage;
use domain::board::status::{HeldBy, Status};
use domain::board::task::{NewTask, TaskUpdate};
use domain::runs::agent_kind::AgentKind;
use domain::team::role::Role;

use crate::Caller;
use crate::tests::external_agents::{assigned, crew, hands, stage, told, update};
use crate::tests::store::{Store, code, new_task, parts, refusal};

#[tokio::test]
async fn a_task_made_for_somebody_is_assigned_and_they_and_the_leads_are_told() {
    let store = Store::board().await;
    let crew = crew(&store).await;
    let new = NewTask { assigned_to: Some("ben".to_owned()), role_hat: Some(Role::Builder), ..new_task("A page") };
    let task = store.db.create_task(&crew.tess, &store.project, new).await.unwrap();
    assert_eq!((Stage::of(&task.card), task.card.held_by, task.created_by.as_deref()), (Stage::Assigned, None, Some("tess")));
    assert_eq!((hands(&task.card), task.card.contributors.role_hat), ("ben /  / - / -".to_owned(), Some(Role::Builder)));
    assert_eq!(told(&store, "ben").await, ["tess: [ASSIGNED] TASK-001: A page"]);
    assert_eq!(told(&store, "lena").await, ["tess: [ASSIGNED] TASK-001: A page (copy)"]);
    assert_eq!(code(store.reserve(&task.card.id, AgentKind::Coder, "base").await), "not-now");
    let events = store.kinds_since(0).await;
    assert!(events.contains(&"task_assigned") && events.contains(&"hat_assigned"), "{events:?}");
    store.check_fold().await;
}

#[tokio::test]
async fn whoever_takes_a_task_of_its_own_making_tells_the_leads_and_not_itself() {
    let store = Store::board().await;
    let crew = crew(&store).await;
    let new = NewTask { assigned_to: Some("ben".to_owned()), ..new_task("A page") };
    let task = store.db.create_task(&crew.ben, &store.project, new).await.unwrap().card.id;
    assert_eq!(told(&store, "ben").await, Vec::<String>::new());
    assert_eq!(told(&store, "lena").await, ["ben: [ASSIGNED] TASK-001: A page"]);
    stage(&store, &crew.ben, &task, Stage::InProgress).await.unwrap();
}

#[tokio::test]
async fn a_task_of_an_agent_from_outside_waits_for_the_person() {
    let store = Store::board().await;
    let rob = store.guest("rob").await;
    // To start tasks is the person's.
    let task = store.db.create_task(&rob, &store.project, NewTask { start: true, ..new_task("Mend it") }).await.unwrap();
    assert_eq!((task.card.held_by, Stage::of(&task.card)), (Some(HeldBy::Human), Stage::Pending));
    assert_eq!(task.created_by.as_deref(), Some("rob"));
    for title in ["", " ", "a\0b", &"x".repeat(1 << 20)] {
        assert_eq!(code(store.db.create_task(&rob, &store.project, new_task(title)).await), "invalid");
    }
    let Caller::Agent(mut elsewhere) = rob.clone() else { panic!("an agent from outside") };
    elsewhere.project_id = "PROJ-404".parse().unwrap();
    assert_eq!(code(store.db.create_task(&Caller::Agent(elsewhere), &store.project, new_task("Spy")).await), "not-found");
    store.db.deregister(&rob, &store.project, "rob").await.unwrap();
    assert_eq!(code(store.db.create_task(&rob, &store.project, new_task("Late")).await), "not-registered");
}

#[tokio::test]
async fn only_agents_from_outside_who_are_there_are_assigned() {
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
    assert_eq!(own.to_string(), "assigned_to: coder-TASK-001 is no agent from outside");
    assert!(own.hint().contains("leave assigned_to out"), "{}", own.hint());
    assert_eq!((make("human").await.code(), make("all").await.code()), ("invalid", "invalid"));
    let unknown = make("benn").await;
    assert_eq!(unknown.code(), "unknown-agent");
    assert!(unknown.hint().starts_with("Did you mean ben"), "{}", unknown.hint());
    let planning = NewTask { assigned_to: Some("ben".to_owned()), phase: Some(AgentKind::Planner), ..new_task("Plan") };
    assert_eq!(code(store.db.create_task(&crew.lena, &store.project, planning).await), "invalid");
    let bare = NewTask { role_hat: Some(Role::Builder), ..new_task("Nobody's hat") };
    assert_eq!(code(store.db.create_task(&crew.lena, &store.project, bare).await), "invalid");
    assert_eq!(store.dump().await, before, "a refused task leaves nothing behind");
    store.db.deregister(&crew.ben, &store.project, "ben").await.unwrap();
    assert_eq!(make("ben").await.code(), "dead-agent");
}

#[tokio::test]
async fn short_names_and_names_of_a_team_find_their_agent() {
    let store = Store::board().await;
    let lead = store.member("platform/lea", &[Role::Lead]).await;
    store.member("platform/ann", &[]).await;
    store.member("apps/ann", &[]).await;
    store.member("lead", &[Role::Lead]).await;
    let new = |to: &str| NewTask { assigned_to: Some(to.to_owned()), ..new_task("One") };
    let task = store.db.create_task(&lead, &store.project, new("ann")).await.unwrap();
    assert_eq!(task.card.contributors.assigned_to.as_deref(), Some("platform/ann"));
    assert_eq!(code(store.db.create_task(&Caller::Human, &store.project, new("ann")).await), "ambiguous-agent");
}

#[tokio::test]
async fn an_assignee_begins_when_what_it_builds_on_is_done() {
    let store = Store::board().await;
    let crew = crew(&store).await;
    let first = store.task("First").await;
    let new = NewTask { assigned_to: Some("ben".to_owned()), depends_on: vec![first.clone()], ..new_task("Second") };
    let second = store.db.create_task(&crew.lena, &store.project, new).await.unwrap().card.id;
    let refused = refusal(stage(&store, &crew.ben, &second, Stage::InProgress).await);
    assert_eq!(refused.to_string(), "TASK-002 waits for TASK-001");
    store.cancel(&first, "duplicate").await;
    assert_eq!(stage(&store, &crew.ben, &second, Stage::InProgress).await.unwrap().card.status, Status::InProgress);
}

#[tokio::test]
async fn leads_give_out_what_waits_and_others_do_not() {
    let store = Store::board().await;
    let crew = crew(&store).await;
    let rob = store.guest("rob").await;
    let task = store.db.create_task(&rob, &store.project, new_task("Mend it")).await.unwrap().card.id;
    let to = |name: &str| TaskUpdate { stage: Some(Stage::Assigned), assigned_to: Some(name.to_owned()), ..TaskUpdate::default() };
    let refused = refusal(update(&store, &crew.tess, &task, to("tess")).await);
    assert_eq!(refused.to_string(), "making it assigned is for a lead, and tess is none");
    assert_eq!(code(update(&store, &rob, &task, to("rob")).await), "unverified");
    assert_eq!(code(stage(&store, &crew.lena, &task, Stage::Assigned).await), "invalid");
    let given = update(&store, &crew.lena, &task, to("rob")).await.unwrap().card;
    assert_eq!((Stage::of(&given), given.held_by, hands(&given)), (Stage::Assigned, None, "rob /  / - / -".to_owned()));
    // Somebody else, before anybody began, without another stage.
    let moved = TaskUpdate { assigned_to: Some("ben".to_owned()), ..TaskUpdate::default() };
    assert_eq!(code(update(&store, &rob, &task, moved.clone()).await), "unverified");
    update(&store, &crew.lena, &task, moved).await.unwrap();
    assert_eq!(told(&store, "rob").await, ["lena: [ASSIGNED] TASK-001: Mend it", "lena: [TAKEN BACK] TASK-001: Mend it"]);
    assert_eq!(told(&store, "ben").await, ["lena: [ASSIGNED] TASK-001: Mend it"]);
    assert_eq!(code(stage(&store, &rob, &task, Stage::InProgress).await), "not-assignee");
    store.check_fold().await;
}

#[tokio::test]
async fn a_lead_leaves_alone_what_the_person_stopped_and_a_plan_keeps_its_hold() {
    let store = Store::board().await;
    let crew = crew(&store).await;
    let task = store.task("One").await;
    store.db.stop_task(&Caller::Human, &task).await.unwrap();
    assert_eq!(code(store.db.assign_task(&crew.lena, &task, Some("ben".to_owned()), None).await), "not-now");
    let card = store.db.assign_task(&Caller::Human, &task, Some("ben".to_owned()), None).await.unwrap().card;
    assert_eq!((card.held_by, Stage::of(&card)), (None, Stage::Assigned));

    let (store, planner) = Store::plan(PlanApproval::Ask).await;
    let ben = store.member("ben", &[]).await;
    let planning = store.agent(&planner, AgentKind::Planner).await;
    let new = NewTask { assigned_to: Some("ben".to_owned()), ..new_task("Part") };
    let part = store.db.create_task(&planning.caller, &store.project, new).await.unwrap().card;
    assert_eq!((part.held_by, part.contributors.assigned_to.as_deref()), (Some(HeldBy::Plan), Some("ben")));
    assert_eq!(code(stage(&store, &ben, &part.id, Stage::InProgress).await), "not-now");
    store.move_to(&planning.caller, &planner, Status::Done).await.unwrap();
    store.db.approve_plan(&Caller::Human, &store.project).await.unwrap();
    stage(&store, &ben, &part.id, Stage::InProgress).await.unwrap();
}

#[tokio::test]
async fn assigning_ends_the_right_of_a_run_and_taking_back_waits_for_start() {
    let store = Store::board().await;
    let crew = crew(&store).await;
    let task = store.task("One").await;
    let coder = store.agent(&task, AgentKind::Coder).await;
    let card = store.db.assign_task(&Caller::Human, &task, Some("ben".to_owned()), Some(Role::Builder)).await.unwrap().card;
    assert!(card.run.unwrap().stopping);
    assert_eq!(code(store.db.add_comment(&coder.caller, &task, "But I am at it", None).await), "stale-run");
    store.finish(&coder).await;
    assert_eq!(code(store.reserve(&task, AgentKind::Coder, "base").await), "not-now");
    assert_eq!(code(store.db.assign_task(&crew.lena, &task, None, None).await), "human-only");
    let back = store.db.assign_task(&Caller::Human, &task, None, None).await.unwrap().card;
    assert_eq!((back.held_by, back.contributors.role_hat), (Some(HeldBy::Human), None));
    assert_eq!(hands(&back), "- / coder-TASK-001+ben / - / -", "it was in progress, so ben had a hand in it");
    assert_eq!(told(&store, "ben").await, ["human: [ASSIGNED] TASK-001: One", "human: [TAKEN BACK] TASK-001: One"]);
    store.db.start_task(&Caller::Human, &task).await.unwrap();
    store.reserve(&task, AgentKind::Coder, "base").await.unwrap();
    assert_eq!(code(store.db.assign_task(&crew.ben, &task, Some("ben".to_owned()), None).await), "lead-only");
    store.cancel(&task, "obsolete").await;
    assert_eq!(code(store.db.assign_task(&Caller::Human, &task, Some("ben".to_owned()), None).await), "not-now");
    store.check_fold().await;
}

#[tokio::test]
async fn many_tasks_at_once_are_made_by_leads_only() {
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
async fn every_task_says_who_made_it() {
    let (store, planner) = Store::plan(PlanApproval::Auto).await;
    let children = store.planned(&planner, &["One"]).await;
    store.complete(&children[0]).await;
    let made_by: Vec<Option<String>> = sqlx::query_scalar("SELECT created_by FROM tasks ORDER BY id").fetch_all(&store.db.readers).await.unwrap();
    assert_eq!(made_by.iter().map(|name| name.as_deref().unwrap()).collect::<Vec<_>>(), ["human", "planner-TASK-001", "runner"]);
}

#[tokio::test]
async fn tasks_made_at_once_by_many_all_get_an_id_of_their_own() {
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
    assert_eq!(store.db.board(&store.project).await.unwrap().cards.len(), 200);
}

#[tokio::test]
async fn nobody_is_assigned_who_fell_silent_long_ago() {
    let store = Store::board().await;
    let crew = crew(&store).await;
    store.silence("ben").await;
    let new = NewTask { assigned_to: Some("ben".to_owned()), ..new_task("One") };
    assert_eq!(code(store.db.create_task(&crew.lena, &store.project, new).await), "dead-agent");
    let tess = assigned(&store, "Two", "tess").await;
    assert_eq!(store.card(&tess).await.contributors.assigned_to.as_deref(), Some("tess"));
}
