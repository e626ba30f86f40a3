//! Shared context in one run, beside the disk and a plain full-text query: `cargo bench -p tests --bench context`. Each line states what was
//! measured, and its goal. Searches and reads are measured in this process, which owns the database then; the rest as agents reach the board.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a command that prints its result and fails on any error")]

mod text;

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use db::{Caller, Db, SearchQuery, SessionMessageQuery, SessionSearchQuery};
use domain::config::Config;
use domain::context::session::{ContextSessionId, NewSessionMessage};
use domain::id::ProjectId;
use domain::rate_limit::RateLimits;
use domain::runs::evidence::RepositoryInfo;
use domain::wire::NewProject;
use nix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};
use sqlx::ConnectOptions;
use sqlx::sqlite::SqliteConnectOptions;
use tests::mcp::{ChangeListener, call_with};
use tests::server::TestServer;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::task::JoinSet;

use crate::text::{PLANTED, PROSE, planted, query_for, text_from, text_of};

const PROGRAM: &str = env!("CARGO_BIN_EXE_vibe_relay");
const AGENTS: usize = 20;
const ADDS: usize = 50;
const SEARCHES: usize = 10;
const ROUNDS: usize = 500;
const SMALL: usize = 1_000;
const LARGE: usize = 100_000;
const QUERIES: usize = 200;
#[tokio::main]
async fn main() {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    // Other load on the machine raises all times.
    let load = std::fs::read_to_string("/proc/loadavg").unwrap();
    println!("{cores} cores, load {}; {}; durability full", &load[..4], if cfg!(debug_assertions) { "debug" } else { "release" });
    small().await;
    large().await;
}

/// Sorted measurements.
struct Series(Vec<f64>);

impl Series {
    fn new(times: Vec<Duration>) -> Self {
        let mut times: Vec<f64> = times.iter().map(|time| time.as_secs_f64() * 1_000.0).collect();
        times.sort_by(f64::total_cmp);
        Self(times)
    }

    fn percentile(&self, percent: usize) -> f64 {
        self.0[(self.0.len() * percent / 100).min(self.0.len() - 1)]
    }

    fn print(&self, what: &str, goal: &str) {
        let [half, most, all] = [50, 99, 100].map(|percent| self.percentile(percent));
        println!("{what:<62} p50 {half:>7.3}  p99 {most:>7.3}  max {all:>7.3} ms  (n = {}) {goal}", self.0.len());
    }
}

/// The processor time of this process and all its threads.
fn processor_time() -> Duration {
    Duration::from(clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).unwrap())
}

fn fdatasync(folder: &Path) -> Series {
    let mut file = File::create(folder.join("append")).unwrap();
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        let began = Instant::now();
        file.write_all(&[7; 4096]).unwrap();
        file.sync_data().unwrap();
        times.push(began.elapsed());
    }
    Series::new(times)
}

fn message(number: usize) -> NewSessionMessage {
    serde_json::from_value(json!({"content": text_of(number)})).unwrap()
}

/// One writer, and a search over a thousand messages.
async fn small() {
    let folder = tempfile::tempdir().unwrap();
    let disk = fdatasync(folder.path());
    disk.print("fdatasync of 4 KiB in the same folder", "");
    let db = Db::open(&Config { db_path: folder.path().join("board.db"), ..Config::default() }).await.unwrap();
    let probe = RepositoryInfo {
        repo_path: String::new(),
        git_dir: String::new(),
        base_branch: "main".to_owned(),
        base_sha: String::new(),
        branches: Vec::new(),
        identity: None,
        ..RepositoryInfo::default()
    };
    let project = db.create_project(&Caller::owner(), NewProject { title: "Small".to_owned(), ..NewProject::default() }, probe).await.unwrap().id;
    let session = db.own_context_session(&Caller::owner(), &project).await.unwrap().id;
    let messages: Vec<NewSessionMessage> = (0..SMALL).map(message).collect();
    let mut times = Vec::new();
    let before = processor_time();
    for new in messages {
        let began = Instant::now();
        db.add_session_message(&Caller::owner(), &session, new).await.unwrap();
        times.push(began.elapsed());
    }
    let used = (processor_time() - before).as_secs_f64() * 1_000.0 / times.len() as f64;
    let adds = Series::new(times);
    adds.print("add_message in the store, one writer", "");
    println!(
        "  p50: fdatasync {:+.3} ms (goal: at most +1 ms); {used:.3} ms of processor time each (goal: 0.3)",
        adds.percentile(50) - disk.percentile(50)
    );
    searches(&db, &session, SMALL, 3.0).await;
    reads(&db, &session).await;
}

