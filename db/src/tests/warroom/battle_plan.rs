//! Battle plans: one is active for each scope, and a lead without one is blocked on every path.

use domain::board::project::PlanApproval;
use domain::board::stage::Stage;
use domain::board::status::Status;
use domain::board::task::{NewTask, TaskUpdate};
use domain::event::Event;
use domain::runs::agent_kind::AgentKind;
use domain::team::role::Role;
use domain::warroom::battle_plan::{BattlePlan, BattlePlanEvent, BattlePlanScope, BattlePlanStatus, MAX_PLAN_BYTES, NewBattlePlan};

use crate::tests::external_agents::{call, message, update};
use crate::tests::store::{Store, code, new_task, parts, refusal, whole_board};
use crate::{BattlePlanQuery, Caller, Result};

fn new(plan: &str) -> NewBattlePlan {
    NewBattlePlan { plan: plan.to_owned(), ..NewBattlePlan::default() }
}

async fn set(store: &Store, by: &Caller, plan: &str) -> Result<BattlePlan> {
    store.db.set_battle_plan(by, &store.project, new(plan)).await
}

/// The plans of the project, newest first: author, status and the first line.
async fn plans(store: &Store) -> Vec<String> {
    let all = store.db.battle_plans(&store.project, &BattlePlanQuery::default()).await.unwrap();
    all.iter().map(|plan| format!("{} {}: {}", plan.author, plan.status, plan.plan.lines().next().unwrap_or_default())).collect()
}

#[tokio::test]
async fn new_plan_supersedes_the_active_one_of_its_scope() {
    let store = Store::board().await;
    let lena = store.member("lena", &[Role::Lead]).await;
    let seq = store.db.latest();
    let first = set(&store, &lena, "Parser first").await.unwrap();
    assert_eq!(
        (first.scope, &first.zone, first.status, first.ended_at, first.derived),
        (BattlePlanScope::Project, &None, BattlePlanStatus::Active, None, false)
    );
    let set_event = |plan| Event::BattlePlan(BattlePlanEvent::Set { plan, scope: BattlePlanScope::Project, zone: None });
    assert_eq!(store.since(seq).await, [set_event(first.id)]);
    assert_eq!(set(&store, &lena, "Parser first").await.unwrap(), first, "repeating it changes nothing");
    let seq = store.db.latest();
    let second = set(&store, &Caller::owner(), "Tests first").await.unwrap();
    let ended = Event::BattlePlan(BattlePlanEvent::Ended { plan: first.id, status: BattlePlanStatus::Superseded });
    assert_eq!(store.since(seq).await, [ended, set_event(second.id)]);
    for zone in ["audio", "video"] {
        let new = NewBattlePlan { zone: Some(zone.to_owned()), ..new("The zone") };
        store.db.set_battle_plan(&lena, &store.project, new).await.unwrap();
    }
    assert_eq!(plans(&store).await, ["lena active: The zone", "lena active: The zone", "human active: Tests first", "lena superseded: Parser first"]);
    let page = |before| BattlePlanQuery { before, limit: Some(1), status: Some(BattlePlanStatus::Active) };
    let newest = store.db.battle_plans(&store.project, &page(None)).await.unwrap();
    assert_eq!(newest[0].zone.as_deref(), Some("video"));
    assert_eq!(store.db.battle_plans(&store.project, &page(Some(newest[0].id))).await.unwrap()[0].zone.as_deref(), Some("audio"));
    store.check_fold().await;
}

#[tokio::test]
async fn one_of_concurrent_plans_is_active() {
    let store = Store::board().await;
    let setting: Vec<_> = (0..20)
        .map(|number| {
            let (db, project) = (store.db.clone(), store.project.clone());
            tokio::spawn(async move { db.set_battle_plan(&Caller::owner(), &project, new(&format!("Plan {number}"))).await.unwrap() })
        })
        .collect();
    for plan in setting {
        plan.await.unwrap();
    }
    let listed = plans(&store).await;
    assert_eq!((listed.len(), listed.iter().filter(|plan| plan.contains("active")).count()), (20, 1), "{listed:?}");
    assert!(listed[0].starts_with("human active"), "the newest: {listed:?}");
}

