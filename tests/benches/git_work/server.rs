//! Measures the server itself during this work: its memory, and the time until it listens. It must reach the server only as a person does.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use domain::board::card::Card;
use domain::board::reducer::Board;
use domain::board::status::Status;
use domain::wire::{LandingResult, TaskView};
use reqwest::Method;
use serde_json::json;
use tests::server::TestServer;

use super::{Bench, Outcome, git, path_of, verdict};

const PROGRAM: &str = env!("CARGO_BIN_EXE_vibe_relay");
/// The goal for the memory of the server in MB.
const MEMORY_GOAL: u64 = 120;
const STARTS: usize = 5;
/// How long one step may take.
const TIMEOUT: Duration = Duration::from_secs(900);

/// Runs one task from its start to its landing.
pub(super) async fn measure(bench: &Bench) -> Outcome {
    git(&bench.top, &["reset", "-q", "--hard", "main"])?;
    let mut written = Ok(());
    let server = TestServer::start(Path::new(PROGRAM), &[("README.md", "Not used.\n")], |options, root| {
        written = fs::write(root.join("scenario.json"), scenario().to_string());
        let scenario = root.join("scenario.json").display().to_string();
        options.config.agent_command = vec![PROGRAM.to_owned(), "scripted-agent".to_owned(), "--scenario".to_owned(), scenario];
        options.config.repo_path = Some(bench.top.clone());
    });
    let mut server = server.await?;
    written?;
    let idle = peak(&server)?;
    let project = server.project("Large", None).await?;
    println!("\n{:<44} {:>10}", "the server itself", "memory");
    println!("{:<44} {idle:>7} MB", "before it has a project");
    memory("the project is made", &server)?;

    let view: TaskView = server.post(&format!("/api/projects/{}/tasks", project.id), &json!({"title": "Work", "start": true})).await?;
    let task = view.task.card.id;
    let (reached, opened) = (server.root().join("reached"), server.root().join("open"));
    server.until_within(TIMEOUT, &project.id, "the agent works", |_| reached.exists()).await;
    memory("a worktree is ready and its agent works", &server)?;
    let begun = Instant::now();
    fs::write(opened, "")?;
    let done = |card: &Card| card.status == Status::Done && card.run.is_none();
    server.until_within(TIMEOUT, &project.id, "the task is done", |board: &Board| board.card(&task).is_some_and(done)).await;
    memory("evidence is taken, reviewed and merged", &server)?;
    let done_after = begun.elapsed();

    let land = format!("/api/projects/{}/land", project.id);
    let changed = bench.top.join(path_of(0));
    fs::write(&changed, "mine\n")?;
    let begun = Instant::now();
    let refused = server.refusal(server.request(Method::POST, &land).json(&json!({}))).await?;
    let refused_after = begun.elapsed();
    if refused.code != "checkout-dirty" {
        return Err(format!("not refused as it should: {refused:?}").into());
    }
    memory("landing into a dirty checkout is refused", &server)?;
    git(&bench.top, &["checkout", "-q", &path_of(0)])?;
    let begun = Instant::now();
    let _landed: LandingResult = server.post(&land, &json!({})).await?;
    let landed_after = begun.elapsed();
    memory("landed", &server)?;

    let mut starts = Vec::new();
    for _ in 0..STARTS {
        server.stop().await?;
        let begun = Instant::now();
        server.serve().await?;
        starts.push(begun.elapsed());
    }
    println!("\n{:<44} {:>10}", "over HTTP, by processes", "time");
    for (name, took) in [
        ("commit, evidence, review and merge", done_after),
        ("the refusal of a dirty checkout", refused_after),
        ("landed", landed_after),
        ("`serve` listens, shortest of its starts", starts.into_iter().min().unwrap_or_default()),
    ] {
        println!("{name:<44} {:>7.0} ms", took.as_secs_f64() * 1_000.0);
    }
    Ok(())
}

/// A coder that waits before it changes a file, and a reviewer that approves.
fn scenario() -> serde_json::Value {
    let moved =
        |status: &str| json!({"calls": [{"tool": "mcp__vibe-relay__update_task_status", "input": {"task_id": "{{task_id}}", "status": status}}]});
    let work = format!(
        "touch ../../../reached; until [ -e ../../../open ]; do sleep 0.01; done; echo changed >> {} && git commit -qam 'Change a file'",
        path_of(0)
    );
    let bash = json!({"calls": [{"tool": "Bash", "input": {"command": work}}]});
    json!({"parts": [
        {"phase": "coder", "turns": [bash, moved("in_review"), {"text": "Done."}]},
        {"phase": "reviewer", "turns": [moved("done"), {"text": "Approved."}]},
    ]})
}

/// Prints the largest memory since the last look, and begins the next one.
fn memory(name: &str, server: &TestServer) -> Outcome {
    let peak = peak(server)?;
    println!("{name:<44} {peak:>7} MB {:>10}", format!("{MEMORY_GOAL} {}", verdict(peak <= MEMORY_GOAL)));
    Ok(())
}

fn peak(server: &TestServer) -> Outcome<u64> {
    let id = server.server_id().ok_or("the server is not running")?;
    let peak = tests::peak_memory(id)?;
    fs::write(format!("/proc/{id}/clear_refs"), "5")?;
    Ok(peak)
}
