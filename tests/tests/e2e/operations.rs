//! The server on a machine that people use: terminals close, ports are taken, connections pile up, and the work continues.

use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use domain::wire::HealthResponse;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;
use tests::server::TestServer;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

use crate::support::{self, complete, nothing_left};

const SCENARIO: &str = include_str!("../../scenarios/recovery.json");

async fn health(server: &TestServer) {
    let health: HealthResponse = server.get("/api/health").await.unwrap();
    assert_eq!(health.status, "ok");
}

fn server_pid(server: &TestServer) -> Pid {
    Pid::from_raw(i32::try_from(server.server_id().unwrap()).unwrap())
}

/// The terminal closes: the server gets SIGHUP, and nobody reads its output.
#[tokio::test]
async fn server_survives_its_terminal() {
    let server = support::scripted(SCENARIO).await;
    let mut command = server.command(&["serve", "--no-open", "--port", "0"]);
    let other = server.root().join("other.json");
    let config = json!({"db_path": server.root().join("other/board.db"), "agent_command": ["/bin/false"], "repo_path": server.repository()});
    std::fs::write(&other, config.to_string()).unwrap();
    command.arg("--config").arg(&other).env("RUST_LOG", "debug").stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = command.spawn().unwrap();
    let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
    let url = lines.next_line().await.unwrap().unwrap().replace("listening on ", "");
    drop((lines, process.stderr.take()));
    kill(Pid::from_raw(i32::try_from(process.id().unwrap()).unwrap()), Signal::SIGHUP).unwrap();

    let token = std::fs::read_to_string(server.root().join("other/token")).unwrap();
    let client = tests::client::Client::new(&url, &token);
    // An agent that fails is logged.
    let project = client.project("Letters", Some("Write alpha and beta.")).await.unwrap().id;
    client.until(&project, "the board says why it waits", |board| board.cards.iter().any(|card| card.wait_reason.is_some())).await;
    tests::terminate(process.id().unwrap()).unwrap();
    assert!(process.wait().await.unwrap().success());
}

/// People and programs keep the address of the board.
#[tokio::test]
async fn port_of_the_board_survives_a_collision() {
    let mut server = support::scripted(r#"{"parts": []}"#).await;
    let port = server.port();
    assert!(server.stop().await.unwrap().success());
    let _other = TcpListener::bind(("127.0.0.1", port)).await.unwrap();
    let mut process = server.command(&["serve", "--no-open"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
    let mut said = String::new();
    while !said.contains("open http") {
        said += &lines.next_line().await.unwrap().unwrap();
    }
    assert!(said.contains(&format!("another program has port {port}, which the board had before")), "{said}");
    assert_eq!(std::fs::read_to_string(server.root().join("data/port")).unwrap().trim(), port.to_string());
    tests::terminate(process.id().unwrap()).unwrap();
    assert!(process.wait().await.unwrap().success());
}

/// A program that listens on the port of a killed server and records what it receives.
struct Thief {
    received: Arc<Mutex<Vec<u8>>>,
    listening: tokio::task::JoinHandle<()>,
}

impl Thief {
    async fn on(port: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", port)).await.unwrap();
        let received = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&received);
        let listening = tokio::spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                let log = Arc::clone(&log);
                tokio::spawn(async move {
                    let mut bytes = [0; 4096];
                    while let Ok(count @ 1..) = stream.read(&mut bytes).await {
                        log.lock().unwrap().extend_from_slice(&bytes[..count]);
                        let _gone = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}").await;
                    }
                });
            }
        });
        Self { received, listening }
    }

    fn received(&self) -> String {
        String::from_utf8_lossy(&self.received.lock().unwrap()).into_owned()
    }
}

#[tokio::test]
async fn thief_of_the_port_sees_no_token() {
    let mut server = support::scripted(SCENARIO).await;
    let project = server.project("Letters", Some("Write alpha and beta.")).await.unwrap().id;
    for task in ["TASK-002", "TASK-003"] {
        support::reached(&server, task).await;
    }
    server.kill().await.unwrap();
    let thief = Thief::on(server.port()).await;
    // Both agents now submit their work.
    for task in ["TASK-002", "TASK-003"] {
        support::open(&server, task);
    }
    tests::wait_for("the bridges meet the thief", || thief.received().matches("GET /mcp/proof/").count() >= 4).await;
    for command in [&["task", "show", "TASK-002"][..], &["tail"], &["doctor"]] {
        let output = server.command(command).output().await.unwrap();
        let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(!output.status.success() && text.contains("another program may have taken the port"), "{command:?}: {text}");
    }
    let received = thief.received().to_lowercase();
    assert!(!received.contains("authorization") && !received.contains("bearer") && !received.contains(&server.token), "{received}");
    thief.listening.abort();

    server.serve_on(0).await.unwrap();
    server.until(&project, "the project is complete", complete).await;
    server.until(&project, "nothing is left", |_| nothing_left(&server)).await;
}

/// Sets the soft limit of open files of a running server.
async fn limit_files(server: &TestServer, limit: &str) {
    #[expect(clippy::disallowed_methods, reason = "the test changes the machine around the server")]
    let mut command = tokio::process::Command::new("prlimit");
    let pid = server.server_id().unwrap().to_string();
    assert!(command.args(["--pid", &pid, &format!("--nofile={limit}")]).status().await.unwrap().success());
}

#[tokio::test]
async fn idle_connections_and_a_lack_of_descriptors_are_survived() {
    let server = support::scripted(SCENARIO).await;
    let mut idle = Vec::new();
    for _ in 0..2_000 {
        idle.push(TcpStream::connect(("127.0.0.1", server.port())).await.unwrap());
    }
    health(&server).await;
    drop(idle);

    // No descriptor is left, so the server can accept nothing.
    limit_files(&server, "4:").await;
    let mut waiting = TcpStream::connect(("127.0.0.1", server.port())).await.unwrap();
    waiting.write_all(format!("GET /api/health HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n", server.port()).as_bytes()).await.unwrap();
    let mut answer = [0; 64];
    let unanswered = tokio::time::timeout(Duration::from_millis(1_500), waiting.read(&mut answer)).await;
    assert!(unanswered.is_err(), "nothing could be accepted: {unanswered:?}");
    limit_files(&server, "1024:").await;
    let count = tokio::time::timeout(Duration::from_secs(60), waiting.read(&mut answer)).await.unwrap().unwrap();
    assert!(answer[..count].starts_with(b"HTTP/1.1 200 OK"));
    health(&server).await;
    kill(server_pid(&server), Signal::SIGHUP).unwrap();
    health(&server).await;
}
