//! Tasks whose assignee left or stopped responding: they need attention until reassigned or unassigned.

use domain::board::attention::AttentionKind;
use domain::board::stage::Stage;
use domain::board::status::Status;
use domain::board::task::TaskPatch;
use domain::id::TaskId;

use crate::tests::external_agents::{assigned, completed, crew, named, stage};
use crate::tests::store::Store;
use crate::{AssigneePresence, Caller};

async fn asks(store: &Store, task: &TaskId) -> Option<(AttentionKind, String)> {
    store.card(task).await.attention.map(|attention| (attention.kind, attention.detail))
}

#[tokio::test]
async fn leaving_agent_flags_its_open_tasks() {
    let store = Store::board().await;
    let crew = crew(&store).await;
    let done = completed(&store, "Done", &crew).await;
    let (one, two) = (assigned(&store, "One", "ben").await, assigned(&store, "Two", "ben").await);
    let seq = store.db.latest();
    store.leaves(&crew.lena, "ben").await;
    let detail = "The assignee ben left. Assign another agent, or unassign the task and press Start.";
    for task in [&one, &two] {
        assert_eq!(asks(&store, task).await, Some((AttentionKind::ReviewLimit, detail.to_owned())));
    }
    assert_eq!(asks(&store, &done).await, None);
    assert_eq!(store.kinds_since(seq).await, ["handover_recorded", "agent_left", "task_needs_you", "task_needs_you"]);

    let given = store.db.assign_task(&crew.lena, &one, Some("tess".to_owned()), None).await.unwrap().card;
    assert_eq!((given.attention, given.contributors.assigned_to.as_deref()), (None, Some("tess")));
    let back = store.db.assign_task(&Caller::owner(), &two, None, None).await.unwrap().card;
    assert_eq!((back.attention, back.contributors.assigned_to), (None, None));
    store.check_fold().await;
}

#[tokio::test]
async fn returning_assignee_clears_flag() {
    let store = Store::board().await;
    let crew = crew(&store).await;
    let (one, other) = (assigned(&store, "One", "ben").await, assigned(&store, "Two", "ben").await);
    store.db.request_attention(&other, AttentionKind::Conflict, "a.rs conflicts.").await.unwrap();
    store.leaves(&crew.ben, "ben").await;
    assert_eq!(asks(&store, &other).await.unwrap().0, AttentionKind::Conflict, "what they must look at already goes first");
    store.db.register(&crew.ben, &store.project, named("ben", &[]), None).await.unwrap();
    assert_eq!(asks(&store, &one).await, None);
    assert_eq!(asks(&store, &other).await.unwrap().0, AttentionKind::Conflict);
    assert_eq!(store.status(&one).await, Status::Backlog);
    store.check_fold().await;
}

#[tokio::test]
async fn snapshot_contains_assignee_presence() {
    let store = Store::board().await;
    let crew = crew(&store).await;
    let task = assigned(&store, "One", "ben").await;
    let known = async || store.db.snapshot().await.unwrap().tasks.into_iter().find(|known| known.task.card.id == task).unwrap().assignee;
    assert_eq!(known().await, Some(AssigneePresence { connected: false, last_seen: None }));
    let at = store.db.record_heartbeat(&crew.ben).await.unwrap();
    assert_eq!(known().await, Some(AssigneePresence { connected: false, last_seen: Some(at) }));
    let connected = store.db.connect(&crew.ben).unwrap();
    assert!(known().await.unwrap().connected);
    store.leaves(&crew.lena, "ben").await;
    assert!(!known().await.unwrap().connected, "an agent that left is not connected");
    drop(connected);
    store.db.assign_task(&Caller::owner(), &task, None, None).await.unwrap();
    assert_eq!(known().await, None);
}

#[tokio::test]
async fn unresponsive_assignee_is_flagged_once_until_heartbeat() {
    let store = Store::board().await;
    crew(&store).await;
    let task = assigned(&store, "One", "ben").await;
    let miss = async |name: &str| store.db.flag_unresponsive_assignee(&task, name, "Assigned to ben, silent.").await.unwrap();
    let seq = store.db.latest();
    miss("tess").await;
    assert_eq!(asks(&store, &task).await, None, "it was reassigned meanwhile");
    miss("ben").await;
    miss("ben").await;
    store.db.retry_task(&Caller::owner(), &task, Default::default()).await.unwrap();
    assert_eq!(asks(&store, &task).await, Some((AttentionKind::AssigneeUnresponsive, "Assigned to ben, silent.".to_owned())), "the flag stays");
    store.db.clear_unresponsive_assignee(&task).await.unwrap();
    store.db.clear_unresponsive_assignee(&task).await.unwrap();
    assert_eq!(asks(&store, &task).await, None);
    assert_eq!(store.kinds_since(seq).await, ["task_needs_you", "task_released", "task_settled"]);
    store.db.request_attention(&task, AttentionKind::Conflict, "a.rs conflicts.").await.unwrap();
    miss("ben").await;
    store.db.clear_unresponsive_assignee(&task).await.unwrap();
    assert_eq!(asks(&store, &task).await.unwrap().0, AttentionKind::Conflict, "what they must look at already goes first");
    store.check_fold().await;
}

#[tokio::test]
async fn flag_clears_on_unassign_reassign_or_move() {
    let store = Store::board().await;
    let crew = crew(&store).await;
    let missed = async |title: &str| {
        let task = assigned(&store, title, "ben").await;
        store.db.flag_unresponsive_assignee(&task, "ben", "Silent.").await.unwrap();
        assert_eq!(asks(&store, &task).await.unwrap().0, AttentionKind::AssigneeUnresponsive);
        task
    };
    let (back, given, moved, left) = (missed("One").await, missed("Two").await, missed("Three").await, missed("Four").await);
    store.db.assign_task(&Caller::owner(), &back, None, None).await.unwrap();
    store.db.assign_task(&crew.lena, &given, Some("tess".to_owned()), None).await.unwrap();
    stage(&store, &crew.ben, &moved, Stage::InProgress).await.unwrap();
    for task in [&back, &given, &moved] {
        assert_eq!(asks(&store, task).await, None);
    }
    store.leaves(&crew.ben, "ben").await;
    assert_eq!(asks(&store, &left).await.unwrap().0, AttentionKind::ReviewLimit, "the departure takes precedence");
    store.db.flag_unresponsive_assignee(&store.task("Nobody's").await, "ben", "Silent.").await.unwrap();
    store.check_fold().await;
}

/// The lost dependency was hidden by the liveness flag.
#[tokio::test]
async fn lost_dependency_is_flagged_after_liveness_flag_clears() {
    let store = Store::board().await;
    crew(&store).await;
    let first = store.task("First").await;
    let task = assigned(&store, "Second", "ben").await;
    let patch = TaskPatch { depends_on: Some(vec![first.clone()]), ..TaskPatch::default() };
    store.db.edit_task(&Caller::owner(), &task, patch).await.unwrap();
    store.db.flag_unresponsive_assignee(&task, "ben", "Silent.").await.unwrap();
    store.cancel(&first, "failed").await;
    assert_eq!(asks(&store, &task).await.unwrap().0, AttentionKind::AssigneeUnresponsive);
    store.db.clear_unresponsive_assignee(&task).await.unwrap();
    assert_eq!(asks(&store, &task).await.unwrap().0, AttentionKind::DependencyCancelled);
    store.check_fold().await;
}