/// Searches for planted words with one typing error in each.
async fn searches(db: &Db, session: &ContextSessionId, size: usize, goal: f64) {
    let query = |text: String| SessionSearchQuery { text, threshold: None, limit: None, metadata: true, visibility: None };
    // The first one reads the vocabulary.
    let began = Instant::now();
    db.search_session(&Caller::owner(), session, &query("vocabulary".to_owned())).await.unwrap();
    println!("  first search over {size} messages, which reads the vocabulary: {:.1?}", began.elapsed());
    let (mut wall, mut processor, mut board, mut found, mut on_board) = (Vec::new(), Vec::new(), Vec::new(), 0, 0);
    for number in (0..QUERIES).map(|number| number * (size / PLANTED) / QUERIES * PLANTED) {
        let (given, wanted) = (query(query_for(number)), planted(number));
        let (began, before) = (Instant::now(), processor_time());
        let hits = db.search_session(&Caller::owner(), session, &given).await.unwrap();
        processor.push(processor_time() - before);
        wall.push(began.elapsed());
        found += usize::from(hits.iter().any(|hit| hit.message.content.contains(&wanted)));
        let (before, everywhere) = (processor_time(), SearchQuery { text: given.text, project: None, limit: 20 });
        let hits = db.search(&Caller::owner(), &everywhere).await.unwrap();
        board.push(processor_time() - before);
        on_board += usize::from(hits.iter().any(|hit| hit.excerpt.contains(&wanted)));
    }
    Series::new(processor).print(&format!("search over {size} messages, one typo each, processor time"), &format!("(goal: p99 {goal} ms)"));
    Series::new(wall).print(&format!("search over {size} messages, wall"), "");
    let recall = [found, on_board].map(|found| found as f64 / QUERIES as f64);
    println!("  recall of planted words: {:.3} (goal: 0.95); on the board, in excerpts: {:.3}", recall[0], recall[1]);
    Series::new(board).print(&format!("search of the board over {size} findings, processor time"), &format!("(goal: p99 {goal} ms)"));
}

async fn reads(db: &Db, session: &ContextSessionId) {
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        let began = Instant::now();
        let found = db.session_messages(&Caller::owner(), session, &SessionMessageQuery::default()).await.unwrap();
        times.push(began.elapsed());
        assert_eq!(found.messages.len(), 50);
    }
    Series::new(times).print("read 50 messages", "(goal: 1 ms)");
}

/// Twenty agents at once, a subscriber, and a hundred thousand messages in one session.
async fn large() {
    let mut server = TestServer::start(Path::new(PROGRAM), &[("README.md", "A test.\n")], |options, _| options.config.rate_limits = RateLimits::NONE)
        .await
        .unwrap();
    let project = server.project("Large", None).await.unwrap().id;
    let mut tokens = Vec::new();
    for number in 0..AGENTS {
        tokens.push(token(&server, &project, &format!("agent-{number:02}")).await);
    }
    let made = call(&server, &tokens[0], "get_session", json!({})).await;
    let session: ContextSessionId = made["session"]["id"].as_str().unwrap().parse().unwrap();

    let (id, began) = (server.server_id().unwrap(), Instant::now());
    let before = tests::processor_time(&[id]).unwrap();
    at_once(&server, &tokens, AGENTS * ADDS, SEARCHES, 0).await;
    let took = began.elapsed().as_secs_f64();
    let operations = (AGENTS * (ADDS + SEARCHES)) as f64;
    let used = (tests::processor_time(&[id]).unwrap() - before).as_secs_f64() * 1_000.0 / operations;
    let total = total(&server, &tokens[0], &session).await;
    println!(
        "{AGENTS} agents x ({ADDS} adds + {SEARCHES} searches) over HTTP: {:.0} operations a second (goal: 2,500), {used:.3} ms of the server's processor time each; {} lost (goal: 0)",
        operations / took,
        (AGENTS * ADDS).saturating_sub(total)
    );
    subscriber(&server, &tokens, &session).await;
    hook(&server, &tokens[3]).await;

    let mut written = AGENTS * ADDS;
    println!("  memory of the server after {written} messages: {:.1} MB resident, {:.1} MB its own", memory(id)[0], memory(id)[1]);
    for goal in [10_000, 25_000, 50_000, 75_000, LARGE] {
        at_once(&server, &tokens, goal - written, 0, written).await;
        written = goal;
        println!("  memory of the server after {written} messages: {:.1} MB resident, {:.1} MB its own (goal: flat)", memory(id)[0], memory(id)[1]);
    }
    server.stop().await.unwrap();
    let db = Db::open(&Config { db_path: server.root().join("data/vibe-relay.db"), ..Config::default() }).await.unwrap();
    searches(&db, &session, LARGE, 25.0).await;
    reads(&db, &session).await;
    plain_search().await;
}

