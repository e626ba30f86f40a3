//! Monitoring sees the state of the server, and nobody without a token does.

use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use domain::runs::parking::ParkReason;
use serde_json::{Value, json};

use super::support::{HOST, TestServer};

#[tokio::test]
async fn health_shows_the_runner_to_a_persons_token_only() {
    let server = TestServer::with(|_| {}).await;
    server.state.db.park_after_check(ParkReason::DiskFull, "No space".to_owned(), db::now()).await.unwrap();
    let seen: Value = serde_json::from_str(&server.call("get", "/api/health", "").await.text).unwrap();
    assert_eq!(seen["runner"]["parked"][0]["reason"], "disk_full");
    assert_eq!(seen["runner"]["live_runs"], json!([]));
    assert!(seen["runner"]["ticking_since"].is_string() && seen["runner"]["last_tick_at"].is_null());
    for authorization in [None, Some("Bearer guessed"), Some("Basic x")] {
        let mut request = Request::builder().uri("/api/health").header(header::HOST, HOST);
        if let Some(authorization) = authorization {
            request = request.header(header::AUTHORIZATION, authorization);
        }
        let answer = server.send(request.body(Body::empty()).unwrap()).await;
        let expected = json!({"status": "ok", "version": env!("CARGO_PKG_VERSION")});
        assert_eq!((answer.status, serde_json::from_str::<Value>(&answer.text).unwrap()), (StatusCode::OK, expected), "{authorization:?}");
    }
}

#[tokio::test]
async fn metrics_need_a_token() {
    let server = TestServer::with(|_| {}).await;
    let answer = server.call("get", "/metrics", "").await;
    assert_eq!(answer.status, StatusCode::OK);
    assert!(answer.headers[header::CONTENT_TYPE].to_str().unwrap().starts_with("text/plain; version=0.0.4"));
    assert!(answer.text.contains("\nvibe_relay_parked{reason=\"disk_full\"} 0\n"), "{}", answer.text);
    let request = Request::builder().uri("/metrics").header(header::HOST, HOST).body(Body::empty()).unwrap();
    assert_eq!(server.send(request).await.status, StatusCode::UNAUTHORIZED);
}
