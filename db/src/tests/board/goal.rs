//! Goals: their status follows their tasks, and a lead signs them off.

use domain::board::goal::{Goal, GoalEvent, GoalStatus, NewGoal};
use domain::board::project::PlanApproval;
use domain::board::stage::Stage;
use domain::board::task::NewTask;
use domain::event::Event;
use domain::id::{GoalId, TaskId};
use domain::runs::agent_kind::AgentKind;
use domain::runs::evidence::EvidenceResult;

use crate::Caller;
use crate::tests::external_agents::{assigned, completed, crew, messages_to, stage, submit};
use crate::tests::store::{Store, code, new_task, refusal, whole_board};

async fn goal(store: &Store, title: &str) -> Goal {
    let new = NewGoal { title: title.to_owned(), description: None };
    store.db.create_goal(&Caller::owner(), &store.project, new).await.unwrap()
}

async fn status(store: &Store, goal: &GoalId) -> GoalStatus {
    store.db.goal(goal).await.unwrap().status
}

/// Lists the status changes of goals after `seq`.
async fn moves(store: &Store, seq: i64) -> Vec<String> {
    let moved = |event| match event {
        Event::Goal(GoalEvent::Moved { goal, from, to }) => Some(format!("{goal} {from} -> {to}")),
        _ => None,
    };
    store.since(seq).await.into_iter().filter_map(moved).collect()
}

async fn link(store: &Store, task: &TaskId, goal: &GoalId) {
    store.db.link_task(&Caller::owner(), task, Some(goal)).await.unwrap();
}

#[tokio::test]
async fn goal_status_follows_its_tasks() {
    let store = Store::board().await;
    let crew = crew(&store).await;
    let goal = goal(&store, "Everyone can sign in").await.id;
    assert_eq!(goal.as_str(), "GOAL-001");
    let (one, two) = (assigned(&store, "One", "ben").await, assigned(&store, "Two", "ben").await);
    link(&store, &one, &goal).await;
    link(&store, &two, &goal).await;
    assert_eq!(status(&store, &goal).await, GoalStatus::Open);
    let seq = store.db.latest();
    for task in [&one, &two] {
        submit(&store, task, &crew.ben).await;
        store.db.approve_task(&crew.lena, task, None, EvidenceResult::Nothing).await.unwrap();
    }
    store.db.verify_task(&crew.tess, &one, None).await.unwrap();
    let half = store.db.goal(&goal).await.unwrap();
    assert_eq!((half.status, half.progress.linked, half.progress.completed, half.progress.verified), (GoalStatus::Active, 2, 2, 1));
    store.db.verify_task(&crew.tess, &two, None).await.unwrap();
    store.db.reject_verification(&crew.tess, &one, "It broke").await.unwrap();
    assert_eq!(moves(&store, seq).await, ["GOAL-001 open -> active", "GOAL-001 active -> pending_verify", "GOAL-001 pending_verify -> active"]);
    submit_again(&store, &one, &crew.ben).await;
    store.db.approve_task(&crew.lena, &one, None, EvidenceResult::Nothing).await.unwrap();
    store.db.verify_task(&crew.tess, &one, None).await.unwrap();
    let signed = store.db.verify_goal(&crew.lena, &goal, Some("Shown to Ann")).await.unwrap();
    assert_eq!((signed.status, signed.verified_by.as_deref(), signed.notes.as_deref()), (GoalStatus::Verified, Some("lena"), Some("Shown to Ann")));
    assert!(signed.verified_at.is_some());
    let goals: Vec<String> = messages_to(&store, "ben").await.into_iter().filter(|line| line.contains("[GOAL]")).collect();
    assert_eq!(
        goals,
        [
            "runner: [GOAL] GOAL-001: Everyone can sign in is active again: not all of its tasks are verified.",
            "lena: [GOAL] GOAL-001: Everyone can sign in is verified.",
        ]
    );
    assert_eq!(messages_to(&store, "lena").await.iter().filter(|line| line.contains("signs it off with verify_goal")).count(), 2);
    // The sign-off covered different tasks.
    store.db.reject_verification(&crew.tess, &two, "This one too").await.unwrap();
    let again = store.db.goal(&goal).await.unwrap();
    assert_eq!((again.status, again.verified_by, again.notes, again.verified_at), (GoalStatus::Active, None, None, None));
    store.check_fold().await;
}