/// An ordinary query of SQLite's own full-text search over the same texts, without forgiveness for typing errors.
async fn plain_search() {
    let folder = tempfile::tempdir().unwrap();
    let options = SqliteConnectOptions::new().filename(folder.path().join("plain.db")).create_if_missing(true);
    let mut connection = options.connect().await.unwrap();
    sqlx::query("CREATE VIRTUAL TABLE plain USING fts5(text)").execute(&mut connection).await.unwrap();
    sqlx::query("BEGIN").execute(&mut connection).await.unwrap();
    let words: Vec<&str> = PROSE.split_whitespace().collect();
    for number in 0..LARGE {
        sqlx::query("INSERT INTO plain (rowid, text) VALUES ($1, $2)")
            .bind(i64::try_from(number).unwrap())
            .bind(text_from(&words, number))
            .execute(&mut connection)
            .await
            .unwrap();
    }
    sqlx::query("COMMIT").execute(&mut connection).await.unwrap();
    let (mut wall, mut processor) = (Vec::new(), Vec::new());
    for number in (0..QUERIES).map(|number| number * LARGE / QUERIES) {
        let wanted: Vec<String> = text_of(number).split_whitespace().take(3).map(|word| format!("\"{}\"", word.replace('"', ""))).collect();
        let (began, before) = (Instant::now(), processor_time());
        let found: Vec<(i64, String)> = sqlx::query_as("SELECT rowid, text FROM plain WHERE plain MATCH $1 ORDER BY rank LIMIT 10")
            .bind(wanted.join(" "))
            .fetch_all(&mut connection)
            .await
            .unwrap();
        processor.push(processor_time() - before);
        wall.push(began.elapsed());
        assert!(found.len() <= 10);
    }
    Series::new(processor).print(&format!("plain FTS5 query over {LARGE} texts, no typo, processor time"), "");
    Series::new(wall).print(&format!("plain FTS5 query over {LARGE} texts, wall"), "");
}

async fn token(server: &TestServer, project: &ProjectId, name: &str) -> String {
    let made: Value = server.post(&format!("/api/projects/{project}/tokens"), &json!({"agent": name, "roles": ["builder"]})).await.unwrap();
    made["token"].as_str().unwrap().to_owned()
}

async fn call(server: &TestServer, token: &str, tool: &str, arguments: Value) -> Value {
    let answer = call_with(&reqwest::Client::new(), &server.url, token, tool, arguments).await.unwrap();
    assert!(!answer.is_error, "{}", answer.text);
    serde_json::from_str(answer.text.split("\nnotices:\n").next().unwrap_or_default()).unwrap()
}

/// The number of messages in the session.
async fn total(server: &TestServer, token: &str, session: &ContextSessionId) -> usize {
    let found = call(server, token, "get_messages", json!({"session_id": session, "limit": 1})).await;
    usize::try_from(found["total_count"].as_u64().unwrap()).unwrap()
}

/// Resident megabytes, and those that no other process shares.
fn memory(id: u32) -> [f64; 2] {
    let [resident, _, own] = tests::memory(id).unwrap();
    [resident, own]
}

