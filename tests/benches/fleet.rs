//! Twenty agents that exchange messages concurrently, over HTTP and through bridges, compared with the commit rate of the store alone:
//! `cargo bench -p tests --bench fleet`. It must reach the board only as agents do.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a command that prints its result and fails on any error")]

use std::path::Path;
use std::time::Instant;

use db::{Caller, Db};
use domain::board::task::NewTask;
use domain::config::Config;
use domain::runs::evidence::RepositoryInfo;
use domain::wire::NewProject;
use tests::agent_fleet::{AgentFleet, Tally, Transport};
use tests::server::TestServer;
use tokio::task::JoinSet;

const PROGRAM: &str = env!("CARGO_BIN_EXE_vibe_relay");
const AGENTS: usize = 20;
const SENDS: usize = 50;
const READS: usize = 10;

#[tokio::main]
async fn main() {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let build = if cfg!(debug_assertions) { "debug" } else { "release" };
    // Other load on the machine lowers all rates.
    let load = std::fs::read_to_string("/proc/loadavg").unwrap();
    let load = load.split_whitespace().next().unwrap_or_default();
    println!("{cores} cores, load {load}; {build}; durability full; {AGENTS} agents x {SENDS} sends + {READS} reads at once");
    let server = TestServer::start(Path::new(PROGRAM), &[("README.md", "A test.\n")], |_, _| {}).await.unwrap();
    let store = store(&server).await;
    println!("{:<30} {store:>8.0} a second", "the store alone: add_comment");
    for transport in [Transport::Http, Transport::Bridges] {
        measure(&server, transport, store).await;
    }
}

async fn measure(server: &TestServer, transport: Transport, store: f64) {
    let project = server.project(&format!("{transport:?}"), None).await.unwrap().id;
    let fleet = AgentFleet::start(server, &project, AGENTS, transport).await.unwrap();
    // The client and the bridges share the processors with the server that is measured.
    let processes = [vec![server.server_id().unwrap()], fleet.bridges(), vec![std::process::id()]];
    let (began, before) = (Instant::now(), processes.each_ref().map(|processes| tests::processor_time(processes).unwrap()));
    let (fleet, tally) = fleet.exchange_messages(SENDS, READS).await.unwrap();
    let (took, after) = (began.elapsed(), processes.each_ref().map(|processes| tests::processor_time(processes).unwrap()));
    let Tally { calls, blocked, sent, received, errors } = tally;
    let received: usize = received.values().map(Vec::len).sum();
    let calls = f64::from(u32::try_from(calls).unwrap());
    let rate = calls / took.as_secs_f64();
    println!("{:<30} {rate:>8.0} calls a second, {:.2} x the store alone (goal: 2,500 or 0.5 x)", format!("{transport:?}"), rate / store);
    println!("  {calls} calls in {took:.2?}: {} sent, {received} received, {blocked} told to read first, {} errors", sent.len(), errors.len());
    let [server, bridges, client] = [0, 1, 2].map(|who| (after[who] - before[who]).as_secs_f64() * 1000.0 / calls);
    println!("  ms of processor time a call: server {server:.3} (goal: 0.3), bridges {bridges:.3}, this client {client:.3}");
    let memory: Vec<[f64; 3]> = fleet.bridges().into_iter().map(|id| tests::memory(id).unwrap()).collect();
    if !memory.is_empty() {
        let [resident, share, own] = tests::largest(&memory);
        println!("  bridge, largest: {resident:.1} MB resident, {share:.1} MB with shared pages divided, {own:.1} MB its own (goal: 8)");
    }
}

/// Comments per second of the same number of writers in a separate store on the same disk.
async fn store(server: &TestServer) -> f64 {
    let db = Db::open(&Config { db_path: server.root().join("data/alone/board.db"), ..Config::default() }).await.unwrap();
    let probe = RepositoryInfo {
        repo_path: String::new(),
        git_dir: String::new(),
        base_branch: "main".to_owned(),
        base_sha: String::new(),
        branches: Vec::new(),
        identity: None,
        ..RepositoryInfo::default()
    };
    let project = db.create_project(&Caller::owner(), NewProject { title: "Alone".to_owned(), ..NewProject::default() }, probe).await.unwrap();
    let new: NewTask = serde_json::from_str(r#"{"title": "Alone"}"#).unwrap();
    let mut tasks = Vec::new();
    for _ in 0..AGENTS {
        tasks.push(db.create_task(&Caller::owner(), &project.id, new.clone()).await.unwrap().card.id);
    }
    let began = Instant::now();
    let mut writers = JoinSet::new();
    for task in tasks {
        let db = db.clone();
        writers.spawn(async move {
            for _ in 0..SENDS + READS {
                db.add_comment(&Caller::owner(), &task, "A comment of ordinary length.", None).await.unwrap();
            }
        });
    }
    while let Some(writer) = writers.join_next().await {
        writer.unwrap();
    }
    f64::from(u32::try_from(AGENTS * (SENDS + READS)).unwrap()) / began.elapsed().as_secs_f64()
}
