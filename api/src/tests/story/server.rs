//! The server itself: its state, its pages for monitoring, and the routes of the demonstration.

use axum::http::StatusCode;
use domain::id::ProjectId;
use serde_json::Value;

use super::Story;
use crate::DemoHooks;
use crate::tests::support::{TestServer, document};

pub(super) async fn inspect(story: &mut Story, demo: &DemoHooks) {
    let server = story.get("/api/server", "").await;
    assert_eq!(server["demo"]["page_url"], "/demo/site/");
    assert_eq!(server["epoch"], story.server.state.db.epoch());
    let page = story.call("get", "/api/events", "", "?limit=2&project=PROJ-001", Value::Null).await.json();
    assert_eq!((page["items"][0]["seq"].as_i64(), page["next"].as_i64()), (Some(1), Some(2)));
    let last = story.call("get", "/api/events", "", &format!("?after={}", story.server.state.db.latest() - 1), Value::Null).await.json();
    assert_eq!((last["items"].as_array().unwrap().len(), &last["next"]), (1, &Value::Null));
    let plain = story.call("get", "/api/ws", "", "", Value::Null).await;
    assert_eq!((plain.status, plain.header("upgrade")), (StatusCode::UPGRADE_REQUIRED, "websocket"));
    assert_eq!(story.get("/api/openapi.json", "").await, document());
    let metrics = story.call("get", "/metrics", "", "", Value::Null).await;
    assert!(metrics.text.contains("\nvibe_relay_tasks{status=\"done\"} "), "{}", metrics.text);

    assert_eq!(story.call("get", "/demo/site/", "", "", Value::Null).await.status, StatusCode::NOT_FOUND, "no project yet");
    demo.project.set(ProjectId::new(1)).unwrap();
    assert_eq!(story.call("get", "/demo/site/", "", "", Value::Null).await.status, StatusCode::NOT_FOUND, "no index.html");
    let file = story.call("get", "/demo/site/{path}", "footer.html", "", Value::Null).await;
    assert_eq!((file.status, file.text.as_str(), file.header("content-type")), (StatusCode::OK, "<footer>", "text/html; charset=utf-8"));
    assert_eq!(file.header("content-security-policy"), "sandbox allow-scripts; default-src 'self' 'unsafe-inline'");
    assert_eq!(file.header("cache-control"), "no-store");
    for outside in ["..%2f..%2fetc%2fpasswd", "/etc/passwd", "footer.html/x", "a//b"] {
        assert_eq!(story.call("get", "/demo/site/{path}", outside, "", Value::Null).await.status, StatusCode::NOT_FOUND, "{outside}");
    }
    story.act("post", "/api/demo/pull-the-plug", "", Value::Null, StatusCode::ACCEPTED).await;
}

#[tokio::test]
async fn demonstration_routes_need_the_demonstration() {
    let server = TestServer::new().await;
    for (method, path) in [("get", "/demo/site/"), ("get", "/demo/site/index.html"), ("post", "/api/demo/pull-the-plug")] {
        assert_eq!(server.call(method, path, "").await.status, StatusCode::NOT_FOUND, "{path}");
    }
}
