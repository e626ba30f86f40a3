//! Reports on repositories that do not respond.

use std::fs;
use std::time::Duration;

use repo::testing::TestRepository;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::support::TestServer;

/// Shorter than the deadline of work on a repository, and far longer than a report may take.
const DEADLINE: Duration = Duration::from_secs(20);

/// The sizes of the changes that are ready to land, by project.
async fn sizes(server: &TestServer) -> Vec<Value> {
    let report = timeout(DEADLINE, server.call("get", "/api/report", "")).await.expect("a repository does not delay the report").json();
    report["projects"].as_array().unwrap().iter().map(|project| project["ready_to_land"]["diff"].clone()).collect()
}

/// The pipe blocks everyone who reads the branch, as a network drive that is gone would.
#[tokio::test]
async fn report_does_not_wait_for_a_repository_that_hangs() {
    let mut server = TestServer::new().await;
    server.merged(&server.project().await, "a.md", "a\n").await;
    let hung = std::mem::replace(&mut server.sample, TestRepository::new());
    server.merged(&server.project().await, "b.md", "b\nb\n").await;
    let branch = hung.git_dir().join("refs/heads/main");
    let (kept, pipe) = (hung.beside("main"), hung.beside("pipe"));
    fs::rename(&branch, &kept).unwrap();
    nix::unistd::mkfifo(&branch, nix::sys::stat::Mode::S_IRWXU).unwrap();

    let (one, two) = (json!({"files": 1, "added": 1, "removed": 0}), json!({"files": 1, "added": 2, "removed": 0}));
    assert_eq!(sizes(&server).await, [Value::Null, two.clone()]);

    fs::rename(&branch, &pipe).unwrap();
    fs::rename(&kept, &branch).unwrap();
    // Ends the read that is blocked.
    drop(fs::OpenOptions::new().read(true).write(true).open(&pipe).unwrap());
    assert_eq!(sizes(&server).await, [one, two]);
}
