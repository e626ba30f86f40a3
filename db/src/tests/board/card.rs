//! Lists of cards: the board's finished columns in pages, and lists that are narrowed in the database.

use domain::board::status::Status;
use domain::id::TaskId;

use crate::tests::store::{Store, code, new_task, probe, whole_board};
use crate::{Caller, CardFilter};

async fn ids(store: &Store, filter: CardFilter) -> Vec<TaskId> {
    store.db.cards(&filter).await.unwrap().into_iter().map(|card| card.id).collect()
}

#[tokio::test]
async fn older_finished_cards_come_in_pages() {
    let store = Store::board().await;
    let mut cancelled = Vec::new();
    for _ in 0..120 {
        let task = store.task("Part").await;
        store.cancel(&task, "obsolete").await;
        cancelled.push(task);
    }
    let open = store.task("Open").await;
    let view = store.db.board(&store.project).await.unwrap();
    assert_eq!((view.board.cards.len(), view.finished.cancelled.total, view.finished.done.total), (51, 120, 0));
    assert!(view.board.card(&open).is_some() && view.board.card(&cancelled[119]).is_some() && view.board.card(&cancelled[69]).is_none());
    assert_eq!((view.finished.done.total, view.finished.done.next), (0, None));

    let second = store.db.finished_cards(&store.project, Status::Cancelled, view.finished.cancelled.next.as_deref(), 50).await.unwrap();
    let third = store.db.finished_cards(&store.project, Status::Cancelled, second.next.as_deref(), 50).await.unwrap();
    assert_eq!((second.items.len(), third.items.len(), third.next), (50, 20, None));
    assert!(second.items.is_sorted_by(|one, next| (one.updated_at, one.id.as_str()) > (next.updated_at, next.id.as_str())), "newest first");
    assert_eq!(whole_board(&store.db, &store.project).await.unwrap().cards.len(), 121, "each card is in exactly one page");

    assert_eq!(code(store.db.finished_cards(&store.project, Status::Backlog, None, 50).await), "invalid");
    assert_eq!(code(store.db.finished_cards(&store.project, Status::Done, Some("TASK-001"), 50).await), "invalid");
    store.check_fold().await;
}

#[tokio::test]
async fn open_cards_of_all_projects_come_in_pages_of_projects() {
    let store = Store::board().await;
    let (one, two) = (store.task("One").await, store.task("Two").await);
    let new = domain::wire::NewProject { title: "Other".to_owned(), plan: Some(false), ..Default::default() };
    let other = store.db.create_project(&Caller::owner(), new, probe()).await.unwrap().id;
    let three = store.db.create_task(&Caller::owner(), &other, new_task("Three")).await.unwrap().card.id;
    store.complete(&two).await;
    let all = store.db.open_cards(None, 500).await.unwrap();
    assert_eq!(all.items.iter().map(|card| card.id.clone()).collect::<Vec<_>>(), [one.clone(), three.clone()]);
    assert_eq!((all.next, all.seq), (None, store.db.board(&store.project).await.unwrap().board.seq));
    let first = store.db.open_cards(None, 1).await.unwrap();
    assert_eq!((first.items.len(), first.items[0].id.clone(), first.next.clone()), (1, one, Some(store.project.clone())));
    let second = store.db.open_cards(first.next.as_ref(), 1).await.unwrap();
    assert_eq!((second.items[0].id.clone(), second.next), (three, None));
}

#[tokio::test]
async fn lists_are_narrowed_and_go_on_after_an_id() {
    let store = Store::board().await;
    let (one, two, three) = (store.task("One").await, store.task("Two").await, store.task("Three").await);
    let all = || CardFilter::of_project(store.project.clone());
    store.complete(&two).await;
    assert_eq!(ids(&store, all()).await, [one.clone(), two.clone(), three.clone()]);
    assert_eq!(ids(&store, CardFilter::open(store.project.clone())).await, [one.clone(), three.clone()]);
    assert_eq!(ids(&store, CardFilter { after: Some(one.clone()), limit: 1, ..all() }).await, std::slice::from_ref(&two));
    assert_eq!(ids(&store, CardFilter { statuses: vec![Status::Done], ..all() }).await, [two]);
    store.guest("ben").await;
    let mine = domain::board::task::NewTask { assigned_to: Some("ben".to_owned()), ..new_task("Mine") };
    let mine = store.db.create_task(&Caller::owner(), &store.project, mine).await.unwrap().card.id;
    assert_eq!(ids(&store, CardFilter { assigned_to: Some("ben".to_owned()), ..all() }).await, [mine]);
    let counts = store.db.card_counts(&store.project).await.unwrap();
    assert_eq!(counts.into_iter().collect::<Vec<_>>(), [(Status::Backlog, 3), (Status::Done, 1)]);
}

#[tokio::test]
async fn merged_work_is_found_once_a_task_is_merged() {
    let store = Store::board().await;
    let task = store.db.create_task(&Caller::owner(), &store.project, new_task("One")).await.unwrap().card.id;
    assert!(!store.db.has_merged_work(&store.project).await.unwrap());
    store.db.start_task(&Caller::owner(), &task).await.unwrap();
    store.complete(&task).await;
    assert!(store.db.has_merged_work(&store.project).await.unwrap());
}