/// All agents add `adds` messages together, from number `first` on, and each searches `searches` times between them.
async fn at_once(server: &TestServer, tokens: &[String], adds: usize, searches: usize, first: usize) {
    let mut running = JoinSet::new();
    for (index, token) in tokens.iter().enumerate() {
        let (url, token) = (server.url.clone(), token.clone());
        let own: Vec<usize> = (first..first + adds).filter(|number| number % AGENTS == index).collect();
        running.spawn(async move {
            let client = reqwest::Client::new();
            let words: Vec<&str> = PROSE.split_whitespace().collect();
            let every = own.len().checked_div(searches).unwrap_or(usize::MAX);
            for (place, number) in own.into_iter().enumerate() {
                let added = call_with(&client, &url, &token, "add_message", json!({"content": text_from(&words, number)})).await.unwrap();
                assert!(!added.is_error, "{}", added.text);
                if place % every == every - 1 {
                    let query = query_for(number / PLANTED * PLANTED);
                    let found = call_with(&client, &url, &token, "search_context", json!({"query": query})).await.unwrap();
                    assert!(!found.is_error, "{}", found.text);
                }
            }
        });
    }
    while let Some(agent) = running.join_next().await {
        agent.unwrap();
    }
}

/// A hook of Claude Code that finds no message, as a process.
async fn hook(server: &TestServer, token: &str) {
    let mut times = Vec::new();
    for _ in 0..50 {
        let mut command = server.command(&["inbox", "--hook"]);
        command.env("VIBE_RELAY_DB", server.root().join("data/vibe-relay.db")).env("VIBE_RELAY_TOKEN", token);
        let began = Instant::now();
        let output = command.stdin(std::process::Stdio::null()).output().await.unwrap();
        times.push(began.elapsed());
        assert!(output.status.success() && output.stdout.is_empty(), "{output:?}");
    }
    Series::new(times).print("vibe-relay inbox --hook without messages", "(goal: 30 ms)");
}

/// The time from the answer to an added message, and from its start, to the notice of a subscriber: on its own stream, and through a bridge.
async fn subscriber(server: &TestServer, tokens: &[String], session: &ContextSessionId) {
    let uri = format!("session://{session}");
    let mut direct = ChangeListener::open_for(&server.url, &tokens[1], &[&uri]).await.unwrap();
    let mut command = server.command(&["mcp"]);
    command.env("VIBE_RELAY_DB", server.root().join("data/vibe-relay.db")).env("VIBE_RELAY_TOKEN", &tokens[2]);
    let mut bridge = command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped()).spawn().unwrap();
    let (mut input, output) = (bridge.stdin.take().unwrap(), bridge.stdout.take().unwrap());
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}});
    let parameters = json!({"notifications": {"resourceSubscriptions": [uri]}, "_meta": meta});
    let line = json!({"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": parameters});
    input.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    let mut lines = BufReader::new(output).lines();
    // It announces the resource when it listens.
    while !lines.next_line().await.unwrap().unwrap().contains("notifications/resources/updated") {}

    let client = reqwest::Client::new();
    let [mut begun, mut answered, mut bridged] = [const { Vec::new() }; 3];
    for number in 0..ROUNDS / 5 {
        let began = Instant::now();
        let add = async {
            let added =
                call_with(&client, &server.url, &tokens[0], "add_message", json!({"content": format!("For subscribers {number}")})).await.unwrap();
            assert!(!added.is_error, "{}", added.text);
            began.elapsed()
        };
        let told = async {
            direct.resource_changed().await.unwrap();
            began.elapsed()
        };
        let through = async {
            while !lines.next_line().await.unwrap().unwrap().contains("notifications/resources/updated") {}
            began.elapsed()
        };
        let (add, told, through) = tokio::join!(add, told, through);
        begun.push(told);
        answered.push(told.saturating_sub(add));
        bridged.push(through.saturating_sub(add));
    }
    Series::new(begun).print("add_message called -> its subscriber is notified", "");
    Series::new(answered).print("add_message answered -> its subscriber is notified", "(goal: 10 ms after the commit)");
    Series::new(bridged).print("add_message answered -> a subscriber's bridge notifies it", "(goal: 10 ms after the commit)");
    bridge.kill().await.unwrap();
}
