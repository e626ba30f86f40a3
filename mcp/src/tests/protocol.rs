//! The protocol over HTTP as foreign clients use it: malformed messages, batches, limits, origins, streams and sessions.

use axum::body::{Body, Bytes};
use http::StatusCode;
use http_body_util::Limited;
use reqwest::Response;
use serde_json::{Value, json};
use std::time::Duration;

use super::fixture::{Board, PERSON, Server};
use crate::PATH;
use crate::session::MAX_SESSIONS;

/// Reads the events of a stream.
struct Events {
    response: Response,
    buffer: String,
}

impl Events {
    fn new(response: Response) -> Self {
        assert_eq!(response.status(), StatusCode::OK);
        Self { response, buffer: String::new() }
    }

    /// The id and the message of the next event that has one.
    async fn next(&mut self) -> (Option<String>, Value) {
        loop {
            if let Some((event, rest)) = self.buffer.split_once("\n\n") {
                let field = |name: &str| event.lines().find_map(|line| line.strip_prefix(name)).map(|value| value.trim().to_owned());
                let (id, data) = (field("id:"), field("data:").unwrap_or_default());
                self.buffer = rest.to_owned();
                if data.is_empty() {
                    continue;
                }
                return (id, serde_json::from_str(&data).unwrap());
            }
            let chunk = tokio::time::timeout(Duration::from_secs(20), self.response.chunk()).await.expect("the stream is silent");
            self.buffer += std::str::from_utf8(&chunk.unwrap().expect("the stream ended")).unwrap();
        }
    }
}

impl Events {
    /// Reads until the list of tools changed, and returns the ids of all events. A log message of an earlier change may come first.
    async fn until_list_changed(&mut self) -> Vec<String> {
        let mut ids = Vec::new();
        loop {
            let (id, event) = self.next().await;
            ids.push(id.expect("an event has an id"));
            if event["method"] == "notifications/tools/list_changed" {
                return ids;
            }
        }
    }
}

impl Server {
    /// Opens a session of a revision.
    async fn session_of(&self, token: &str, revision: &str) -> Response {
        let parameters = json!({"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        self.raw(token, None, json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": parameters}).to_string()).await
    }

    async fn raw(&self, token: &str, session: Option<&str>, body: impl Into<reqwest::Body>) -> Response {
        let mut request = reqwest::Client::new()
            .post(format!("{}{PATH}", self.url))
            .bearer_auth(token)
            .header("accept", "application/json, text/event-stream")
            .header("content-type", "application/json")
            .body(body);
        if let Some(session) = session {
            request = request.header("mcp-session-id", session);
        }
        request.send().await.unwrap()
    }

    async fn delete(&self, token: &str, session: Option<&str>) -> StatusCode {
        let mut request = reqwest::Client::new().delete(format!("{}{PATH}", self.url)).bearer_auth(token);
        if let Some(session) = session {
            request = request.header("mcp-session-id", session);
        }
        request.send().await.unwrap().status()
    }
}

fn id_of(opened: &Response) -> String {
    assert_eq!(opened.status(), StatusCode::OK);
    opened.headers()["mcp-session-id"].to_str().unwrap().to_owned()
}

fn ping(id: u64) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "ping"})
}

#[tokio::test]
async fn malformed_message_gets_a_json_rpc_error() {
    let board = Board::new().await;
    let server = board.serve().await;
    let session = server.session(PERSON).await;
    for within in [None, Some(session.as_str())] {
        for (body, status, code) in [
            ("{\"jsonrpc\": \"2.0\",", StatusCode::BAD_REQUEST, -32700),
            ("", StatusCode::BAD_REQUEST, -32700),
            ("7", StatusCode::BAD_REQUEST, -32600),
            ("{\"id\": 1, \"method\": \"ping\"}", StatusCode::BAD_REQUEST, -32600),
            ("[]", StatusCode::BAD_REQUEST, -32600),
            ("{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"tools/call\", \"params\": {}}", StatusCode::OK, -32602),
            ("{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"initialize\", \"params\": {}}", StatusCode::OK, -32602),
        ] {
            let response = server.raw(PERSON, within, body).await;
            assert_eq!(response.status(), status, "{body}");
            assert_eq!(response.headers()["content-type"], "application/json", "{body}");
            let answer: Value = response.json().await.unwrap();
            assert_eq!((&answer["error"]["code"], &answer["jsonrpc"]), (&json!(code), &json!("2.0")), "{body}");
        }
    }
}