async fn submit_again(store: &Store, task: &TaskId, by: &Caller) {
    store.db.submit_for_review(by, task, crate::tests::external_agents::submission("Mended")).await.unwrap();
}

#[tokio::test]
async fn goal_with_open_or_no_tasks_cannot_be_signed_off() {
    let store = Store::board().await;
    let crew = crew(&store).await;
    let goal = goal(&store, "All of it").await.id;
    assert_eq!(code(store.db.verify_goal(&crew.lena, &goal, None).await), "invalid");
    let (one, two, three) = (completed(&store, "One", &crew).await, completed(&store, "Two", &crew).await, store.task("Three").await);
    for task in [&one, &two, &three] {
        link(&store, task, &goal).await;
    }
    store.db.verify_task(&crew.tess, &one, None).await.unwrap();
    let refused = refusal(store.db.verify_goal(&crew.lena, &goal, None).await);
    assert_eq!(refused.to_string(), "GOAL-001 has unverified tasks: TASK-002, TASK-003");
    store.cancel(&three, "duplicate").await;
    store.db.verify_task(&crew.tess, &two, None).await.unwrap();
    assert_eq!(status(&store, &goal).await, GoalStatus::PendingVerify, "a duplicate does not block the goal");
    assert_eq!(code(store.db.verify_goal(&crew.tess, &goal, None).await), "lead-only");
    let rob = store.guest("rob").await;
    assert_eq!(code(store.db.verify_goal(&rob, &goal, None).await), "unverified");
    store.db.verify_goal(&Caller::owner(), &goal, None).await.unwrap();
    assert_eq!(code(store.db.verify_goal(&Caller::owner(), &goal, None).await), "invalid");
    // Only a lead links tasks, so no other caller can undo a sign-off.
    let before = store.dump().await;
    let four = || NewTask { goal_id: Some(goal.clone()), ..new_task("Four") };
    let given = || NewTask { assigned_to: Some("ben".to_owned()), ..four() };
    for (who, why) in [(&rob, "unverified"), (&crew.ben, "lead-only"), (&crew.tess, "lead-only")] {
        assert_eq!(code(store.db.create_task(who, &store.project, four()).await), why);
        assert_eq!(code(store.db.create_task(who, &store.project, given()).await), why);
    }
    assert_eq!((store.dump().await, status(&store, &goal).await), (before, GoalStatus::Verified));
    // A new task reopens a verified goal.
    let seq = store.db.latest();
    store.db.create_task(&crew.lena, &store.project, four()).await.unwrap();
    assert_eq!(moves(&store, seq).await, ["GOAL-001 verified -> active"]);
    assert_eq!(store.db.goals(&store.project).await.unwrap().len(), 1);
}

#[tokio::test]
async fn only_leads_link_tasks_within_one_project() {
    let store = Store::board().await;
    let crew = crew(&store).await;
    let mine = goal(&store, "Mine").await.id;
    let task = store.task("One").await;
    assert_eq!(code(store.db.link_task(&crew.ben, &task, Some(&mine)).await), "lead-only");
    assert_eq!(code(store.db.link_task(&crew.lena, &task, Some(&"GOAL-404".parse().unwrap())).await), "not-found");
    let linked = store.db.link_task(&crew.lena, &task, Some(&mine)).await.unwrap();
    assert_eq!(linked.card.goal_id.as_ref(), Some(&mine));
    let seq = store.db.latest();
    store.db.link_task(&crew.lena, &task, Some(&mine)).await.unwrap();
    assert_eq!(store.db.latest(), seq, "it is already linked");
    assert_eq!(store.db.link_task(&crew.lena, &task, None).await.unwrap().card.goal_id, None);
    assert_eq!(store.kinds_since(seq).await, ["task_linked"]);
    let elsewhere = domain::wire::NewProject { title: "Other".to_owned(), ..Default::default() };
    let other = Store { project: store.db.create_project(&Caller::owner(), elsewhere, crate::tests::store::probe()).await.unwrap().id, ..store };
    let theirs = goal(&other, "Theirs").await.id;
    assert_eq!(code(other.db.link_task(&Caller::owner(), &task, Some(&theirs)).await), "not-found");
    assert_eq!(code(other.db.verify_goal(&crew.lena, &theirs, None).await), "not-found");
    let bad = NewGoal { title: " ".to_owned(), description: None };
    assert_eq!(code(other.db.create_goal(&Caller::owner(), &other.project, bad).await), "invalid");
    let wrong = NewTask { goal_id: Some(mine), ..new_task("Two") };
    assert_eq!(code(other.db.create_task(&Caller::owner(), &other.project, wrong).await), "not-found");
    let by_ben = NewGoal { title: "Ben's".to_owned(), description: Some("Why".to_owned()) };
    assert_eq!(code(other.db.create_goal(&crew.ben, &other.project, by_ben).await), "not-found");
}

