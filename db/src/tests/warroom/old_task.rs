//! Tasks that are left from a session: a lead decides about each before they create new ones.

use domain::board::stage::Stage;
use domain::board::status::{CancelReason, HeldBy, Status};
use domain::board::task::{NewSubtask, NewTask};
use domain::id::TaskId;
use domain::warroom::battle_plan::NewBattlePlan;
use domain::warroom::debrief::NewDebrief;
use domain::warroom::old_task::OldTask;

use crate::Caller;
use crate::tests::external_agents::{Crew, crew, stage};
use crate::tests::store::{Store, code, new_task, refusal};

/// A project with a new plan, whose last session left three tasks.
async fn next_session(store: &Store, crew: &Crew) -> [TaskId; 3] {
    let mut left = Vec::new();
    for title in ["Search", "Sort", "Print"] {
        left.push(store.db.create_task(&crew.lena, &store.project, new_task(title)).await.unwrap().card.id);
    }
    store.db.debrief(&crew.lena, &store.project, NewDebrief { summary: "Nothing".to_owned() }).await.unwrap();
    store.db.end_session(&crew.lena, &store.project).await.unwrap();
    let plan = NewBattlePlan { plan: "Go on".to_owned(), ..NewBattlePlan::default() };
    store.db.set_battle_plan(&crew.lena, &store.project, plan).await.unwrap();
    left.try_into().unwrap()
}

#[tokio::test]
async fn lead_reviews_the_tasks_of_an_ended_session_before_new_ones() {
    let store = Store::board().await;
    let crew = crew(&store).await;
    let left = next_session(&store, &crew).await;
    for task in &left {
        let card = store.card(task).await;
        assert_eq!((card.old, Stage::of(&card)), (Some(OldTask::Unreviewed), Stage::Stale));
    }
    let create = async |by: &Caller| store.db.create_task(by, &store.project, new_task("Next")).await;
    let before = store.dump().await;
    let refused = refusal(create(&crew.lena).await);
    let said = format!("BLOCKED: creating tasks waits for your review of 3 tasks from the session that ended: {}, {}, {}", left[0], left[1], left[2]);
    assert_eq!((refused.code(), refused.to_string()), ("old-tasks", said));
    let assigned = NewTask { assigned_to: Some("ben".to_owned()), ..new_task("Next") };
    assert_eq!(code(store.db.create_task(&crew.lena, &store.project, assigned).await), "old-tasks");
    assert_eq!(code(store.db.assign_task(&crew.lena, &left[0], Some("ben".to_owned()), None).await), "old-tasks");
    let part = NewSubtask { title: "Part".to_owned(), ..NewSubtask::default() };
    assert_eq!(code(store.db.create_subtasks(&crew.lena, &TaskId::new(1), vec![part]).await), "old-tasks");
    assert_eq!(code(stage(&store, &crew.ben, &left[0], Stage::Stale).await), "lead-only");
    assert_eq!(store.dump().await, before, "nothing was written");

    let stale = stage(&store, &crew.lena, &left[0], Stage::Stale).await.unwrap().card;
    assert_eq!((stale.old, stale.held_by, stale.status), (Some(OldTask::Stale), Some(HeldBy::Human), Status::Backlog));
    let obsolete = stage(&store, &crew.lena, &left[1], Stage::Obsolete).await.unwrap().card;
    assert_eq!((obsolete.old, obsolete.status, obsolete.cancel_reason), (None, Status::Cancelled, Some(CancelReason::Obsolete)));
    assert_eq!(code(create(&crew.lena).await), "old-tasks");
    let open = stage(&store, &crew.lena, &left[2], Stage::Ready).await.unwrap().card;
    assert_eq!((open.old, open.status), (None, Status::Backlog));
    create(&crew.lena).await.unwrap();
    // A stale one can still be needed.
    store.db.assign_task(&crew.lena, &left[0], Some("ben".to_owned()), None).await.unwrap();
    assert_eq!(store.card(&left[0]).await.old, None);
    assert_eq!(code(stage(&store, &crew.lena, &left[2], Stage::Stale).await), "illegal-stage", "it is no longer old");
    store.check_fold().await;
}

#[tokio::test]
async fn persons_are_not_refused_and_what_begins_is_not_old() {
    let store = Store::board().await;
    let crew = crew(&store).await;
    let left = next_session(&store, &crew).await;
    store.db.create_task(&Caller::owner(), &store.project, new_task("Next")).await.unwrap();
    store.db.start_task(&Caller::owner(), &left[0]).await.unwrap();
    store.db.assign_task(&Caller::owner(), &left[1], Some("ben".to_owned()), None).await.unwrap();
    stage(&store, &crew.lena, &left[2], Stage::Abandoned).await.unwrap();
    for task in &left {
        assert_eq!(store.card(task).await.old, None, "{task}");
    }
    store.db.create_task(&crew.lena, &store.project, new_task("Next")).await.unwrap();
    store.check_fold().await;
}