/// Seed 004: "Battle plan — lead can't send tasks without an active plan".
#[tokio::test]
async fn lead_without_battle_plan_is_blocked_on_every_path() {
    let store = Store::board().await;
    let lena = store.member("lena", &[Role::Lead]).await;
    let max = store.member("max", &[Role::Lead]).await;
    store.member("ben", &[Role::Builder]).await;
    let (db, project) = (&store.db, &store.project);
    let task = store.task("Search").await;
    let to_ben = || Some("ben".to_owned());
    let create = async |caller: &Caller| db.create_task(caller, project, new_task("Alone")).await.map(drop);
    let create_assigned =
        async |caller: &Caller| db.create_task(caller, project, NewTask { assigned_to: to_ben(), ..new_task("Given") }).await.map(drop);
    let subtasks = async |caller: &Caller| db.create_subtasks(caller, &task, parts(&["One", "Two"])).await.map(drop);
    let assign = async |caller: &Caller| db.assign_task(caller, &task, to_ben(), None).await.map(drop);
    let reassign = async |caller: &Caller| {
        let stage = Some(Stage::Assigned);
        update(&store, caller, &task, TaskUpdate { stage, assigned_to: to_ben(), result: None }).await.map(drop)
    };
    let name = async |caller: &Caller| update(&store, caller, &task, TaskUpdate { assigned_to: to_ben(), ..TaskUpdate::default() }).await.map(drop);
    let send = async |caller: &Caller, to: &str, cc: &[&str]| {
        let cc = cc.iter().map(|name| (*name).to_owned()).collect();
        db.send(caller, project, domain::team::message::NewMessage { task_id: Some(task.clone()), cc, ..message(to, "Take it") }).await.map(drop)
    };
    let blocked = async |caller: &Caller| {
        let before = store.dump().await;
        let results = [
            ("create_task", create(caller).await),
            ("create_task with an assignee", create_assigned(caller).await),
            ("create_subtasks", subtasks(caller).await),
            ("assign_task", assign(caller).await),
            ("update_task with assigned_to", name(caller).await),
            ("update_task to assigned", reassign(caller).await),
            ("send", send(caller, "ben", &[]).await),
            ("send to all", send(caller, "all", &[]).await),
            ("send with a copy", send(caller, "human", &["ben"]).await),
        ];
        for (path, result) in results {
            let refusal = refusal(result);
            assert_eq!(refusal.code(), "no-battle-plan", "{path}: {refusal}");
            assert!(refusal.to_string().starts_with("BLOCKED: ") && refusal.hint().starts_with("Call set_battle_plan "), "{path}: {refusal}");
        }
        assert_eq!(store.dump().await, before, "nothing was written");
    };
    blocked(&lena).await;
    // A message that assigns nothing is not held back.
    store.send(&lena, "ben", "Hello").await.unwrap();
    send(&lena, "human", &[]).await.unwrap();
    send(&lena, "max", &[]).await.unwrap();
    store.inbox(&max).await;

    let plan = set(&store, &max, "Search first").await.unwrap();
    create(&lena).await.unwrap();
    create_assigned(&lena).await.unwrap();
    subtasks(&lena).await.unwrap();
    assign(&lena).await.unwrap();
    reassign(&lena).await.unwrap();
    send(&lena, "ben", &[]).await.unwrap();
    db.end_battle_plan(&max, plan.id, BattlePlanStatus::Abandoned).await.unwrap();
    blocked(&lena).await;
    store.check_fold().await;
}

#[tokio::test]
async fn persons_and_others_than_leads_need_no_plan() {
    let store = Store::board().await;
    let ben = store.member("ben", &[Role::Builder]).await;
    let (db, project, human) = (&store.db, &store.project, &Caller::owner());
    let task = db.create_task(human, project, new_task("Search")).await.unwrap().card.id;
    db.create_subtasks(human, &task, parts(&["One"])).await.unwrap();
    db.assign_task(human, &task, Some("ben".to_owned()), None).await.unwrap();
    let with_task = domain::team::message::NewMessage { task_id: Some(task), ..message("ben", "Take it") };
    db.send(human, project, with_task).await.unwrap();
    db.create_task(&ben, project, new_task("Found on the way")).await.unwrap();
    assert_eq!(plans(&store).await, Vec::<String>::new());
}

