//! Repeated calls: a call has one effect and returns the same answer each time.

use std::time::Duration;

use domain::board::project::PlanApproval;
use domain::board::status::Status;
use domain::runs::agent_kind::AgentKind;
use domain::runs::evidence::EvidenceResult;
use domain::team::contract::{ContractType, NewContract};
use domain::team::minion::MinionStatus;
use domain::team::role::Role;

use crate::tests::external_agents::{call, message};
use crate::tests::store::{Store, code, evidence, new_task, parts};
use crate::{Pruned, RetentionLimits};

#[tokio::test]
async fn agent_writes_run_once_per_call() {
    let (store, planner) = Store::plan(PlanApproval::Auto).await;
    let planning = store.agent(&planner, AgentKind::Planner).await;
    let task = store.task("One").await;
    let coder = store.agent(&task, AgentKind::Coder).await;

    let comment = store.db.add_comment(&coder.call("1"), &task, "said", None).await.unwrap();
    let single = store.db.create_task(&planning.call("1"), &store.project, new_task("Single")).await.unwrap();
    let many = store.db.create_subtasks(&planning.call("2"), &planner, parts(&["A", "B"])).await.unwrap();
    let asked = store.db.ask_question(&planning.call("3"), "Which?", Vec::new(), None).await.unwrap();
    let moved = store.move_with(&coder.call("2"), &task, Status::InReview, None, evidence()).await.unwrap();

    let before = store.dump().await;
    // A repeated call with other arguments still returns the first answer.
    assert_eq!(store.db.add_comment(&coder.call("1"), &task, "said again", None).await.unwrap(), comment);
    assert_eq!(store.db.create_task(&planning.call("1"), &store.project, new_task("Single")).await.unwrap(), single);
    assert_eq!(store.db.create_subtasks(&planning.call("2"), &planner, parts(&["A", "B"])).await.unwrap(), many);
    assert_eq!(store.db.ask_question(&planning.call("3"), "Which?", Vec::new(), None).await.unwrap(), asked);
    assert_eq!(store.move_with(&coder.call("2"), &task, Status::InReview, None, EvidenceResult::Nothing).await.unwrap(), moved);
    assert_eq!(store.dump().await, before);

    // A stored answer outlives the run, but a new call is refused.
    store.finish(&coder).await;
    assert_eq!(store.db.add_comment(&coder.call("1"), &task, "said", None).await.unwrap(), comment);
    assert_eq!(code(store.db.add_comment(&coder.call("9"), &task, "said", None).await), "stale-run");
}

#[tokio::test]
async fn collaboration_writes_run_once_per_call() {
    let store = Store::board().await;
    let (db, project) = (&store.db, &store.project);
    let (lead, ole) = (store.member("ann", &[Role::Lead]).await, store.guest("ole").await);
    let contract = |spec: &str| NewContract { name: "save".to_owned(), kind: ContractType::Function, spec: spec.to_owned() };
    let (by_lead, by_ole) = (|id: &str| call(&lead, id), |id: &str| call(&ole, id));

    let sent = db.send(&by_lead("1"), project, message("ole", "Hello")).await.unwrap();
    let handshake = db.initiate_handshake(&by_lead("2"), project, "The plan", Vec::new()).await.unwrap();
    let acknowledged = db.acknowledge(&by_ole("2"), handshake.id).await.unwrap();
    let declared = db.declare_contract(&by_ole("3"), project, contract("fn save()")).await.unwrap();
    let policy = db.set_spawn_policy(&by_lead("3"), project, "global", true, 1).await.unwrap();
    let minion = db.log_minion(&by_ole("4"), project, "Looks", MinionStatus::Spawned, None, None).await.unwrap();
    db.set_status(&by_ole("5"), project, "Here").await.unwrap();
    db.deregister(&by_lead("4"), project, "ole").await.unwrap();

    let before = store.dump().await;
    assert_eq!(db.send(&by_lead("1"), project, message("ole", "Hello again")).await.unwrap(), sent);
    assert_eq!(db.initiate_handshake(&by_lead("2"), project, "Another", Vec::new()).await.unwrap(), handshake);
    assert_eq!(db.acknowledge(&by_ole("2"), handshake.id).await.unwrap(), acknowledged);
    assert_eq!(db.declare_contract(&by_ole("3"), project, contract("fn save(u8)")).await.unwrap(), declared);
    assert_eq!(db.set_spawn_policy(&by_lead("3"), project, "global", false, 2).await.unwrap(), policy);
    assert_eq!(db.log_minion(&by_ole("4"), project, "Looks", MinionStatus::Spawned, None, None).await.unwrap(), minion);
    db.set_status(&by_ole("5"), project, "There").await.unwrap();
    db.deregister(&by_lead("4"), project, "ann").await.unwrap();
    assert_eq!(store.dump().await, before);
}

#[tokio::test]
async fn call_ids_are_scoped_to_run_and_request() {
    let store = Store::board().await;
    let (one, two) = (store.task("One").await, store.task("Two").await);
    let (first, second) = (store.agent(&one, AgentKind::Coder).await, store.agent(&two, AgentKind::Coder).await);
    store.db.add_comment(&first.call("1"), &one, "one", None).await.unwrap();
    store.db.add_comment(&second.call("1"), &two, "two", None).await.unwrap();
    assert_eq!(store.db.comments(&two).await.unwrap()[0].content, "two");
    assert_eq!(code(store.db.ask_question(&first.call("1"), "Which?", Vec::new(), None).await), "invalid");
    store.db.add_comment(&first.caller, &one, "without an id", None).await.unwrap();
    store.db.add_comment(&first.caller, &one, "without an id", None).await.unwrap();
    assert_eq!(store.card(&one).await.comments, 3);
}

#[tokio::test]
async fn refused_call_can_be_retried() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let coder = store.agent(&task, AgentKind::Coder).await;
    assert_eq!(code(store.move_with(&coder.call("1"), &task, Status::InReview, None, EvidenceResult::Nothing).await), "no-commits");
    store.move_with(&coder.call("1"), &task, Status::InReview, None, evidence()).await.unwrap();
}

#[tokio::test]
async fn concurrent_duplicate_calls_have_one_effect() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let coder = store.agent(&task, AgentKind::Coder).await;
    let sending: Vec<_> = (0..20)
        .map(|_| {
            let (db, caller, task) = (store.db.clone(), coder.call("1"), task.clone());
            tokio::spawn(async move { db.add_comment(&caller, &task, "once", None).await.unwrap() })
        })
        .collect();
    let mut answers = Vec::new();
    for sent in sending {
        answers.push(sent.await.unwrap());
    }
    assert!(answers.iter().all(|answer| *answer == answers[0]));
    assert_eq!(store.card(&task).await.comments, 1);
}

#[tokio::test]
async fn stored_answers_expire_after_a_day() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let coder = store.agent(&task, AgentKind::Coder).await;
    for id in ["old", "young"] {
        store.db.add_comment(&coder.call(id), &task, id, None).await.unwrap();
    }
    let a_day = Duration::from_secs(24 * 60 * 60 + 1);
    store.backdate("UPDATE calls SET created_at = $1 WHERE call_id = $2", a_day, "old").await;
    let pruned = store.db.prune(RetentionLimits { keep: a_day, max_events: u32::MAX }).await.unwrap();
    assert_eq!(pruned, Pruned { calls: 1, ..Pruned::default() });
    let kept: Vec<String> = sqlx::query_scalar("SELECT call_id FROM calls").fetch_all(&store.db.readers).await.unwrap();
    assert_eq!(kept, ["young"]);
}
