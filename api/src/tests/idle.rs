//! Connections without a request in progress: they are closed in time, and do not keep others out.

use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use futures_util::future::join_all;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio::time::timeout;

use super::support::TestServer;
use crate::connection::Timeouts;
use crate::serve::{Limits, raise_file_limit, serve_with};

const DEADLINE: Duration = Duration::from_secs(60);
const NEVER: Duration = Duration::from_secs(600);

/// Serves on a port of its own, with a route whose response takes a second.
async fn start(timeouts: Timeouts) -> (TestServer, u16) {
    start_with(Limits { timeouts, connections: 10_000 }).await
}

async fn start_with(limits: Limits) -> (TestServer, u16) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = TestServer::with(|state| state.port = port).await;
    let slow = axum::routing::get(async || {
        let chunks = futures_util::stream::unfold(0, async |sent| {
            tokio::time::sleep(Duration::from_millis(100)).await;
            (sent < 10).then(|| (Ok::<_, std::io::Error>("x"), sent + 1))
        });
        Body::from_stream(chunks)
    });
    let router = crate::router(server.state.clone(), Router::new().route("/slow", slow));
    tokio::spawn(serve_with(listener, None, router, server.state.shutdown.clone(), limits));
    (server, port)
}

async fn connect(port: u16) -> TcpStream {
    TcpStream::connect(("127.0.0.1", port)).await.unwrap()
}

async fn send(stream: &mut TcpStream, port: u16, path: &str) {
    stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n").as_bytes()).await.unwrap();
}

/// Reads until `end` was received.
async fn read_until(stream: &mut TcpStream, end: &str) {
    let mut received = String::new();
    while !received.contains(end) {
        let mut bytes = [0; 1024];
        let count = timeout(DEADLINE, stream.read(&mut bytes)).await.unwrap().unwrap();
        assert!(count > 0, "closed after {received:?}");
        received.push_str(&String::from_utf8_lossy(&bytes[..count]));
    }
}

/// Waits until the server has closed the connection, without having sent anything.
async fn closed(stream: &mut TcpStream) {
    let read = timeout(DEADLINE, stream.read(&mut [0; 16])).await.expect("closed in time");
    assert!(matches!(read, Ok(0) | Err(_)), "{read:?}");
}

#[tokio::test]
async fn slow_header_closes_the_connection() {
    let (_server, port) = start(Timeouts { header: Duration::from_millis(300), idle: NEVER }).await;
    let mut silent = connect(port).await;
    closed(&mut silent).await;
    let mut partial = connect(port).await;
    partial.write_all(b"GET /api/health HTTP/1.1\r\nHost: ").await.unwrap();
    closed(&mut partial).await;

    let mut second = connect(port).await;
    send(&mut second, port, "/api/health").await;
    read_until(&mut second, "\"ok\"").await;
    second.write_all(b"GET /api/health HTTP/1.1\r\n").await.unwrap();
    closed(&mut second).await;
}

#[tokio::test]
async fn idle_connection_is_closed_and_a_busy_one_is_not() {
    let (_server, port) = start(Timeouts { header: NEVER, idle: Duration::from_millis(300) }).await;
    let mut stream = connect(port).await;
    for _ in 0..2 {
        send(&mut stream, port, "/api/health").await;
        read_until(&mut stream, "\"ok\"").await;
    }
    // Takes a second, which is longer than the timeout.
    send(&mut stream, port, "/slow").await;
    read_until(&mut stream, "\r\n0\r\n\r\n").await;
    closed(&mut stream).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn idle_connections_do_not_keep_others_out() {
    const IDLE: usize = 2_000;
    raise_file_limit();
    let (_server, port) = start(Timeouts { header: Duration::from_secs(20), idle: NEVER }).await;
    // One after another, because the listener's queue holds fewer.
    let mut idle = Vec::new();
    for _ in 0..IDLE {
        idle.push(connect(port).await);
    }
    let begun = Instant::now();
    let mut stream = connect(port).await;
    send(&mut stream, port, "/api/health").await;
    read_until(&mut stream, "\"ok\"").await;
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    join_all(idle.iter_mut().map(closed)).await;
    send(&mut stream, port, "/api/health").await;
    read_until(&mut stream, "\"ok\"").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_above_the_cap_wait_for_a_place() {
    let timeouts = Timeouts { header: Duration::from_millis(500), idle: NEVER };
    let (_server, port) = start_with(Limits { timeouts, connections: 3 }).await;
    let mut silent = Vec::new();
    for _ in 0..30 {
        silent.push(connect(port).await);
    }
    let mut stream = connect(port).await;
    send(&mut stream, port, "/api/health").await;
    // Each silent connection holds its place until its timeout.
    read_until(&mut stream, "\"ok\"").await;
    join_all(silent.iter_mut().map(closed)).await;
}

/// Requests over the socket name the board without a port.
#[tokio::test]
async fn socket_is_served_like_the_port() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let socket = UnixListener::bind(&path).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = TestServer::with(|state| state.port = port).await;
    let router = crate::router(server.state.clone(), Router::new());
    let serving = tokio::spawn(crate::serve(listener, Some(socket), router, server.state.shutdown.clone()));
    let status = async |host: &str, origin: &str| {
        let mut stream = UnixStream::connect(&path).await.unwrap();
        stream.write_all(format!("GET /api/health HTTP/1.1\r\nHost: {host}\r\n{origin}Connection: close\r\n\r\n").as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer.split(' ').nth(1).unwrap().to_owned()
    };
    assert_eq!(status("localhost", "").await, "200");
    for (host, origin) in [("evil.example", ""), ("localhost:9400", ""), ("localhost", "Origin: http://evil.example\r\n")] {
        assert_eq!(status(host, origin).await, "403", "{host} {origin}");
    }
    // The port keeps its own rule.
    let mut stream = connect(port).await;
    stream.write_all(b"GET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    read_until(&mut stream, "403").await;
    server.state.shutdown.cancel();
    timeout(DEADLINE, serving).await.unwrap().unwrap();
}
