//! A pull request for each task is refused where none could be opened, or nobody would know that it was merged. A project from an issue names it.

use axum::http::StatusCode;
use serde_json::{Value, json};

use super::support::TestServer;

const BY_TASK: &str = r#"{"profile": {"pull_requests": "task"}}"#;

async fn code(server: &TestServer, body: &str) -> (StatusCode, Value) {
    let answer = server.call("patch", "/api/projects/PROJ-001", body).await;
    (answer.status, answer.json()["code"].clone())
}

#[tokio::test]
async fn pull_requests_of_tasks_need_a_remote_an_upstream_and_a_host() {
    let server = TestServer::new().await;
    server.project().await;
    let refused = |code: &str| (StatusCode::UNPROCESSABLE_ENTITY, json!(code));
    assert_eq!(code(&server, BY_TASK).await, refused("no-remote"));
    let new = json!({"title": "Board", "repo_path": server.sample.top(), "profile": {"pull_requests": "task"}}).to_string();
    let created = server.call("post", "/api/projects", &new).await;
    assert_eq!((created.status, created.json()["code"].clone()), refused("no-remote"));
    server.sample.configure("remote.origin.url", "/srv/site.git");
    assert_eq!(code(&server, BY_TASK).await, refused("no-upstream"));
    server.sample.configure("branch.main.remote", "origin");
    server.sample.configure("branch.main.merge", "refs/heads/main");
    assert_eq!(code(&server, BY_TASK).await, refused("no-pull-requests"));
    server.sample.configure("remote.origin.url", "https://gitlab.com/ann/site.git");
    assert_eq!(code(&server, BY_TASK).await, refused("not-signed-in"));
    server.sample.configure("remote.origin.url", "https://github.com/ann/site.git");
    assert_eq!(code(&server, r#"{"profile": {"pull_requests": "task", "follow_base": false}}"#).await.0, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(code(&server, BY_TASK).await, (StatusCode::OK, Value::Null));
    // It is not asked for again.
    server.sample.configure("remote.origin.url", "https://gitlab.com/ann/site.git");
    assert_eq!(code(&server, BY_TASK).await.0, StatusCode::OK);
    let created = server.call("post", "/api/projects", &new).await;
    assert_eq!(created.json()["code"], "not-signed-in", "another project asks");
}

#[tokio::test]
async fn merged_work_that_is_not_landed_comes_first() {
    let server = TestServer::new().await;
    server.merged(&server.project().await, "one.txt", "1").await;
    let settings =
        [("remote.origin.url", "https://github.com/ann/site.git"), ("branch.main.remote", "origin"), ("branch.main.merge", "refs/heads/main")];
    settings.iter().for_each(|(key, value)| server.sample.configure(key, value));
    assert_eq!(code(&server, BY_TASK).await, (StatusCode::CONFLICT, json!("not-landed")));
    assert_eq!(server.call("post", "/api/projects/PROJ-001/land", "").await.status, StatusCode::OK);
    assert_eq!(code(&server, BY_TASK).await.0, StatusCode::OK);
}

#[tokio::test]
async fn project_from_an_issue_has_its_text_as_the_goal() {
    let server = TestServer::new().await;
    let create = async |new: Value| server.call("post", "/api/projects", &new.to_string()).await;
    let answer = create(json!({"issue": "7", "repo_path": server.sample.top()})).await;
    assert_eq!(answer.status, StatusCode::CREATED, "{}", answer.text);
    let project = answer.json();
    let address = "https://github.com/ann/site/issues/7";
    assert_eq!((&project["title"], &project["issue"]), (&json!("The menu is empty"), &json!(address)));
    assert!(project["description"].as_str().unwrap().starts_with(&format!("Issue: {address}\n\nSomeone outside")), "{project}");
    let board = server.call("get", "/api/projects/PROJ-001/board", "").await.json();
    assert_eq!(board["cards"][0]["phase"], "planner", "a planner starts");
    let db = &server.state.db;
    assert_eq!(db.issues_to_close(&"PROJ-001".parse().unwrap()).await.unwrap(), [address], "by the pull request of the project");
    let own = create(json!({"title": "Menu", "description": "Keep the style.", "issue": "8", "repo_path": server.sample.top()})).await.json();
    assert!(own["title"] == "Menu" && own["description"].as_str().unwrap().starts_with("Keep the style.\n\nIssue: https"), "{own}");
    let refused = create(json!({"repo_path": server.sample.top()})).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY, "a title or an issue");
}
