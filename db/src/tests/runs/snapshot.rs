//! The snapshot that the scheduler reads, and the wait reasons that it sets.

use domain::board::project::PlanApproval;
use domain::board::status::{HeldBy, Status};
use domain::board::task::event::TaskEvent;
use domain::board::wait_reason::WaitReason;
use domain::event::Event;
use domain::id::TaskId;
use domain::runs::agent_kind::AgentKind;

use crate::Caller;
use crate::engine::tx::NoEventReason;
use crate::tests::store::{Store, new_task, parts, whole_board};

#[tokio::test]
async fn snapshot_contains_everything_the_scheduler_reads() {
    let (store, planner) = Store::plan(PlanApproval::Auto).await;
    let task = store.task("One").await;
    let agent = store.agent(&task, AgentKind::Coder).await;
    let state = store.db.snapshot().await.unwrap();
    assert_eq!(state.projects.keys().collect::<Vec<_>>(), [&store.project]);
    assert_eq!(state.projects[&store.project], store.project().await);
    assert_eq!(state.tasks.iter().map(|known| &known.task.card.id).collect::<Vec<_>>(), [&planner, &task]);
    let mut whole = store.db.task(&task).await.unwrap();
    assert_eq!((whole.card.runs, whole.card.contributors.built_by.len()), (1, 1));
    (whole.card.runs, whole.card.contributors.built_by) = (0, Vec::new());
    assert_eq!(state.tasks[1].task, whole);
    let waiting = store.task_after("Two", &[&planner, &task]).await;
    let state = store.db.snapshot().await.unwrap();
    assert_eq!(state.tasks[2].task, store.db.task(&waiting).await.unwrap(), "a waiting task is part of the snapshot");
    assert_eq!(state.live, [store.db.run(&agent.run).await.unwrap()]);
    assert!(state.parkings.is_empty());
}

#[tokio::test]
async fn wait_reason_changes_are_recorded() {
    let store = Store::board().await;
    let (first, second) = (store.task("One").await, store.task("Two").await);
    let seq = store.db.latest();
    let updated = store.card(&first).await.updated_at;
    let held = Some(WaitReason::Held { by: HeldBy::Human });
    let set = async |whys: Vec<(TaskId, Option<WaitReason>)>| store.db.set_wait_reasons(whys).await.unwrap();
    set(vec![(first.clone(), held.clone()), (second.clone(), None)]).await;
    set(vec![(first.clone(), held.clone()), (second.clone(), Some(WaitReason::NoFreeSlot { limit: 3 }))]).await;
    set(vec![(first.clone(), None), ("TASK-404".parse().unwrap(), None)]).await;
    let changes =
        [held, Some(WaitReason::NoFreeSlot { limit: 3 }), None].map(|wait_reason| Event::Task(TaskEvent::WaitReasonChanged { wait_reason }));
    assert_eq!(store.since(seq).await, changes);
    let card = store.card(&second).await;
    assert_eq!(card.wait_reason, Some(WaitReason::NoFreeSlot { limit: 3 }));
    assert_eq!(store.card(&first).await.updated_at, updated);
    store.agent(&second, AgentKind::Coder).await;
    assert_eq!(store.card(&second).await.wait_reason, None, "an agent is running");
    store.check_fold().await;
}

async fn set_held(store: &Store, task: &TaskId, by: Option<HeldBy>) {
    let task = task.clone();
    let set = store.db.write(move |tx| {
        Box::pin(async move {
            tx.skip_event(NoEventReason::NothingChanged);
            let sql = "UPDATE tasks SET held_by = $2 WHERE id = $1";
            sqlx::query(sql).bind(task.as_str()).bind(by.map(HeldBy::as_str)).execute(&mut tx.connection).await?;
            Ok(())
        })
    });
    set.await.unwrap();
}

#[tokio::test]
async fn held_task_is_settled_once_its_card_says_so() {
    for by in [HeldBy::Human, HeldBy::Plan, HeldBy::Stop] {
        let store = Store::board().await;
        let held = store.task("Held").await;
        let dependent = store.task_after("Free", &[&held]).await;
        set_held(&store, &held, Some(by)).await;
        let active = async || store.db.snapshot().await.unwrap().tasks.into_iter().map(|known| known.task.card.id).collect::<Vec<_>>();
        assert_eq!(active().await, [held.clone(), dependent.clone()], "its card does not say why it waits");

        store.db.set_wait_reasons(vec![(held.clone(), Some(WaitReason::Held { by }))]).await.unwrap();
        let state = store.db.snapshot().await.unwrap();
        assert_eq!(active().await, std::slice::from_ref(&dependent));
        let referenced = state.referenced[&held];
        assert_eq!((referenced.status, referenced.satisfies_dependents), (Status::Backlog, false), "the free task still waits for it");

        set_held(&store, &held, None).await;
        assert_eq!(active().await, [held, dependent], "a released task is scheduled");
    }
}

#[tokio::test]
async fn five_thousand_tasks_are_read_and_changed() {
    let store = Store::board().await;
    let parent = store.task("Parent").await;
    for _ in 0..3 {
        store.db.create_subtasks(&Caller::owner(), &parent, parts(&["Part"; 50])).await.unwrap();
    }
    let project = store.project.clone();
    let many = store.db.write(move |tx| {
        Box::pin(async move {
            tx.skip_event(NoEventReason::NothingChanged);
            let many = "INSERT INTO tasks (id, project_id, title, phase, status, created_at, updated_at)
                WITH RECURSIVE n(i) AS (SELECT 152 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
                SELECT printf('TASK-%03d', i), $1, 'Part', 'coder', 'backlog', $2, $2 FROM n";
            sqlx::query(many).bind(project.as_str()).bind(tx.now.to_string()).execute(&mut tx.connection).await?;
            let depends = "INSERT INTO dependencies SELECT id, 'TASK-001' FROM tasks WHERE id <> 'TASK-001'";
            sqlx::query(depends).execute(&mut tx.connection).await?;
            sqlx::query("UPDATE counters SET value = 5000 WHERE kind = 'TASK'").execute(&mut tx.connection).await?;
            Ok(())
        })
    });
    many.await.unwrap();
    let board = whole_board(&store.db, &store.project).await.unwrap();
    assert_eq!((board.cards.len(), board.cards[4999].id.as_str()), (5000, "TASK-5000"));
    assert!(board.cards.is_sorted_by_key(|card| card.id.number()), "the browser searches them by number");
    assert_eq!(store.db.snapshot().await.unwrap().tasks.len(), 5000);
    let last = store.db.create_task(&Caller::owner(), &store.project, new_task("One more")).await.unwrap();
    assert_eq!(last.card.id.as_str(), "TASK-5001");
    store.cancel(&parent, "failed").await;
    assert_eq!(whole_board(&store.db, &store.project).await.unwrap().cards.iter().filter(|card| card.attention.is_some()).count(), 4999);
}
