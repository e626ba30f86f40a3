//! A new version is installed while agents work, and a copy of the board is taken and put back.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use tests::server::TestServer;

use crate::support::{self, FILES, PROGRAM, complete, nothing_left};

const SCENARIO: &str = include_str!("../../scenarios/recovery.json");

/// Starts a server from a copy of the program, which the test can replace.
async fn installed() -> TestServer {
    let start = TestServer::start(Path::new(PROGRAM), FILES, |options, root| {
        let (file, program) = (root.join("scenario.json"), root.join("bin/vibe-relay"));
        std::fs::write(&file, SCENARIO).unwrap();
        std::fs::create_dir(root.join("bin")).unwrap();
        copy(Path::new(PROGRAM), &program);
        options.config.agent_command = vec![PROGRAM.to_owned(), "scripted-agent".to_owned(), "--scenario".to_owned(), file.display().to_string()];
        options.program = program;
    });
    start.await.unwrap()
}

/// Copies a program by another process: a file that is open for writing cannot be started, and processes that other tests start meanwhile
/// would inherit it from this one.
#[expect(clippy::disallowed_methods, reason = "a test installs a program")]
fn copy(from: &Path, to: &Path) {
    assert!(std::process::Command::new("cp").arg(from).arg(to).status().unwrap().success());
}

/// Replaces a file as a package manager does.
fn replace(file: &Path, script: &str) {
    let new = file.with_extension("new");
    std::fs::write(&new, script).unwrap();
    std::fs::set_permissions(&new, std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::rename(new, file).unwrap();
}

/// The kernel's names of the processes that supervise agents.
fn names_of_shims(server: &TestServer) -> Vec<String> {
    let runs = server.root().join("data/runs").display().to_string();
    let process = |folder: &Path| {
        let command = std::fs::read(folder.join("cmdline")).ok()?;
        let is_shim = String::from_utf8_lossy(&command).starts_with(&format!("vibe-relay\0shim\0{runs}"));
        is_shim.then(|| std::fs::read_to_string(folder.join("comm")).ok().map(|name| name.trim().to_owned())).flatten()
    };
    std::fs::read_dir("/proc").unwrap().filter_map(|entry| process(&entry.unwrap().path())).collect()
}

#[tokio::test]
async fn upgrade_while_agents_work_starts_no_foreign_shim() {
    let server = installed().await;
    let project = server.project("Letters", Some("Write alpha and beta.")).await.unwrap().id;
    for task in ["TASK-002", "TASK-003"] {
        support::reached(&server, task).await;
    }
    assert_eq!(names_of_shims(&server), ["vibe-relay", "vibe-relay"], "people find them by this name");
    let calls = server.root().join("calls");
    let script = format!("#!/bin/sh\necho \"$1\" >> {}\nexec {PROGRAM} \"$@\"\n", calls.display());
    replace(&server.root().join("bin/vibe-relay"), &script);
    for task in ["TASK-002", "TASK-003"] {
        support::open(&server, task);
    }
    // Reviews and a check of the result start after the upgrade.
    let board = server.until(&project, "the project is complete", complete).await;
    for card in &board.cards {
        let failed = server.runs(&card.id).await.unwrap().into_iter().find(|run| run.failure.is_some());
        assert_eq!(failed, None, "{}", card.title);
    }
    let calls = std::fs::read_to_string(calls).unwrap();
    assert!(calls.lines().filter(|command| *command == "mcp").count() >= 3, "later agents start the installed bridge: {calls}");
    assert!(!calls.contains("shim"), "the shim is of the version that runs: {calls}");
    server.until(&project, "nothing is left", |_| nothing_left(&server)).await;
}

#[tokio::test]
async fn board_is_copied_while_it_runs_and_restored_when_it_is_stopped() {
    let mut server = support::scripted(SCENARIO).await;
    let project = server.project("Before", None).await.unwrap().id;
    let file = server.root().join("copy.db").display().to_string();
    let run = async |server: &TestServer, arguments: &[&str]| {
        let output = server.command(arguments).output().await.unwrap();
        (output.status.success(), String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
    };
    let (copied, text) = run(&server, &["backup", &file]).await;
    assert!(copied && text.contains("is a checked copy of"), "{text}");
    let (again, text) = run(&server, &["backup", &file]).await;
    assert!(!again && text.contains("copy.db already exists; name another file"), "a copy is never overwritten: {text}");
    let later = server.project("After", None).await.unwrap().id;
    let (restored, text) = run(&server, &["restore", &file]).await;
    assert!(!restored && text.contains("is in use by another vibe-relay"), "{text}");

    assert!(server.stop().await.unwrap().success());
    let (restored, text) = run(&server, &["restore", &file]).await;
    assert!(restored && text.contains("The old database is kept as"), "{text}");
    server.serve().await.unwrap();
    server.board(&project).await.unwrap();
    assert!(server.board(&later).await.is_err(), "it was created after the copy");
}
