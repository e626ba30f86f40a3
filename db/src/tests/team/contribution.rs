//! Three pairs of eyes: on every path, a builder neither approves nor verifies its task, and an approver does not verify it.

use domain::board::project::PlanApproval;
use domain::board::stage::Stage;
use domain::board::status::Status;
use domain::board::task::TaskUpdate;
use domain::id::TaskId;
use domain::runs::agent_kind::AgentKind;
use domain::runs::evidence::EvidenceResult;
use domain::team::role::Role;

use crate::Caller;
use crate::tests::external_agents::{assigned, completed, contributors, crew, stage, submit, update};
use crate::tests::store::{Store, code, head, refusal, whole_board};

/// Returns the refusal code that `caller` gets on each path to judge finished work.
async fn every_path(store: &Store, caller: &Caller, task: &TaskId) -> [&'static str; 5] {
    let update_to = |stage| TaskUpdate { stage: Some(stage), result: Some("Not so".to_owned()), ..TaskUpdate::default() };
    [
        code(store.db.verify_task(caller, task, None).await),
        code(update(store, caller, task, update_to(Stage::Verified)).await),
        code(store.move_with(caller, task, Status::Done, None, EvidenceResult::Nothing).await),
        code(store.db.reject_verification(caller, task, "Not so").await),
        code(update(store, caller, task, update_to(Stage::InProgress)).await),
    ]
}

const REFUSED: [&str; 5] = ["not-independent"; 5];

#[tokio::test]
async fn builder_and_approver_are_refused_on_every_path() {
    let store = Store::board().await;
    let crew = crew(&store).await;
    let task = completed(&store, "One", &crew).await;
    assert_eq!(contributors(&store.card(&task).await), "ben / ben / lena / -");
    let before = store.dump().await;
    assert_eq!(every_path(&store, &crew.ben, &task).await, REFUSED);
    assert_eq!(every_path(&store, &crew.lena, &task).await, REFUSED);
    assert_eq!(code(store.move_with(&crew.ben, &task, Status::InProgress, Some("Mine"), EvidenceResult::Nothing).await), "not-independent");
    assert_eq!(store.dump().await, before);
    let refused = refusal(store.db.verify_task(&crew.ben, &task, None).await);
    assert_eq!(refused.to_string(), "ben built TASK-001, so another participant must verify it");
    let verified = store.db.verify_task(&crew.tess, &task, Some("It holds")).await.unwrap();
    assert_eq!(contributors(&verified.card), "ben / ben / lena / tess");
    assert!(verified.verified_at.is_some() && verified.completed_at.is_some());
    assert_eq!(code(store.db.verify_task(&Caller::owner(), &task, None).await), "illegal-stage", "once is enough");
    store.check_fold().await;
}

#[tokio::test]
async fn approver_cannot_verify_on_any_path() {
    let store = Store::board().await;
    let crew = crew(&store).await;
    let by_update = assigned(&store, "One", "ben").await;
    submit(&store, &by_update, &crew.ben).await;
    stage(&store, &crew.lena, &by_update, Stage::Completed).await.unwrap();
    assert_eq!(every_path(&store, &crew.lena, &by_update).await, REFUSED);
    let by_move = assigned(&store, "Two", "ben").await;
    submit(&store, &by_move, &crew.ben).await;
    store.move_to(&crew.lena, &by_move, Status::Done).await.unwrap();
    assert_eq!(store.card(&by_move).await.contributors.approved_by.as_deref(), Some("lena"));
    assert_eq!(every_path(&store, &crew.lena, &by_move).await, REFUSED);
}

#[tokio::test]
async fn human_who_approved_or_built_cannot_verify() {
    let store = Store::board().await;
    let crew = crew(&store).await;
    let task = assigned(&store, "One", "ben").await;
    submit(&store, &task, &crew.ben).await;
    store.db.approve_task(&Caller::owner(), &task, None, EvidenceResult::Nothing).await.unwrap();
    assert_eq!(code(store.db.verify_task(&Caller::owner(), &task, None).await), "not-independent");
    assert_eq!(code(stage(&store, &Caller::owner(), &task, Stage::Verified).await), "not-independent");
    assert_eq!(code(store.move_to(&Caller::owner(), &task, Status::Done).await), "not-independent");
    assert_eq!(code(store.db.reject_verification(&Caller::owner(), &task, "No").await), "not-independent");
    // The human may still revoke the approval with a move.
    store.move_with(&Caller::owner(), &task, Status::InProgress, Some("After all not"), EvidenceResult::Nothing).await.unwrap();

    let other = completed(&store, "Two", &crew).await;
    assert_eq!(store.db.verify_task(&Caller::owner(), &other, None).await.unwrap().card.contributors.verified_by.as_deref(), Some("human"));
}

