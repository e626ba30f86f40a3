//! Helpers that an agent starts by itself: counted by the board through hooks of the real program, and refused when a lead says so.

use domain::id::{ProjectId, TaskId};
use domain::team::minion::{Minion, MinionStatus};
use domain::wire::List;
use reqwest::Method;
use serde_json::json;
use tests::model::ScriptedModel;
use tests::relay::Relay;

use crate::scene::{self, add, done};

const SCENARIO: &str = include_str!("../../scenarios/minions.json");

async fn minions(relay: &Relay, project: &ProjectId) -> Vec<Minion> {
    let list: List<Minion> = relay.get(&format!("/api/projects/{project}/minions")).await.unwrap();
    list.items
}

/// What the model of a task's coder was told last.
fn told(model: &ScriptedModel, task: &TaskId) -> String {
    let of_task = |request: &tests::model::RequestLog| request.agent.as_ref().is_some_and(|agent| agent.task_id == task.as_str());
    model.requests_of("coder").into_iter().rfind(of_task).unwrap().text()
}

#[tokio::test]
async fn helpers_are_counted_and_refused_by_the_policy() {
    let (relay, model) = scene::real(SCENARIO).await;
    let project = relay.project("Helpers", None).await.unwrap().id;
    let allowed = add(&relay, &project, "Ask a helper").await;
    done(&relay, &project, &allowed).await;
    let [minion] = minions(&relay, &project).await.try_into().unwrap();
    assert_eq!((minion.pilot.as_str(), minion.task_description.as_str()), ("coder-TASK-001", "Look at the page"));
    assert_eq!(minion.status, MinionStatus::Completed);
    assert!(told(&model, &allowed).contains("Subagent hand-back"), "the helper's report was read");

    let none = json!({"scope": "global", "enabled": false, "max_minions": 3});
    let set = relay.request(Method::PUT, &format!("/api/projects/{project}/spawn-policies")).json(&none).send().await.unwrap();
    assert!(set.status().is_success());
    let refused = add(&relay, &project, "Ask a helper again").await;
    done(&relay, &project, &refused).await;
    assert_eq!(minions(&relay, &project).await.len(), 1, "no other was started");
    let words = told(&model, &refused);
    assert!(words.contains("coder-TASK-002 may start no minion: the policy allows none"), "{words}");
}
