//! Fencing: a run that is no longer current cannot write.

use domain::board::project::PlanApproval;
use domain::board::status::Status;
use domain::id::TaskId;
use domain::runs::agent_kind::AgentKind;
use domain::runs::evidence::EvidenceResult;
use domain::runs::failure::EndClass;

use crate::Caller;
use crate::tests::external_agents::crew;
use crate::tests::store::{Agent, Store, code, evidence, head, new_task, parts, whole_board};

/// Tries every write of an agent and checks that none has an effect.
async fn writes_nothing(store: &Store, agent: &Agent, task: &TaskId, what: &str) {
    let before = store.dump().await;
    for caller in [&agent.caller, &agent.call("new")] {
        assert_eq!(code(store.db.add_comment(caller, task, "x", None).await), "stale-run", "{what}");
        assert_eq!(code(store.db.ask_question(caller, "x", Vec::new(), None).await), "stale-run", "{what}");
        assert_eq!(code(store.db.create_task(caller, &store.project, new_task("x")).await), "stale-run", "{what}");
        assert_eq!(code(store.db.create_subtasks(caller, task, parts(&["x"])).await), "stale-run", "{what}");
        for to in Status::ALL {
            assert_eq!(code(store.move_with(caller, task, *to, Some("obsolete"), evidence()).await), "stale-run", "{what}");
        }
        assert_eq!(code(store.db.require_active_reader(caller).await), "stale-run", "{what}");
    }
    assert_eq!(store.dump().await, before, "{what}");
}

#[tokio::test]
async fn human_actions_fence_the_run() {
    for to in [Status::InReview, Status::Backlog, Status::Cancelled, Status::Done] {
        let store = Store::board().await;
        let task = store.task("One").await;
        let agent = store.agent(&task, AgentKind::Coder).await;
        let seq = store.db.latest();
        store.move_with(&Caller::owner(), &task, to, Some("obsolete"), evidence()).await.unwrap();
        assert_eq!(store.kinds_since(seq).await[..2], ["run_stop_requested", "task_moved"], "{to}");
        assert!(store.card(&task).await.run.unwrap().stopping, "its process has not exited yet");
        writes_nothing(&store, &agent, &task, to.as_str()).await;
        let status = store.status(&task).await;
        if status.is_open() {
            assert_eq!(code(store.reserve(&task, AgentKind::Coder, "base").await.map(|_| ())), "run-ending");
        }
        store.end(&agent.run, EndClass::Stopped, None).await;
        assert_eq!(store.status(&task).await, status);
        store.check_fold().await;
    }
}

#[tokio::test]
async fn stop_fences_the_run_and_keeps_the_card() {
    let store = Store::board().await;
    for by_run in [false, true] {
        let task = store.task("One").await;
        let agent = store.agent(&task, AgentKind::Coder).await;
        if by_run {
            store.db.stop_run(&Caller::owner(), &agent.run).await.unwrap();
        } else {
            store.db.stop_task(&Caller::owner(), &task).await.unwrap();
        }
        assert_eq!(store.status(&task).await, Status::InProgress);
        writes_nothing(&store, &agent, &task, "stop").await;
        store.finish(&agent).await;
        assert_eq!(code(store.db.stop_run(&Caller::owner(), &agent.run).await), "no-live-run");
        assert_eq!(code(store.db.stop_run(&agent.caller, &agent.run).await), "human-only");
    }
    assert_eq!(code(store.db.stop_run(&Caller::owner(), &"RUN-404".parse().unwrap()).await), "not-found");
    store.check_fold().await;
}

#[tokio::test]
async fn stop_of_an_ended_run_leaves_its_successor_alone() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let first = store.agent(&task, AgentKind::Coder).await;
    store.finish(&first).await;
    writes_nothing(&store, &first, &task, "end").await;
    let second = store.agent(&task, AgentKind::Coder).await;
    writes_nothing(&store, &first, &task, "a newer run").await;
    store.db.add_comment(&second.caller, &task, "x", None).await.unwrap();
    assert_eq!(code(store.db.stop_run(&Caller::owner(), &first.run).await), "no-live-run");
    assert!(!store.card(&task).await.run.unwrap().stopping, "stopping an old run does not stop the new one");
}

#[tokio::test]
async fn orchestrator_cancelling_a_task_stops_only_its_agent() {
    let (store, planner) = Store::plan(PlanApproval::Auto).await;
    let children = store.planned(&planner, &["One"]).await;
    store.complete(&children[0]).await;
    let round = whole_board(&store.db, &store.project).await.unwrap().cards.into_iter().find(|card| card.round.is_some()).unwrap().id;
    let orchestrator = store.agent(&round, AgentKind::Orchestrator).await;
    let task = store.task("Superfluous").await;
    let coder = store.agent(&task, AgentKind::Coder).await;
    store.move_with(&orchestrator.caller, &task, Status::Cancelled, Some("obsolete"), EvidenceResult::Nothing).await.unwrap();
    assert!(store.card(&task).await.run.unwrap().stopping);
    writes_nothing(&store, &coder, &task, "cancelled by the orchestrator").await;
    store.move_with(&orchestrator.caller, &round, Status::Cancelled, Some("obsolete"), EvidenceResult::Nothing).await.unwrap();
    assert!(!store.card(&round).await.run.unwrap().stopping);
    store.db.add_comment(&orchestrator.caller, &round, "That was all.", None).await.unwrap();
    store.check_fold().await;
}

#[tokio::test]
async fn process_of_a_finished_card_can_be_stopped() {
    let (store, planner) = Store::plan(PlanApproval::Auto).await;
    let agent = store.agent(&planner, AgentKind::Planner).await;
    store.db.create_subtasks(&agent.caller, &planner, parts(&["One"])).await.unwrap();
    store.move_to(&agent.caller, &planner, Status::Done).await.unwrap();
    store.db.stop_run(&Caller::owner(), &agent.run).await.unwrap();
    let card = store.card(&planner).await;
    assert_eq!((card.status, card.held_by, card.run.unwrap().stopping), (Status::Done, None, true));
    assert_eq!(code(store.db.stop_task(&Caller::owner(), &planner).await), "no-live-run");
    writes_nothing(&store, &agent, &planner, "stopped after done").await;
}

#[tokio::test]
async fn decision_by_lead_or_verifier_fences_another_run() {
    let store = Store::board().await;
    let crew = crew(&store).await;
    let task = store.in_review("One").await;
    let reviewer = store.agent_at(&task, AgentKind::Reviewer, "head").await;
    store.db.reject_task(&crew.lena, &task, "Not so").await.unwrap();
    assert!(store.card(&task).await.run.unwrap().stopping);
    writes_nothing(&store, &reviewer, &task, "sent back by a lead").await;
    store.end(&reviewer.run, EndClass::Stopped, None).await;

    store.work(&task).await;
    let tip = store.head(&task).await;
    let reviewer = store.agent_at(&task, AgentKind::Reviewer, &tip).await;
    store.move_with(&reviewer.caller, &task, Status::Done, None, head(&tip)).await.unwrap();
    store.merge(&task).await;
    assert!(!store.card(&task).await.run.unwrap().stopping, "neither its own move nor the runner's stops the run");
    store.db.reject_verification(&crew.tess, &task, "It broke").await.unwrap();
    assert!(store.card(&task).await.run.unwrap().stopping);
    writes_nothing(&store, &reviewer, &task, "rejected by a verifier").await;
    store.check_fold().await;
}
