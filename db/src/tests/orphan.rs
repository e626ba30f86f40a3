//! Tasks whose assignee left: the person is asked, until somebody has them or they are taken back.

use domain::attention::AttentionKind;
use domain::id::TaskId;
use domain::task::Status;

use crate::Caller;
use crate::tests::crew::{assigned, completed, crew};
use crate::tests::store::Store;
use crate::tests::team::named;

async fn asks(store: &Store, task: &TaskId) -> Option<(AttentionKind, String)> {
    store.card(task).await.attention.map(|attention| (attention.kind, attention.detail))
}

#[tokio::test]
async fn the_person_is_asked_what_becomes_of_the_open_tasks_of_who_left() {
    let store = Store::board().await;
    let crew = crew(&store).await;
    let done = completed(&store, "Done", &crew).await;
    let (one, two) = (assigned(&store, "One", "ben").await, assigned(&store, "Two", "ben").await);
    let seq = store.db.latest();
    store.db.deregister(&crew.lena, &store.project, "ben").await.unwrap();
    let detail = "ben, to whom it is assigned, left. Assign it to another agent, or take it back from ben and press Start.";
    for task in [&one, &two] {
        assert_eq!(asks(&store, task).await, Some((AttentionKind::Stalled, detail.to_owned())));
    }
    assert_eq!(asks(&store, &done).await, None);
    assert_eq!(store.kinds_since(seq).await, ["agent_left", "task_needs_you", "task_needs_you"]);

    let given = store.db.assign_task(&crew.lena, &one, Some("tess".to_owned()), None).await.unwrap().card;
    assert_eq!((given.attention, given.hands.assigned_to.as_deref()), (None, Some("tess")));
    let back = store.db.assign_task(&Caller::Human, &two, None, None).await.unwrap().card;
    assert_eq!((back.attention, back.hands.assigned_to), (None, None));
    store.check_fold().await;
}

#[tokio::test]
async fn nothing_is_asked_any_more_when_the_assignee_is_back() {
    let store = Store::board().await;
    let crew = crew(&store).await;
    let (one, other) = (assigned(&store, "One", "ben").await, assigned(&store, "Two", "ben").await);
    store.db.need_person(&other, AttentionKind::Checks, "A check is red.").await.unwrap();
    store.db.deregister(&crew.ben, &store.project, "ben").await.unwrap();
    assert_eq!(asks(&store, &other).await.unwrap().0, AttentionKind::Checks, "what they must look at already goes first");
    store.db.register(&crew.ben, &store.project, named("ben", &[]), None).await.unwrap();
    assert_eq!(asks(&store, &one).await, None);
    assert_eq!(asks(&store, &other).await.unwrap().0, AttentionKind::Checks);
    assert_eq!(store.status(&one).await, Status::Backlog);
    store.check_fold().await;
}
