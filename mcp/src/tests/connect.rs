//! How clients find the server, and that no other program receives their token.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::middleware::map_request;
use domain::config::live::LiveConfig;
use http::HeaderValue;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_util::either::Either;
use tokio_util::sync::CancellationToken;

use super::fixture::{Board, PERSON, SECRET, Server};
use crate::server_file::{self, ServerFile};
use crate::{ConnectError, Proof, call_tool, connect};

const WAIT: Duration = Duration::from_millis(400);

/// Writes the address of a server without a socket.
fn write_address(db_path: &Path, port: u16, secret: &str) {
    let file = ServerFile { url: format!("http://127.0.0.1:{port}"), epoch: "e".to_owned(), pid: 1, secret: secret.to_owned() };
    server_file::write(db_path, &file).unwrap();
}

async fn listen() -> (TcpListener, u16) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    (listener, port)
}

#[tokio::test]
async fn server_without_a_socket_is_reached_over_tcp() {
    let board = Board::new().await;
    let (listener, port) = listen().await;
    let router =
        crate::router(board.db.clone(), watch::channel(LiveConfig::default()).1, Proof::new(SECRET.to_owned(), port), CancellationToken::new());
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    write_address(board.db.path(), port, SECRET);
    let connection = connect(board.db.path()).await.unwrap();
    assert!(matches!(connection.stream, Either::Right(_)));
    assert_eq!(connection.host, format!("127.0.0.1:{port}"));
    call_tool(board.db.path(), PERSON, "get_board", json!({}), "call", WAIT).await.unwrap();
    // The socket is preferred.
    board.announce(&board.serve().await);
    let connection = connect(board.db.path()).await.unwrap();
    assert!(matches!(connection.stream, Either::Left(_)));
    assert_eq!(connection.host, "localhost");
}

/// A program that took the port of a server that was killed. It answers everything, with the answer of another server if there is one.
async fn thief(answer: &'static str) -> (u16, Arc<Mutex<Vec<u8>>>) {
    let (listener, port) = listen().await;
    let received = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&received);
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let log = Arc::clone(&log);
            tokio::spawn(async move {
                let mut bytes = [0; 4096];
                while let Ok(count @ 1..) = stream.read(&mut bytes).await {
                    log.lock().unwrap().extend_from_slice(&bytes[..count]);
                    let response = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{answer}", answer.len());
                    let _gone = stream.write_all(response.as_bytes()).await;
                }
            });
        }
    });
    (port, received)
}

#[tokio::test]
async fn thief_of_the_port_receives_no_token() {
    for answer in ["", "a", "0000000000000000000000000000000000000000000000000000000000000000"] {
        let board = Board::new().await;
        let (port, received) = thief(answer).await;
        write_address(board.db.path(), port, SECRET);
        let error = connect(board.db.path()).await.unwrap_err();
        assert!(matches!(error, ConnectError::NotTheBoard { .. }), "{error}");
        let error = call_tool(board.db.path(), "a-secret-token", "get_board", json!({}), "call", WAIT).await.unwrap_err().to_string();
        assert!(error.starts_with("the board is not running: "), "{error}");
        let received = String::from_utf8_lossy(&received.lock().unwrap()).into_owned();
        assert!(received.starts_with("GET /mcp/proof/") && !received.contains("a-secret-token") && !received.contains("authorization"), "{received}");
    }
}

/// A program on another port passes the challenge on to the real server.
#[tokio::test]
async fn proof_of_another_port_is_refused() {
    let board = Board::new().await;
    let (listener, port) = listen().await;
    // The router of a server that listens elsewhere, with the same secret.
    let router =
        crate::router(board.db.clone(), watch::channel(LiveConfig::default()).1, Proof::new(SECRET.to_owned(), port + 1), CancellationToken::new());
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    write_address(board.db.path(), port, SECRET);
    let error = connect(board.db.path()).await.unwrap_err();
    assert!(matches!(error, ConnectError::NotTheBoard { .. }), "{error}");
}

#[tokio::test]
async fn challenge_must_be_a_nonce() {
    let board = Board::new().await;
    let server = board.serve().await;
    for nonce in ["x", &"g".repeat(64), &"0".repeat(65)] {
        let answer = reqwest::get(format!("{}/mcp/proof/{nonce}", server.url)).await.unwrap();
        assert_eq!(answer.status(), http::StatusCode::BAD_REQUEST, "{nonce}");
    }
}

/// The bridge of another version, which an upgrade left running.
#[tokio::test]
async fn bridge_of_another_format_is_told_the_remedy() {
    let board = Board::new().await;
    // Changes the format on the way, because this version has no other bridge.
    let server = Server::start(board.router(CancellationToken::new()).layer(map_request(async |mut request: axum::extract::Request| {
        request.headers_mut().insert("vibe-relay-bridge", HeaderValue::from_static("2"));
        request
    })));
    board.announce(&server.await);
    let error = call_tool(board.db.path(), PERSON, "get_board", json!({}), "call", WAIT).await.unwrap_err().to_string();
    assert!(error.starts_with("the bridge speaks format 2 and the board speaks format 1"), "{error}");
    assert!(error.contains("restarts `vibe-relay serve` after an upgrade"), "{error}");
}
