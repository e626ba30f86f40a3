//! `vibe-relay tail` in another terminal: it prints events while they happen, across a restart of the board, until it is told to end.

use std::process::Stdio;
use std::time::Duration;

use domain::board::task::event::TaskEvent;
use domain::event::Event;
use domain::id::ProjectId;
use domain::wire::Frame;
use serde_json::json;
use tests::server::TestServer;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout};

use crate::support;

const DEADLINE: Duration = Duration::from_secs(60);

struct Tail {
    process: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Tail {
    fn start(server: &TestServer, arguments: &[&str]) -> Self {
        let mut process = server.command(&[&["tail"], arguments].concat()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        Self { process, lines }
    }

    /// The next line that contains `text`.
    async fn line(&mut self, text: &str) -> String {
        let next = async {
            loop {
                let line = self.lines.next_line().await.unwrap().expect("tail ended");
                if line.contains(text) {
                    return line;
                }
            }
        };
        tokio::time::timeout(DEADLINE, next).await.unwrap_or_else(|_| panic!("no line contains {text}"))
    }
}

/// Adds a task that no agent starts.
async fn add(server: &TestServer, project: &ProjectId, title: &str) {
    let _task: domain::wire::TaskView = server.post(&format!("/api/projects/{project}/tasks"), &json!({"title": title})).await.unwrap();
}

#[tokio::test]
async fn tail_prints_events_across_a_restart_and_ends_on_sigterm() {
    let mut server = support::scripted(include_str!("../../scenarios/board.json")).await;
    let project = server.project("One", None).await.unwrap().id;
    let other = server.project("Two", None).await.unwrap().id;
    let mut json = Tail::start(&server, &["--json"]);
    assert!(matches!(serde_json::from_str(&json.line("hello").await).unwrap(), Frame::Hello { .. }));
    let mut tail = Tail::start(&server, &[project.as_str()]);
    // Nothing tells when `tail` is connected, so the first task may come too early.
    let mut first = 0;
    loop {
        first += 1;
        add(&server, &project, &format!("Early {first}")).await;
        // The first line may belong to a task before it, such as its changed reason to wait.
        if tokio::time::timeout(Duration::from_secs(1), tail.lines.next_line()).await.is_ok() {
            break;
        }
    }
    add(&server, &project, "Connected").await;
    let line = tail.line("\"Connected\"").await;
    assert!(line.contains("  human  task_created  TASK-"), "{line}");

    server.kill().await.unwrap();
    server.serve().await.unwrap();
    add(&server, &other, "Elsewhere").await;
    add(&server, &project, "After the restart").await;
    let line = tail.line("task_created").await;
    assert!(line.contains("\"After the restart\""), "the events before it came once, and none of another project: {line}");
    let frame = serde_json::from_str(&json.line("Elsewhere").await).unwrap();
    assert!(matches!(frame, Frame::Event { event } if matches!(event.event, Event::Task(TaskEvent::Created {}))));

    tests::terminate(tail.process.id().unwrap()).unwrap();
    assert!(tail.process.wait().await.unwrap().success());
    // The other one ends when it has nobody to write to, without an event.
    drop(json.lines);
    assert!(tokio::time::timeout(DEADLINE, json.process.wait()).await.unwrap().unwrap().success());

    let refused = server.command(&["tail", "PROJ-009"]).output().await.unwrap();
    assert!(!refused.status.success() && String::from_utf8_lossy(&refused.stderr).contains("PROJ-009 does not exist"), "{refused:?}");
}
