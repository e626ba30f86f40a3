//! The steps of the story about pauses and the sandbox of agents.

use axum::http::StatusCode;
use serde_json::{Value, json};

use super::Story;

pub(super) async fn pause(story: &mut Story) {
    let paused = story.act("post", "/api/projects/{id}/pause", "PROJ-001", Value::Null, StatusCode::OK).await;
    assert!(paused["paused_at"].is_string());
    let resumed = story.act("post", "/api/projects/{id}/resume", "PROJ-001", Value::Null, StatusCode::OK).await;
    assert_eq!(resumed["paused_at"], Value::Null);
    let all = story.act("post", "/api/pause", "", Value::Null, StatusCode::OK).await;
    assert_eq!(story.get("/api/server", "").await["paused_at"], all["paused_at"]);
    assert_eq!(story.act("post", "/api/resume", "", Value::Null, StatusCode::OK).await, json!({"paused_at": null}));
}

pub(super) async fn sandbox(story: &mut Story) {
    assert_eq!(story.get("/api/server", "").await["sandbox"]["choices"], json!(["none", "jail"]));
    let unoffered = story.act("post", "/api/sandbox", "", json!({"tier": "jail+net"}), StatusCode::UNPROCESSABLE_ENTITY).await;
    assert_eq!(unoffered["detail"], "tier: \"jail+net\" is not offered here");
    let settled = story.act("post", "/api/sandbox", "", json!({"tier": "jail"}), StatusCode::OK).await;
    assert_eq!(settled, json!({"tier": "jail"}));
    assert_eq!(story.get("/api/server", "").await["sandbox"], settled);
    let again = story.act("post", "/api/sandbox", "", json!({"tier": "none"}), StatusCode::UNPROCESSABLE_ENTITY).await;
    assert_eq!(again["detail"], "tier: the sandbox of agents is settled");
    let access = json!({"kind": "write", "target": "~/.bashrc"});
    let allowed = story.act("post", "/api/projects/{id}/access", "PROJ-001", access.clone(), StatusCode::OK).await;
    assert_eq!(allowed["allowed_access"], json!([access]));
}
