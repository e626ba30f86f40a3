//! The facts for a formation: tasks that can be worked on at the same time, and the limit of coders.

use domain::wire::ProjectPatch;

use crate::Caller;
use crate::tests::store::{Store, code};

#[tokio::test]
async fn independent_tasks_are_open_and_wait_for_no_other() {
    let store = Store::board().await;
    let independent = async || store.db.independent_tasks(&store.project).await.unwrap();
    assert_eq!(independent().await, 0);
    let first = store.task("Parser").await;
    store.task("Lexer").await;
    store.task_after("Printer", &[&first]).await;
    assert_eq!(independent().await, 2);
    store.cancel(&first, "obsolete").await;
    assert_eq!(independent().await, 2, "one is closed, and what waited for it is free");
}

#[tokio::test]
async fn person_limits_the_coders_of_a_project() {
    let store = Store::board().await;
    let limit = async |most: u32| {
        let patch = ProjectPatch { max_coders: Some(most), ..ProjectPatch::default() };
        store.db.edit_project(&Caller::owner(), &store.project, patch, None).await
    };
    assert_eq!(store.project().await.max_coders, None);
    assert_eq!(limit(2).await.unwrap().max_coders, Some(2));
    let seq = store.db.latest();
    assert_eq!((limit(2).await.unwrap().max_coders, store.db.latest()), (Some(2), seq), "the same again changes nothing");
    let other = ProjectPatch { title: Some("Other".to_owned()), ..ProjectPatch::default() };
    assert_eq!(store.db.edit_project(&Caller::owner(), &store.project, other, None).await.unwrap().max_coders, Some(2));
    assert_eq!(code(limit(65).await), "invalid");
    assert_eq!(limit(0).await.unwrap().max_coders, None, "only the configuration limits them");
}
