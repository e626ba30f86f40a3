//! The audit log over HTTP.

use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use serde_json::json;

use super::support::{PORT, TestServer};

#[tokio::test]
async fn writes_refusals_and_failed_authentications_are_listed() {
    let server = TestServer::new().await;
    server.call("post", "/api/persons", &json!({"name": "ann"}).to_string()).await;
    for _ in 0..2 {
        assert_eq!(server.call("get", "/api/tasks/TASK-404", "").await.status, StatusCode::NOT_FOUND);
    }
    let host = format!("127.0.0.1:{PORT}");
    for token in ["one", "two"] {
        let request = Request::get("/api/projects").header(header::HOST, &host).header(header::AUTHORIZATION, format!("Bearer {token}"));
        assert_eq!(server.send(request.body(Body::empty()).unwrap()).await.status, StatusCode::UNAUTHORIZED);
    }
    let listed = server.call("get", "/api/audit", "").await.json();
    let told = |row: &serde_json::Value| {
        let text = |field: &str| row[field].as_str().unwrap_or("-").to_owned();
        format!("{} {} {} {} {}", text("actor"), text("action"), text("subject"), text("result"), row["count"])
    };
    let mut rows: Vec<String> = listed["items"].as_array().unwrap().iter().map(told).collect();
    rows.truncate(3);
    rows.sort();
    assert_eq!(
        rows,
        ["- GET /api/projects - unauthorized 2", "human GET /api/tasks/{id} /api/tasks/TASK-404 not-found 2", "human POST /api/persons - ok 1",]
    );
    let page = server.call("get", "/api/audit?limit=1", "").await.json();
    let rest = server.call("get", &format!("/api/audit?before={}&kind=write", page["next"]), "").await.json();
    assert!(rest["items"].as_array().unwrap().iter().all(|row| row["kind"] == "write"), "{rest}");
    let check = server.call("get", "/api/audit/check", "").await.json();
    assert_eq!((&check["broken"], check["head_hash"].as_str().unwrap().len()), (&json!(null), 64));
}

#[tokio::test]
async fn wrong_filters_and_cursors_are_refused() {
    let server = TestServer::new().await;
    for (query, status) in [
        ("before=0", StatusCode::UNPROCESSABLE_ENTITY),
        ("before=-3", StatusCode::UNPROCESSABLE_ENTITY),
        ("before=x", StatusCode::UNPROCESSABLE_ENTITY),
        ("before=99999999999999999999", StatusCode::UNPROCESSABLE_ENTITY),
        ("kind=nonsense", StatusCode::UNPROCESSABLE_ENTITY),
        ("project=nonsense", StatusCode::UNPROCESSABLE_ENTITY),
        ("limit=-1", StatusCode::UNPROCESSABLE_ENTITY),
        ("other=1", StatusCode::UNPROCESSABLE_ENTITY),
        ("actor=%00", StatusCode::BAD_REQUEST),
        ("limit=0", StatusCode::OK),
        ("limit=4000000000", StatusCode::OK),
        ("project=PROJ-404", StatusCode::OK),
    ] {
        let answer = server.call("get", &format!("/api/audit?{query}"), "").await;
        assert_eq!(answer.status, status, "{query}: {}", answer.text);
    }
}