#[tokio::test]
async fn batch_is_accepted_in_its_revision_only() {
    let board = Board::new().await;
    let server = board.serve().await;
    let list = json!({"jsonrpc": "2.0", "id": "two", "method": "tools/list"});
    let batch = json!([ping(1), {"jsonrpc": "2.0", "method": "notifications/initialized"}, list, {"jsonrpc": "2.0", "id": 3}]).to_string();
    let with_batches = id_of(&server.session_of(PERSON, "2025-03-26").await);
    let response = server.raw(PERSON, Some(&with_batches), batch.clone()).await;
    assert_eq!(response.status(), StatusCode::OK);
    let answers: Vec<Value> = response.json().await.unwrap();
    assert_eq!(answers.iter().map(|answer| &answer["id"]).collect::<Vec<_>>(), [&json!(1), &json!("two"), &json!(3)]);
    assert!(answers[1]["result"]["tools"].as_array().unwrap().len() > 20, "{}", answers[1]);
    assert_eq!(answers[2]["error"]["code"], -32600);
    let silent = json!([{"jsonrpc": "2.0", "method": "notifications/initialized"}]).to_string();
    assert_eq!(server.raw(PERSON, Some(&with_batches), silent).await.status(), StatusCode::ACCEPTED);

    let without = id_of(&server.session_of(PERSON, "2025-06-18").await);
    for session in [Some(without.as_str()), None] {
        let response = server.raw(PERSON, session, batch.clone()).await;
        assert_eq!(response.status(), StatusCode::BAD_REQUEST);
        assert_eq!(response.json::<Value>().await.unwrap()["error"]["code"], -32600);
    }
}

#[tokio::test]
async fn chunked_body_over_the_limit_is_413() {
    let board = Board::new().await;
    let body = || {
        let chunks = (0..80).map(|_| Ok::<_, std::io::Error>(Bytes::from(vec![b' '; 64 * 1024])));
        reqwest::Body::wrap_stream(futures_util::stream::iter(chunks))
    };
    // The program's own router has a limit outside of this one.
    let limited =
        board.router(tokio_util::sync::CancellationToken::new()).layer(axum::middleware::map_request(|request: axum::extract::Request| async {
            request.map(|body| Body::new(Limited::new(body, 1024 * 1024)))
        }));
    for server in [board.serve().await, Server::start(limited).await] {
        let response = server.raw(PERSON, None, body()).await;
        assert_eq!(response.status(), StatusCode::PAYLOAD_TOO_LARGE);
        assert_eq!(response.headers()["content-type"], "application/problem+json");
        assert_eq!(response.json::<Value>().await.unwrap()["code"], "too-large");
    }
}

