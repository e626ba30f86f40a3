//! Questions of a person to an oracle that the runner starts: the task that they open, and what a page shows of them.

use axum::http::StatusCode;
use serde_json::{Value, json};

use super::support::TestServer;

#[tokio::test]
async fn person_asks_the_oracle_of_the_runner() {
    let server = TestServer::new().await;
    let project = server.project().await;
    let path = |rest: &str| format!("/api/projects/{project}/{rest}");
    let zone = |oracle: Value| json!({"name": "audio", "paths": ["audio/"], "oracle": oracle}).to_string();
    let set = server.call("put", &path("zones"), &zone(json!("managed"))).await;
    assert_eq!((set.status, &set.json()["oracle"]), (StatusCode::OK, &json!("managed")), "{}", set.text);
    let ask = |question: &str| json!({"zones": ["audio"], "question": question}).to_string();
    let asked = server.call("post", &path("oracle-questions"), &ask("Who frees the buffer?")).await;
    assert_eq!(asked.status, StatusCode::CREATED, "{}", asked.text);
    let question = asked.json()["items"][0].clone();
    let task = question["task_id"].as_str().unwrap().to_owned();
    assert_eq!(question["oracle"], json!(format!("oracle-{task}")));
    let shown = server.call("get", &format!("/api/tasks/{task}"), "").await.json();
    assert_eq!((&shown["phase"], &shown["status"]), (&json!("oracle"), &json!("backlog")), "{shown}");
    for (body, status, code) in [
        (ask(" "), StatusCode::UNPROCESSABLE_ENTITY, "invalid"),
        (json!({"zones": ["docs"], "question": "Why?"}).to_string(), StatusCode::NOT_FOUND, "no-zone"),
    ] {
        let refused = server.call("post", &path("oracle-questions"), &body).await;
        assert_eq!((refused.status, &refused.json()["code"]), (status, &json!(code)), "{}", refused.text);
    }
    let used = server.call("get", &path("oracle-use"), "").await.json();
    assert_eq!((&used["items"][0]["questions"], &used["items"][0]["task_id"]), (&json!(1), &json!(task)), "{used}");
    // A zone without its oracle ends the wait.
    server.call("put", &path("zones"), &zone(Value::Null)).await;
    let listed = server.call("get", &path("oracle-questions"), "").await.json();
    assert_eq!(listed["items"][0]["answer"]["failed"], json!(true), "{listed}");
    let nobody = server.call("post", &path("oracle-questions"), &ask("Why?")).await;
    assert_eq!((nobody.status, &nobody.json()["code"]), (StatusCode::CONFLICT, &json!("zone-without-oracle")), "{}", nobody.text);
}
