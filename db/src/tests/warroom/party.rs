//! The party: who is present, and with which tasks.

use domain::board::stage::Stage;
use domain::board::status::Status;
use domain::runs::agent_kind::AgentKind;
use domain::warroom::context_left::ContextReport;

use crate::tests::external_agents::{assigned, stage};
use crate::tests::store::{Store, code};

#[tokio::test]
async fn party_lists_present_agents_with_their_tasks() {
    let store = Store::board().await;
    let ben = store.member("ben", &[]).await;
    let gone = store.member("gone", &[]).await;
    store.member("mara", &[]).await;
    let mut tasks = Vec::new();
    for number in 1..=7 {
        tasks.push(assigned(&store, &format!("Task {number}"), "ben").await);
    }
    for task in &tasks[5..] {
        stage(&store, &ben, task, Stage::InProgress).await.unwrap();
    }
    stage(&store, &ben, &tasks[5], Stage::Failed).await.unwrap();
    store.leaves(&gone, "gone").await;
    let report = ContextReport { context: "Tests".to_owned(), tokens_used: Some(90), tokens_limit: Some(100) };
    store.db.set_context(&ben, &store.project, report).await.unwrap();
    let own = store.task("Own").await;
    let coder = store.agent(&own, AgentKind::Coder).await;

    let party = store.db.party(&store.project).await.unwrap();
    let names: Vec<&str> = party.iter().map(|member| member.agent.name.as_str()).collect();
    assert_eq!(names, ["ben", "coder-TASK-008", "mara"]);
    let listed: Vec<&str> = party[0].tasks.iter().map(|task| task.title.as_str()).collect();
    assert_eq!((listed, party[0].further_tasks), (vec!["Task 7", "Task 1", "Task 2", "Task 3", "Task 4"], 1), "finished ones are not listed");
    assert_eq!((party[0].tasks[0].status, party[0].agent.context_left.map(|left| left.percent)), (Status::InProgress, Some(10)));
    assert_eq!(party[1].tasks.iter().map(|task| task.id.clone()).collect::<Vec<_>>(), [own]);
    assert!(party[2].tasks.is_empty());
    let agents = store.db.agents(&store.project).await.unwrap();
    assert_eq!(party.into_iter().map(|member| member.agent).collect::<Vec<_>>(), agents, "the same as in the list of agents");

    store.finish(&coder).await;
    let between_runs = store.db.party(&store.project).await.unwrap();
    assert!(between_runs.iter().all(|member| member.agent.run_id.is_none() || member.tasks.is_empty()));
    assert_eq!(code(store.db.party(&"PROJ-404".parse().unwrap()).await), "not-found");
}