#[tokio::test]
async fn own_origin_is_accepted() {
    let board = Board::new().await;
    let server = board.serve().await;
    let port = server.url.rsplit_once(':').unwrap().1.to_owned();
    for (origin, status) in [
        (server.url.clone(), StatusCode::OK),
        (format!("http://localhost:{port}"), StatusCode::OK),
        ("http://127.0.0.1:1".to_owned(), StatusCode::FORBIDDEN),
        ("https://evil.example".to_owned(), StatusCode::FORBIDDEN),
    ] {
        let parameters = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        let response = reqwest::Client::new()
            .post(format!("{}{PATH}", server.url))
            .bearer_auth(PERSON)
            .header("origin", &origin)
            .header("accept", "application/json, text/event-stream")
            .header("content-type", "application/json")
            .body(json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": parameters}).to_string())
            .send()
            .await
            .unwrap();
        assert_eq!(response.status(), status, "{origin}");
    }
}

#[tokio::test]
async fn second_stream_gets_changes_after_the_first_closes() {
    let board = Board::new().await;
    let token = board.agent("mara", &[]).await;
    board.agent("otto", &[]).await;
    let server = board.serve().await;
    let session = server.session(&token).await;
    let first = Events::new(server.stream(&token, &session).await);
    let mut second = Events::new(server.stream(&token, &session).await);
    board.until_connected("mara", true).await;
    drop(first);
    board.send_message(&board.caller("otto"), "mara", "One").await;
    second.until_list_changed().await;
    // A stream that is opened after all others closed gets them, too.
    drop(second);
    board.until_connected("mara", false).await;
    let mut third = Events::new(server.stream(&token, &session).await);
    board.until_connected("mara", true).await;
    board.send_message(&board.caller("otto"), "mara", "Two").await;
    third.until_list_changed().await;
}

#[tokio::test]
async fn event_ids_are_unique_in_a_session() {
    let board = Board::new().await;
    let token = board.agent("mara", &[]).await;
    board.agent("otto", &[]).await;
    let server = board.serve().await;
    let opened = server.session_of(&token, "2025-06-18").await;
    let session = id_of(&opened);
    let mut bodies = vec![opened.text().await.unwrap()];
    for id in 1..4 {
        bodies.push(
            server.raw(&token, Some(&session), json!({"jsonrpc": "2.0", "id": id, "method": "tools/list"}).to_string()).await.text().await.unwrap(),
        );
    }
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string();
    assert_eq!(server.raw(&token, Some(&session), ready).await.status(), StatusCode::ACCEPTED);
    let mut ids: Vec<String> =
        bodies.iter().flat_map(|body| body.lines()).filter_map(|line| line.strip_prefix("id:")).map(|id| id.trim().to_owned()).collect();
    let mut seen = 0;
    for message in ["One", "Two", "Three"] {
        let mut stream = Events::new(server.stream(&token, &session).await);
        board.until_connected("mara", true).await;
        board.send_message(&board.caller("otto"), "mara", message).await;
        ids.extend(stream.until_list_changed().await);
        seen += 1;
        drop(stream);
        board.until_connected("mara", false).await;
    }
    assert!(seen == 3 && ids.len() >= 6, "{ids:?}");
    let mut distinct = ids.clone();
    distinct.sort();
    distinct.dedup();
    assert_eq!(distinct.len(), ids.len(), "{ids:?}");
}

#[tokio::test]
async fn delete_answers_as_the_sdks_expect() {
    let board = Board::new().await;
    let server = board.serve().await;
    let session = server.session(PERSON).await;
    assert_eq!(server.delete(PERSON, Some(&session)).await, StatusCode::OK);
    assert_eq!(server.delete(PERSON, Some(&session)).await, StatusCode::NOT_FOUND);
    assert_eq!(server.delete(PERSON, Some("no-such-session")).await, StatusCode::NOT_FOUND);
    assert_eq!(server.delete(PERSON, None).await, StatusCode::BAD_REQUEST);
    assert_eq!(server.raw(PERSON, Some(&session), ping(1).to_string()).await.status(), StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn session_in_use_is_not_evicted() {
    let board = Board::new().await;
    let (mara, otto) = (board.agent("mara", &[]).await, board.agent("otto", &[]).await);
    let server = board.serve().await;
    let mut sessions = Vec::new();
    for _ in 0..MAX_SESSIONS {
        sessions.push(server.session(&mara).await);
    }
    let refused = server.session_of(&mara, "2025-06-18").await;
    assert_eq!((refused.status(), refused.headers()["retry-after"].to_str().unwrap()), (StatusCode::TOO_MANY_REQUESTS, "60"));
    let problem: Value = refused.json().await.unwrap();
    assert_eq!((&problem["code"], &problem["detail"]), (&json!("too-many-sessions"), &json!("this token already has 64 MCP sessions in use")));
    for session in &sessions {
        assert_eq!(server.raw(&mara, Some(session), ping(1).to_string()).await.status(), StatusCode::OK);
    }
    server.session(&otto).await;
    assert_eq!(server.delete(&mara, Some(&sessions[0])).await, StatusCode::OK);
    server.session(&mara).await;
}

#[tokio::test]
async fn undeclared_methods_are_not_answered() {
    let board = Board::new().await;
    let server = board.serve().await;
    let session = server.session(PERSON).await;
    for (method, parameters) in
        [("completion/complete", json!({"ref": {"type": "ref/prompt", "name": "x"}, "argument": {"name": "x", "value": "x"}}))]
    {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}).to_string();
        let mut events = Events::new(server.raw(PERSON, Some(&session), body).await);
        assert_eq!(events.next().await.1["error"]["code"], -32601, "{method}");
    }
}
