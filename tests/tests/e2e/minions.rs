//! Helpers that an agent starts itself: hooks of the real program report them to the board, and the spawn policy limits them.

use domain::id::{ProjectId, TaskId};
use domain::team::minion::{Minion, MinionStatus};
use domain::wire::List;
use reqwest::Method;
use serde_json::json;
use tests::model::ScriptedModel;
use tests::server::TestServer;

use crate::support::{self, add, done};

const SCENARIO: &str = include_str!("../../scenarios/minions.json");

async fn minions(server: &TestServer, project: &ProjectId) -> Vec<Minion> {
    let list: List<Minion> = server.get(&format!("/api/projects/{project}/minions")).await.unwrap();
    list.items
}

/// The newest request of the task's coder to its model.
fn newest_request(model: &ScriptedModel, task: &TaskId) -> String {
    let of_task = |request: &tests::model::RequestLog| request.agent.as_ref().is_some_and(|agent| agent.task_id == task.as_str());
    model.requests_of("coder").into_iter().rfind(of_task).unwrap().text()
}

#[tokio::test]
async fn helpers_are_counted_and_limited_by_the_policy() {
    let (server, model) = support::real(SCENARIO).await;
    let project = server.project("Helpers", None).await.unwrap().id;
    let allowed = add(&server, &project, "Ask a helper").await;
    done(&server, &project, &allowed).await;
    let [minion] = minions(&server, &project).await.try_into().unwrap();
    assert_eq!((minion.pilot.as_str(), minion.task_description.as_str()), ("coder-TASK-001", "Look at the page"));
    assert_eq!(minion.status, MinionStatus::Completed);
    assert!(newest_request(&model, &allowed).contains("Subagent hand-back"), "the helper's report was read");

    let none = json!({"scope": "global", "enabled": false, "max_minions": 3});
    let set = server.request(Method::PUT, &format!("/api/projects/{project}/spawn-policies")).json(&none).send().await.unwrap();
    assert!(set.status().is_success());
    let refused = add(&server, &project, "Ask a helper again").await;
    done(&server, &project, &refused).await;
    assert_eq!(minions(&server, &project).await.len(), 1, "no other was started");
    let words = newest_request(&model, &refused);
    assert!(words.contains("coder-TASK-002 cannot start a helper: the policy allows none"), "{words}");
}
