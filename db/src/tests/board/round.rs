//! Orchestration rounds: one at a time and limited in number, after which the project is complete.

use domain::board::card::Card;
use domain::board::project::{PlanApproval, ProjectStatus};
use domain::board::status::Status;
use domain::id::TaskId;
use domain::runs::agent_kind::AgentKind;
use domain::runs::evidence::EvidenceResult;

use crate::Caller;
use crate::engine::tx::NoEventReason;
use crate::tests::store::{Store, code, parts, whole_board};

async fn rounds(store: &Store) -> Vec<Card> {
    whole_board(&store.db, &store.project).await.unwrap().cards.into_iter().filter(|card| card.round_of.is_some()).collect()
}

/// Lets the open round create `titles` and finish.
async fn orchestrate(store: &Store, planner: &TaskId, titles: &[&str]) -> Vec<TaskId> {
    let round = rounds(store).await.pop().unwrap();
    let agent = store.agent(&round.id, AgentKind::Orchestrator).await;
    let mut added = Vec::new();
    if !titles.is_empty() {
        added = store.db.create_subtasks(&agent.caller, planner, parts(titles)).await.unwrap();
    }
    store.move_to(&agent.caller, &round.id, Status::Done).await.unwrap();
    store.finish(&agent).await;
    added.into_iter().map(|task| task.card.id).collect()
}

#[tokio::test]
async fn round_starts_when_the_last_child_is_done() {
    let (store, planner) = Store::plan(PlanApproval::Auto).await;
    let children = store.planned(&planner, &["One", "Two"]).await;
    store.complete(&children[0]).await;
    assert_eq!(rounds(&store).await.len(), 0, "a child is open");
    store.complete(&children[1]).await;
    let round = rounds(&store).await.remove(0);
    assert_eq!((round.phase, round.status, round.round), (AgentKind::Orchestrator, Status::InProgress, Some(1)));
    assert_eq!((round.round_of.as_ref(), round.parent_task_id.as_ref()), (Some(&planner), None));
    assert_eq!(store.project().await.status, ProjectStatus::Active);
    // Other changes do not start a second round.
    let beside = store.task("Beside the plan").await;
    store.complete(&beside).await;
    assert_eq!(rounds(&store).await.len(), 1);
    orchestrate(&store, &planner, &[]).await;
    assert_eq!(rounds(&store).await.len(), 1);
    assert_eq!(store.project().await.status, ProjectStatus::Complete);
    store.check_fold().await;
}

#[tokio::test]
async fn rounds_repeat_up_to_the_limit_while_work_is_added() {
    let (store, planner) = Store::plan(PlanApproval::Auto).await;
    let mut children = store.planned(&planner, &["One"]).await;
    for number in 1..=3 {
        store.complete(&children[0]).await;
        assert_eq!(rounds(&store).await.last().unwrap().round, Some(number));
        children = orchestrate(&store, &planner, &["More"]).await;
        assert_eq!(store.card(&children[0]).await.parent_task_id.as_ref(), Some(&planner));
        assert_eq!(store.project().await.status, ProjectStatus::Active);
    }
    store.complete(&children[0]).await;
    assert_eq!(rounds(&store).await.len(), 3);
    let project = store.project().await;
    assert_eq!(project.status, ProjectStatus::Complete);
    // The human can start another round after the limit.
    let more = store.task("One more").await;
    assert_eq!(store.project().await.status, ProjectStatus::Active);
    store.complete(&more).await;
    assert_eq!(store.project().await.status, ProjectStatus::Complete);
    let kinds = store.kinds_since(0).await;
    assert_eq!(kinds.iter().filter(|kind| **kind == "project_completed").count(), 2);
    assert_eq!(kinds.iter().filter(|kind| **kind == "project_reopened").count(), 1);
    store.check_fold().await;
}

#[tokio::test]
async fn plan_without_finished_child_has_no_round() {
    let (store, planner) = Store::plan(PlanApproval::Auto).await;
    let children = store.planned(&planner, &["One"]).await;
    store.cancel(&children[0], "obsolete").await;
    assert_eq!(rounds(&store).await.len(), 0);
    assert_eq!(store.project().await.status, ProjectStatus::Complete);
}

#[tokio::test]
async fn orchestrator_cancels_only_tasks_of_its_project() {
    let (store, planner) = Store::plan(PlanApproval::Auto).await;
    let children = store.planned(&planner, &["One"]).await;
    store.complete(&children[0]).await;
    let round = rounds(&store).await.remove(0);
    let agent = store.agent(&round.id, AgentKind::Orchestrator).await;
    let other = store.task("Superfluous").await;
    assert_eq!(code(store.move_to(&agent.caller, &other, Status::InProgress).await), "not-your-task");
    store.move_with(&agent.caller, &other, Status::Cancelled, Some("obsolete"), EvidenceResult::Nothing).await.unwrap();
    let elsewhere = domain::wire::NewProject { title: "Other".to_owned(), ..Default::default() };
    let elsewhere = store.db.create_project(&Caller::owner(), elsewhere, crate::tests::store::probe()).await.unwrap().id;
    let hidden = store.db.create_task(&Caller::owner(), &elsewhere, crate::tests::store::new_task("Hidden")).await.unwrap().card.id;
    let refused = store.move_with(&agent.caller, &hidden, Status::Cancelled, Some("obsolete"), EvidenceResult::Nothing).await;
    assert_eq!(code(refused), "not-found");
}

#[tokio::test]
async fn each_round_is_unique_in_the_database() {
    let (store, planner) = Store::plan(PlanApproval::Auto).await;
    let children = store.planned(&planner, &["One"]).await;
    store.complete(&children[0]).await;
    let copy = store.db.write(|tx| {
        Box::pin(async move {
            tx.skip_event(NoEventReason::NothingChanged);
            let copy = "INSERT INTO tasks (id, project_id, title, phase, round_of, round, created_at, updated_at)
                        SELECT 'TASK-777', project_id, title, phase, round_of, round, created_at, updated_at FROM tasks WHERE round = 1";
            sqlx::query(copy).execute(&mut tx.connection).await?;
            Ok(())
        })
    });
    let error = copy.await.unwrap_err();
    assert!(matches!(&error, crate::Error::Storage(source) if source.to_string().contains("UNIQUE")), "{error:?}");
    assert_eq!(rounds(&store).await.len(), 1);
}

#[tokio::test]
async fn tasks_added_by_a_round_are_not_held() {
    let (store, planner) = Store::plan(PlanApproval::Ask).await;
    let children = store.planned(&planner, &["One"]).await;
    store.db.approve_plan(&Caller::owner(), &store.project).await.unwrap();
    store.complete(&children[0]).await;
    let added = orchestrate(&store, &planner, &["More"]).await;
    assert_eq!(store.card(&added[0]).await.held_by, None, "the plan was approved already");
}
