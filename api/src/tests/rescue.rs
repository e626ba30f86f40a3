//! Kept work through the interface: listed, shown, restored and dropped.

use axum::http::StatusCode;
use serde_json::{Value, json};

use super::support::TestServer;

const REFERENCE: &str = "refs/vibe-relay/rescue/TASK-001/uncommitted";

/// A server on a repository with kept work, and the commit that holds it.
async fn server() -> (TestServer, String) {
    let server = TestServer::new().await;
    server.project().await;
    let sha = server.sample.commit_on("lost", &[("lost.txt", Some("found\n"))], "Work that was not committed");
    server.sample.repository().rescue_tip(REFERENCE, &sha).unwrap();
    server.sample.delete_branch("lost");
    (server, sha)
}

async fn post(server: &TestServer, what: &str, body: Value) -> (StatusCode, Value) {
    let answer = server.call("post", &format!("/api/projects/PROJ-001/rescues/{what}"), &body.to_string()).await;
    (answer.status, answer.json())
}

#[tokio::test]
async fn kept_work_is_listed_and_shown() {
    let (server, sha) = server().await;
    let list = server.call("get", "/api/projects/PROJ-001/rescues", "").await.json();
    let item = &list["items"][0];
    assert_eq!((&item["reference"], &item["sha"], &item["task_id"]), (&json!(REFERENCE), &json!(sha), &json!("TASK-001")));
    assert_eq!(item["subject"], "Work that was not committed");
    let diff = server.call("get", &format!("/api/projects/PROJ-001/rescues/diff?reference={REFERENCE}"), "").await;
    assert_eq!((diff.status, &diff.json()["files"][0]["path"]), (StatusCode::OK, &json!("lost.txt")), "{}", diff.text);
    let none = server.call("get", "/api/projects/PROJ-001/rescues/diff?reference=refs/vibe-relay/rescue/TASK-009/none", "").await;
    assert_eq!(none.json()["code"], "rescue-missing", "{}", none.text);
}

#[tokio::test]
async fn kept_work_is_restored_to_a_new_branch() {
    let (server, sha) = server().await;
    for (branch, code) in [("main", "branch-exists"), ("vibe-relay/PROJ-001", "invalid"), ("vr/TASK-001/work", "invalid")] {
        let (status, refused) = post(&server, "restore", json!({"reference": REFERENCE, "branch": branch})).await;
        assert_eq!((status, &refused["code"]), (StatusCode::UNPROCESSABLE_ENTITY, &json!(code)), "{branch}");
    }
    let (status, list) = post(&server, "restore", json!({"reference": REFERENCE, "branch": "found"})).await;
    assert_eq!((status, &list["items"][0]["reference"]), (StatusCode::OK, &json!(REFERENCE)), "the rescue ref stays");
    assert_eq!(server.sample.repository().ref_sha("found").unwrap(), Some(sha));
}

#[tokio::test]
async fn kept_work_is_dropped_only_by_its_name_and_commit() {
    let (server, sha) = server().await;
    let main = server.sample.repository().ref_sha("main").unwrap().unwrap();
    let (_, refused) = post(&server, "drop", json!({"reference": REFERENCE, "sha": main})).await;
    assert_eq!(refused["code"], "branch-moved");
    let (_, refused) = post(&server, "drop", json!({"reference": "refs/heads/main", "sha": main})).await;
    assert_eq!(refused["code"], "foreign-reference");
    let (status, list) = post(&server, "drop", json!({"reference": REFERENCE, "sha": sha})).await;
    assert_eq!((status, list["items"].as_array().map(Vec::len)), (StatusCode::OK, Some(0)));
    let (_, refused) = post(&server, "drop", json!({"reference": REFERENCE, "sha": sha})).await;
    assert_eq!(refused["code"], "rescue-missing");
}
