//! Twenty agents that write to each other at once, over HTTP and through bridges, beside the rate at which the store alone commits:
//! `cargo bench -p tests --bench crowd`. It must reach the board only as agents do.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a command for people, which ends where something unexpected happens")]

use std::path::Path;
use std::time::{Duration, Instant};

use db::{Caller, Db};
use domain::board::task::NewTask;
use domain::config::Config;
use domain::runs::evidence::RepositoryInfo;
use domain::wire::NewProject;
use tests::crowd::{Crowd, Door, Tally};
use tests::relay::Relay;
use tokio::task::JoinSet;

const PROGRAM: &str = env!("CARGO_BIN_EXE_vibe_relay");
const AGENTS: usize = 20;
const SENDS: usize = 50;
const READS: usize = 10;
/// What the kernel counts processor time in, a second: `USER_HZ`, which is 100 on every Linux that this runs on.
const TICKS: f64 = 100.0;

#[tokio::main]
async fn main() {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let build = if cfg!(debug_assertions) { "debug" } else { "release" };
    // What else the machine does takes from all rates.
    let load = std::fs::read_to_string("/proc/loadavg").unwrap();
    let load = load.split_whitespace().next().unwrap_or_default();
    println!("{cores} cores, load {load}; {build}; durability full; {AGENTS} agents x {SENDS} sends + {READS} reads at once");
    let relay = Relay::start(Path::new(PROGRAM), &[("README.md", "A test.\n")], |_, _| {}).await.unwrap();
    let store = store(&relay).await;
    println!("{:<30} {store:>8.0} a second", "the store alone: add_comment");
    for door in [Door::Http, Door::Bridges] {
        through(&relay, door, store).await;
    }
}

async fn through(relay: &Relay, door: Door, store: f64) {
    let project = relay.project(&format!("{door:?}"), None).await.unwrap().id;
    let crowd = Crowd::gather(relay, &project, AGENTS, door).await.unwrap();
    // The client and the bridges share the processors with the server that is measured.
    let everybody = [vec![relay.server_id().unwrap()], crowd.bridges(), vec![std::process::id()]];
    let (began, before) = (Instant::now(), everybody.each_ref().map(|processes| processor_time(processes)));
    let (crowd, tally) = crowd.talk(SENDS, READS).await.unwrap();
    let (took, after) = (began.elapsed(), everybody.each_ref().map(|processes| processor_time(processes)));
    let Tally { calls, blocked, sent, received, errors } = tally;
    let received: usize = received.values().map(Vec::len).sum();
    let calls = f64::from(u32::try_from(calls).unwrap());
    let rate = calls / took.as_secs_f64();
    println!("{:<30} {rate:>8.0} calls a second, {:.2} x the store alone (goal: 2,500 or 0.5 x)", format!("{door:?}"), rate / store);
    println!("  {calls} calls in {took:.2?}: {} sent, {received} received, {blocked} told to read first, {} errors", sent.len(), errors.len());
    let [server, bridges, client] = [0, 1, 2].map(|who| (after[who] - before[who]).as_secs_f64() * 1000.0 / calls);
    println!("  ms of processor time a call: server {server:.3} (goal: 0.3), bridges {bridges:.3}, this client {client:.3}");
    let memory: Vec<[f64; 3]> = crowd.bridges().into_iter().map(|id| tests::memory(id).unwrap()).collect();
    if !memory.is_empty() {
        let [resident, share, own] = tests::largest(&memory);
        println!("  bridge, largest: {resident:.1} MB resident, {share:.1} MB with shared pages divided, {own:.1} MB its own (goal: 8)");
    }
}

/// Comments a second of as many writers in a store of their own, in the same folder.
async fn store(relay: &Relay) -> f64 {
    let db = Db::open(&Config { db_path: relay.place().join("data/alone/board.db"), ..Config::default() }).await.unwrap();
    let probe = RepositoryInfo {
        repo_path: String::new(),
        git_dir: String::new(),
        base_branch: "main".to_owned(),
        base_sha: String::new(),
        branches: Vec::new(),
        uncommitted: 0,
        identity: None,
    };
    let project = db.create_project(&Caller::Human, NewProject { title: "Alone".to_owned(), ..NewProject::default() }, probe).await.unwrap();
    let new: NewTask = serde_json::from_str(r#"{"title": "Alone"}"#).unwrap();
    let mut tasks = Vec::new();
    for _ in 0..AGENTS {
        tasks.push(db.create_task(&Caller::Human, &project.id, new.clone()).await.unwrap().card.id);
    }
    let began = Instant::now();
    let mut writers = JoinSet::new();
    for task in tasks {
        let db = db.clone();
        writers.spawn(async move {
            for _ in 0..SENDS + READS {
                db.add_comment(&Caller::Human, &task, "A comment of ordinary length.", None).await.unwrap();
            }
        });
    }
    while let Some(writer) = writers.join_next().await {
        writer.unwrap();
    }
    f64::from(u32::try_from(AGENTS * (SENDS + READS)).unwrap()) / began.elapsed().as_secs_f64()
}

/// What processes and their threads have used of the processors so far.
fn processor_time(processes: &[u32]) -> Duration {
    let used = processes.iter().map(|id| {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap();
        // The name in brackets may hold anything; utime and stime are the 12th and 13th fields behind it.
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
        fields[11..13].iter().map(|ticks| ticks.parse::<f64>().unwrap()).sum::<f64>() / TICKS
    });
    Duration::from_secs_f64(used.sum())
}