#[tokio::test]
async fn goal_becomes_active_when_runner_starts_a_task() {
    let store = Store::board().await;
    let goal = goal(&store, "All of it").await.id;
    let task = store.task("One").await;
    link(&store, &task, &goal).await;
    let seq = store.db.latest();
    store.agent(&task, AgentKind::Coder).await;
    assert_eq!(moves(&store, seq).await, ["GOAL-001 open -> active"]);
    assert!(store.kinds_since(0).await.contains(&"goal_created"));
    assert_eq!(store.db.goal(&goal).await.unwrap().creator, "human");
}

#[tokio::test]
async fn goal_becomes_active_when_assignee_starts_a_task() {
    let store = Store::board().await;
    let crew = crew(&store).await;
    let goal = store.db.create_goal(&crew.ben, &store.project, NewGoal { title: "G".to_owned(), description: Some("Why".to_owned()) }).await.unwrap();
    assert_eq!((goal.creator.as_str(), goal.description.as_deref()), ("ben", Some("Why")));
    let new = NewTask { assigned_to: Some("ben".to_owned()), goal_id: Some(goal.id.clone()), ..new_task("One") };
    let task = store.db.create_task(&crew.lena, &store.project, new).await.unwrap().card.id;
    stage(&store, &crew.ben, &task, Stage::InProgress).await.unwrap();
    assert_eq!(status(&store, &goal.id).await, GoalStatus::Active);
}

#[tokio::test]
async fn unverifiable_task_cannot_be_linked_to_a_goal() {
    let (store, planner) = Store::plan(PlanApproval::Auto).await;
    let goal = goal(&store, "All of it").await.id;
    let children = store.planned(&planner, &["One"]).await;
    store.complete(&children[0]).await;
    let round = whole_board(&store.db, &store.project).await.unwrap().cards.into_iter().find(|card| card.round.is_some()).unwrap().id;
    for task in [&planner, &round] {
        let refused = refusal(store.db.link_task(&Caller::owner(), task, Some(&goal)).await);
        assert_eq!((refused.code(), refused.hint().as_str()), ("invalid", "Link the coder tasks that it creates."));
    }
    let plan = NewTask { phase: Some(AgentKind::Planner), goal_id: Some(goal.clone()), ..new_task("Plan") };
    assert_eq!(code(store.db.create_task(&Caller::owner(), &store.project, plan).await), "invalid");
    link(&store, &children[0], &goal).await;
}

#[tokio::test]
async fn human_is_notified_when_no_lead_responds() {
    let store = Store::board().await;
    let crew = crew(&store).await;
    let goal = goal(&store, "All of it").await.id;
    let (one, two) = (assigned(&store, "One", "ben").await, assigned(&store, "Two", "ben").await);
    link(&store, &one, &goal).await;
    submit(&store, &two, &crew.ben).await;
    assert_eq!(messages_to(&store, "human").await, Vec::<String>::new(), "a lead can respond");
    store.make_unresponsive("lena").await;
    submit(&store, &one, &crew.ben).await;
    store.db.approve_task(&Caller::owner(), &one, None, EvidenceResult::Nothing).await.unwrap();
    store.db.verify_task(&crew.tess, &one, None).await.unwrap();
    let person = messages_to(&store, "human").await;
    assert_eq!(person[0], "ben: [REVIEW] TASK-001: One");
    assert!(person[1].starts_with("runner: [GOAL] GOAL-001"), "{person:?}");
    assert_eq!(messages_to(&store, "lena").await.iter().filter(|line| line.contains("[REVIEW]")).count(), 2, "the lead finds it on return");
}
