//! The story of whole projects: one that is deleted, and the past of the other one.

use axum::http::StatusCode;
use domain::id::ProjectId;
use serde_json::{Value, json};

use super::Story;

/// A project that is archived, restored and deleted.
pub(super) async fn second(story: &mut Story, repository: &str) {
    let new = json!({"title": "A mistake", "repo_path": repository});
    story.act("post", "/api/projects", "", new, StatusCode::CREATED).await;
    let archived = story.act("post", "/api/projects/{id}/archive", "PROJ-002", Value::Null, StatusCode::OK).await;
    assert!(archived["archived_at"].is_string(), "{archived}");
    assert_eq!(story.get("/api/projects", "").await["items"].as_array().map(Vec::len), Some(1));
    let listed = story.call("get", "/api/projects", "", "?archived=true", Value::Null).await.json();
    assert_eq!((&listed["items"][0]["id"], listed["items"].as_array().map(Vec::len)), (&json!("PROJ-002"), Some(1)));
    let restored = story.act("post", "/api/projects/{id}/restore", "PROJ-002", Value::Null, StatusCode::OK).await;
    assert_eq!(restored["archived_at"], Value::Null);
    let wrong = json!({"title": "A page"});
    let refused = story.act("delete", "/api/projects/{id}", "PROJ-002", wrong, StatusCode::UNPROCESSABLE_ENTITY).await;
    assert_eq!(refused["code"], "invalid", "{refused}");
    let deleted = story.act("delete", "/api/projects/{id}", "PROJ-002", json!({"title": "A mistake"}), StatusCode::OK).await;
    assert!(deleted["deleted_at"].is_string(), "{deleted}");
    story.server.state.db.remove_deleted_project(&ProjectId::new(2)).await.unwrap();
    assert_eq!(story.call("get", "/api/projects/{id}", "PROJ-002", "", Value::Null).await.status, StatusCode::NOT_FOUND);
}

/// The past of the first project: its boards and its figures.
pub(super) async fn past(story: &mut Story) {
    let replay = story.call("get", "/api/projects/{id}/replay", "PROJ-001", "?at=1", Value::Null).await.json();
    assert_eq!((&replay["steps"][0]["sentence"], &replay["board"]["cards"]), (&json!("You created the project"), &json!([])), "{replay}");
    let statistics = story.call("get", "/api/projects/{id}/statistics", "PROJ-001", "?days=2", Value::Null).await.json();
    let sum = |field: &str| statistics["days"].as_array().unwrap().iter().filter_map(|day| day[field].as_i64()).sum::<i64>();
    assert!((sum("cost_micro_usd"), sum("finished") > 0) == (70, true), "{statistics}");
}