#[tokio::test]
async fn builder_stays_builder_after_reassignment() {
    let store = Store::board().await;
    let crew = crew(&store).await;
    let cleo = store.member("cleo", &[]).await;
    let task = assigned(&store, "One", "ben").await;
    stage(&store, &crew.ben, &task, Stage::InProgress).await.unwrap();
    let to = TaskUpdate { assigned_to: Some("cleo".to_owned()), ..TaskUpdate::default() };
    update(&store, &crew.lena, &task, to).await.unwrap();
    store.db.submit_for_review(&cleo, &task, crate::tests::external_agents::submission("I finished it")).await.unwrap();
    crate::tests::external_agents::leave_result(&store, &task, &cleo).await;
    store.db.approve_task(&crew.lena, &task, None, EvidenceResult::Nothing).await.unwrap();
    assert_eq!(contributors(&store.card(&task).await), "cleo / ben+cleo / lena / -");
    assert_eq!(every_path(&store, &crew.ben, &task).await, REFUSED);
    assert_eq!(every_path(&store, &cleo, &task).await, REFUSED);
    store.db.verify_task(&crew.tess, &task, None).await.unwrap();
}

#[tokio::test]
async fn lead_cannot_approve_its_own_work() {
    let store = Store::board().await;
    let crew = crew(&store).await;
    let task = assigned(&store, "One", "lena").await;
    submit(&store, &task, &crew.lena).await;
    assert_eq!(code(store.db.approve_task(&crew.lena, &task, None, EvidenceResult::Nothing).await), "not-independent");
    assert_eq!(code(stage(&store, &crew.lena, &task, Stage::Completed).await), "not-independent");
    assert_eq!(code(store.move_to(&crew.lena, &task, Status::Done).await), "not-independent");
    // Nor after a reassignment.
    store.db.assign_task(&Caller::owner(), &task, Some("ben".to_owned()), None).await.unwrap();
    assert_eq!(code(store.db.approve_task(&crew.lena, &task, None, EvidenceResult::Nothing).await), "not-independent");
}

#[tokio::test]
async fn managed_agents_cannot_judge_their_own_work() {
    let (store, planner) = Store::plan(PlanApproval::Auto).await;
    let children = store.planned(&planner, &["One"]).await;
    let task = &children[0];
    store.complete(task).await;
    assert_eq!(contributors(&store.card(task).await), "- / coder-TASK-002 / reviewer-TASK-002 / -");
    let round = whole_board(&store.db, &store.project).await.unwrap().cards.pop().unwrap().id;
    let orchestrator = store.agent(&round, AgentKind::Orchestrator).await.caller;
    let verified = store.db.verify_task(&orchestrator, task, Some("I tried it")).await.unwrap();
    assert_eq!(contributors(&verified.card), "- / coder-TASK-002 / reviewer-TASK-002 / orchestrator-TASK-003");
    let back = store.db.reject_verification(&orchestrator, task, "It broke since").await.unwrap().card;
    assert_eq!((back.status, back.contributors.verified_by), (Status::InProgress, None));
    // An orchestrator judges only the finished work of others.
    assert_eq!(code(stage(&store, &orchestrator, task, Stage::Completed).await), "illegal-stage");
    assert_eq!(code(store.db.approve_task(&orchestrator, task, None, head("head")).await), "illegal-stage");
}

#[tokio::test]
async fn reviewer_that_built_the_task_is_refused() {
    let store = Store::board().await;
    let task = store.in_review("One").await;
    let reviewer = store.agent_at(&task, AgentKind::Reviewer, "head").await;
    let lent = task.clone();
    let work = store.db.write(move |tx| {
        Box::pin(async move {
            tx.skip_event(crate::engine::tx::NoEventReason::NothingChanged);
            crate::team::contribution::write::record(tx, &lent, "reviewer-TASK-001", crate::team::contribution::write::Contribution::Built).await
        })
    });
    work.await.unwrap();
    assert_eq!(code(store.move_with(&reviewer.caller, &task, Status::Done, None, head("head")).await), "not-independent");
}

#[tokio::test]
async fn outsiders_cannot_review() {
    let store = Store::board().await;
    let crew = crew(&store).await;
    let task = completed(&store, "One", &crew).await;
    let rob = store.guest("rob").await;
    assert_eq!(code(store.db.verify_task(&rob, &task, None).await), "unverified");
    assert_eq!(code(store.db.reject_verification(&rob, &task, "No").await), "unverified");
    let elsewhere = domain::wire::NewProject { title: "Other".to_owned(), ..Default::default() };
    let other = Store { project: store.db.create_project(&Caller::owner(), elsewhere, crate::tests::store::probe()).await.unwrap().id, ..store };
    let eve = other.member("eve", &[Role::Lead]).await;
    assert_eq!(code(other.db.verify_task(&eve, &task, None).await), "not-found");
    assert_eq!(code(other.db.approve_task(&eve, &task, None, EvidenceResult::Nothing).await), "not-found");
    assert_eq!(code(stage(&other, &eve, &task, Stage::Verified).await), "not-found");
}

#[tokio::test]
async fn assignee_is_recorded_as_builder() {
    let store = Store::board().await;
    crew(&store).await;
    for to in [Status::Backlog, Status::Cancelled, Status::Done] {
        let task = assigned(&store, "One", "ben").await;
        store.move_to(&Caller::owner(), &task, Status::InProgress).await.unwrap();
        store.move_with(&Caller::owner(), &task, to, Some("obsolete"), EvidenceResult::Nothing).await.unwrap();
        assert_eq!(store.card(&task).await.contributors.built_by, ["ben"], "{to}");
    }
}
