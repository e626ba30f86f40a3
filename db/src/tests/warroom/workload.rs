//! Agents with little context left get light tasks.

use domain::board::task::{NewTask, TaskUpdate};
use domain::warroom::context_left::ContextReport;

use crate::Caller;
use crate::tests::external_agents::{crew, update};
use crate::tests::store::{Store, code, new_task};

#[tokio::test]
async fn agent_with_a_used_up_context_gets_no_task() {
    let store = Store::board().await;
    let crew = crew(&store).await;
    let report = |used| ContextReport { context: "x".to_owned(), tokens_used: Some(used), tokens_limit: Some(100) };
    let large = NewTask { files: vec!["src/".to_owned()], ..new_task("Large") };
    let task = store.db.create_task(&crew.lena, &store.project, large).await.unwrap().card.id;
    let small = store.db.create_task(&crew.lena, &store.project, new_task("Small")).await.unwrap().card.id;
    let light = store.db.light_tasks(&store.project).await.unwrap();
    assert!(light.contains(&small) && !light.contains(&task));
    let to_ben = || TaskUpdate { assigned_to: Some("ben".to_owned()), ..TaskUpdate::default() };
    store.db.set_context(&crew.ben, &store.project, report(60)).await.unwrap();
    update(&store, &crew.lena, &task, to_ben()).await.unwrap();
    store.db.set_context(&crew.ben, &store.project, report(80)).await.unwrap();
    let before = store.dump().await;
    for refused in [
        update(&store, &crew.lena, &small, to_ben()).await,
        store.db.assign_task(&crew.lena, &small, Some("ben".to_owned()), None).await,
        store.db.create_task(&crew.lena, &store.project, NewTask { assigned_to: Some("ben".to_owned()), ..new_task("Next") }).await,
    ] {
        assert_eq!(code(refused), "context-used-up");
    }
    assert_eq!(store.dump().await, before, "nothing was written");
    update(&store, &crew.lena, &task, to_ben()).await.expect("it has this one already");
    store.db.assign_task(&Caller::owner(), &small, Some("ben".to_owned()), None).await.expect("a person decides");
    assert!(store.db.light_tasks(&store.project).await.unwrap().is_empty());
}