#[tokio::test]
async fn tasks_of_a_planner_are_its_plan_until_the_work_ends() {
    let (store, planning) = Store::plan(PlanApproval::Auto).await;
    let planner = store.agent(&planning, AgentKind::Planner).await;
    let db = &store.db;
    let created = db.create_subtasks(&planner.caller, &planning, parts(&["Page", "Style"])).await.unwrap();
    let active = db.battle_plans(&store.project, &BattlePlanQuery::default()).await.unwrap().remove(0);
    let author = format!("planner-{planning}");
    assert_eq!((active.author.as_str(), active.derived, active.scope), (author.as_str(), true, BattlePlanScope::Project));
    assert!(active.plan.ends_with("\n- TASK-002 Page\n- TASK-003 Style"), "{}", active.plan);
    db.create_task(&planner.caller, &store.project, new_task("Words")).await.unwrap();
    let all = db.battle_plans(&store.project, &BattlePlanQuery::default()).await.unwrap();
    assert_eq!((all[0].status, all[1].status), (BattlePlanStatus::Active, BattlePlanStatus::Superseded));
    assert!(all[0].plan.ends_with("- TASK-004 Words"), "{}", all[0].plan);
    // A lead may rely on it.
    let lena = store.member("lena", &[Role::Lead]).await;
    db.create_task(&lena, &store.project, new_task("By hand")).await.unwrap();
    store.move_to(&planner.caller, &planning, Status::Done).await.unwrap();
    store.finish(&planner).await;
    for task in created {
        store.complete(&task.card.id).await;
    }
    store.complete(&"TASK-004".parse().unwrap()).await;
    let round = whole_board(db, &store.project).await.unwrap().cards.iter().find(|card| card.phase == AgentKind::Orchestrator).unwrap().id.clone();
    let orchestrator = store.agent(&round, AgentKind::Orchestrator).await;
    store.move_to(&orchestrator.caller, &round, Status::Done).await.unwrap();
    let last = db.battle_plans(&store.project, &BattlePlanQuery::default()).await.unwrap().remove(0);
    assert_eq!((last.id, last.status), (all[0].id, BattlePlanStatus::Completed));
    assert_eq!(code(db.create_task(&lena, &store.project, new_task("More")).await), "no-battle-plan");
    store.check_fold().await;
}

#[tokio::test]
async fn planner_leaves_a_written_plan_alone() {
    let (store, planning) = Store::plan(PlanApproval::Auto).await;
    set(&store, &Caller::owner(), "Search first").await.unwrap();
    store.planned(&planning, &["Page"]).await;
    assert_eq!(plans(&store).await, ["human active: Search first"]);
}

#[tokio::test]
async fn plan_ends_once_and_by_a_lead() {
    use BattlePlanStatus::{Abandoned, Active, Completed, Obsolete, Superseded};
    let store = Store::board().await;
    let (lena, ben) = (store.member("lena", &[Role::Lead]).await, store.member("ben", &[Role::Builder]).await);
    let db = &store.db;
    let plan = set(&store, &lena, "Search first").await.unwrap();
    let eve = store.guest("eve").await;
    let before = store.dump().await;
    assert_eq!(code(set(&store, &ben, "Mine").await), "lead-only");
    assert_eq!(code(set(&store, &eve, "Mine").await), "unverified");
    assert_eq!(code(set(&store, &store.invite(), "Mine").await), "not-registered");
    assert_eq!(code(db.end_battle_plan(&ben, plan.id, Completed).await), "lead-only");
    assert_eq!(code(db.end_battle_plan(&lena, 404, Completed).await), "not-found");
    for status in [Active, Superseded] {
        assert_eq!(code(db.end_battle_plan(&lena, plan.id, status).await), "invalid");
    }
    assert_eq!(store.dump().await, before);
    let ended = db.end_battle_plan(&call(&lena, "1"), plan.id, Completed).await.unwrap();
    assert!(ended.status == Completed && ended.ended_at.is_some());
    assert_eq!(db.end_battle_plan(&call(&lena, "1"), plan.id, Completed).await.unwrap(), ended, "a repeated call");
    assert_eq!(code(db.end_battle_plan(&lena, plan.id, Obsolete).await), "battle-plan-ended");
    assert_eq!(code(db.end_battle_plan(&lena, plan.id, Abandoned).await), "battle-plan-ended");
}

#[tokio::test]
async fn bad_plans_are_refused_and_nothing_is_written() {
    let store = Store::board().await;
    let lena = store.member("lena", &[Role::Lead]).await;
    let before = store.dump().await;
    for plan in ["", " ", "a\0", &"x".repeat(MAX_PLAN_BYTES + 1), &"x".repeat(1 << 20)] {
        assert_eq!(code(set(&store, &lena, plan).await), "invalid");
    }
    for (scope, zone) in [(Some(BattlePlanScope::Zone), None), (Some(BattlePlanScope::General), Some("audio")), (None, Some("../etc"))] {
        let new = NewBattlePlan { scope, zone: zone.map(str::to_owned), ..new("Win") };
        assert_eq!(code(store.db.set_battle_plan(&lena, &store.project, new).await), "invalid");
    }
    let unknown = "PROJ-404".parse().unwrap();
    assert_eq!(code(store.db.set_battle_plan(&lena, &unknown, new("Win")).await), "not-found");
    assert_eq!(code(store.db.set_battle_plan(&Caller::owner(), &unknown, new("Win")).await), "not-found");
    assert_eq!(code(store.db.battle_plans(&unknown, &BattlePlanQuery::default()).await), "not-found");
    assert_eq!(store.dump().await, before);
}
