//! Repeated calls: the same call of a run has its effect once and the same answer each time.

use domain::evidence::Found;
use domain::project::PlanApproval;
use domain::task::{Phase, Status};

use crate::tests::store::{Store, code, evidence, new_task, parts};

#[tokio::test]
async fn every_write_of_an_agent_is_carried_out_once_a_call() {
    let (store, planner) = Store::plan(PlanApproval::Auto).await;
    let planning = store.agent(&planner, Phase::Planner).await;
    let task = store.task("One").await;
    let coder = store.agent(&task, Phase::Coder).await;

    let comment = store.db.add_comment(&coder.call("1"), &task, "said", None).await.unwrap();
    let single = store.db.create_task(&planning.call("1"), &store.project, new_task("Single")).await.unwrap();
    let many = store.db.create_subtasks(&planning.call("2"), &planner, parts(&["A", "B"])).await.unwrap();
    let asked = store.db.ask(&planning.call("3"), "Which?", Vec::new(), None).await.unwrap();
    let moved = store.move_with(&coder.call("2"), &task, Status::InReview, None, evidence()).await.unwrap();

    let before = store.dump().await;
    // Whatever a repeated call carries, the first one is what it answers with.
    assert_eq!(store.db.add_comment(&coder.call("1"), &task, "said again", None).await.unwrap(), comment);
    assert_eq!(store.db.create_task(&planning.call("1"), &store.project, new_task("Single")).await.unwrap(), single);
    assert_eq!(store.db.create_subtasks(&planning.call("2"), &planner, parts(&["A", "B"])).await.unwrap(), many);
    assert_eq!(store.db.ask(&planning.call("3"), "Which?", Vec::new(), None).await.unwrap(), asked);
    assert_eq!(store.move_with(&coder.call("2"), &task, Status::InReview, None, Found::Nothing).await.unwrap(), moved);
    assert_eq!(store.dump().await, before);

    // The answer outlives the run; a new call does not.
    store.finish(&coder).await;
    assert_eq!(store.db.add_comment(&coder.call("1"), &task, "said", None).await.unwrap(), comment);
    assert_eq!(code(store.db.add_comment(&coder.call("9"), &task, "said", None).await), "stale-run");
}

#[tokio::test]
async fn call_ids_belong_to_their_run_and_their_request() {
    let store = Store::board().await;
    let (one, two) = (store.task("One").await, store.task("Two").await);
    let (first, second) = (store.agent(&one, Phase::Coder).await, store.agent(&two, Phase::Coder).await);
    store.db.add_comment(&first.call("1"), &one, "one", None).await.unwrap();
    store.db.add_comment(&second.call("1"), &two, "two", None).await.unwrap();
    assert_eq!(store.db.comments(&two).await.unwrap()[0].content, "two");
    assert_eq!(code(store.db.ask(&first.call("1"), "Which?", Vec::new(), None).await), "invalid");
    store.db.add_comment(&first.caller, &one, "without an id", None).await.unwrap();
    store.db.add_comment(&first.caller, &one, "without an id", None).await.unwrap();
    assert_eq!(store.card(&one).await.comments, 3);
}

#[tokio::test]
async fn a_refused_call_may_be_repeated_when_it_is_mended() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let coder = store.agent(&task, Phase::Coder).await;
    assert_eq!(code(store.move_with(&coder.call("1"), &task, Status::InReview, None, Found::Nothing).await), "no-commits");
    store.move_with(&coder.call("1"), &task, Status::InReview, None, evidence()).await.unwrap();
}

#[tokio::test]
async fn the_same_call_sent_at_once_has_one_effect() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let coder = store.agent(&task, Phase::Coder).await;
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
