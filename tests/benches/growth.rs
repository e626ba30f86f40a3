//! Which costs of a running server grow with the size of a board: `cargo bench -p tests --bench growth`. It must reach the server only over
//! HTTP; databases are filled before the server opens them, by the files of the store's own growth benchmark.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

#[path = "../../db/benches/growth/fill.rs"]
#[expect(dead_code, reason = "the benchmark of the store uses more of it")]
mod fill;
#[path = "../../db/benches/growth/load.rs"]
#[expect(dead_code, reason = "the benchmark of the store uses more of it")]
mod load;
#[path = "../../db/benches/growth/store.rs"]
#[expect(dead_code, reason = "the benchmark of the store uses more of it")]
mod store;
#[path = "../../db/benches/growth/table.rs"]
mod table;

use std::path::{Path, PathBuf};
use std::time::Instant;

use domain::id::ProjectId;
use domain::wire::TaskView;
use serde_json::{Value, json};
use tests::client::Client;
use tests::server::TestServer;

use crate::fill::Marks;
use crate::load::{CARDS_EACH, CLIENTS, group_commit_rate, rate};
use crate::store::{Outcome, PLAN_SIZE, Store};
use crate::table::{Table, aim, median, milliseconds};

const PROGRAM: &str = env!("CARGO_BIN_EXE_vibe_relay");
const ROUNDS: usize = 20;
const OPEN_CARDS: usize = 50;
const AGENTS: usize = 5;
const TASKS: [usize; 3] = [100, 1_000, 10_000];
const HELD_CARDS: [usize; 2] = [100, 5_000];

/// A server with one project, and an open card of it.
struct Board {
    server: TestServer,
    project: ProjectId,
    card: String,
}

#[tokio::main]
async fn main() -> Outcome {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let load = std::fs::read_to_string("/proc/loadavg")?;
    let build = if cfg!(debug_assertions) { "debug" } else { "release" };
    println!("{cores} cores, load {}; {build}; durability full; p50 of {ROUNDS} in ms", load.split(' ').next().unwrap_or_default());

    let mut boards = Vec::new();
    for tasks in TASKS {
        boards.push(Board::finished(tasks).await?);
    }
    let tasks = Table::new("tasks, 50 of them open", &TASKS, measure(&boards).await?);
    tasks.print();
    boards.clear();
    for cards in HELD_CARDS {
        boards.push(Board::held(cards).await?);
    }
    let mut rows = measure(&boards).await?;
    rows.extend(creators(&boards).await?);
    let held = Table::new("open cards, all held", &HELD_CARDS, rows);
    held.print();

    println!("\naims");
    for (request, ratio) in tasks.ratios().filter(|(request, _)| !request.contains("KB")) {
        aim(&format!("{request}: at most 1.3 x from 100 to 10,000 tasks"), &format!("{ratio:.2} x"), ratio <= 1.3);
    }
    let board = tasks.last("GET board");
    aim("first answer of the board at 10,000 tasks: at most 15 ms", &format!("{board:.1} ms"), board <= 15.0);
    let board = held.last("GET board");
    aim("board of 5,000 open cards: at most 60 ms", &format!("{board:.1} ms"), board <= 60.0);
    for (size, used) in HELD_CARDS.iter().zip(held.row("16 x POST task, server CPU a card")) {
        aim(&format!("POST task at {size} open cards: at most 1 ms of CPU"), &format!("{used:.2} ms"), used <= 1.0);
    }
    for (size, part) in HELD_CARDS.iter().zip(held.row("16 x POST task / group commit")) {
        aim(&format!("16 x POST task at {size} open cards: at least 0.8 x group commit"), &format!("{part:.2} x"), part >= 0.8);
    }
    let memory = held.last("server's memory afterwards, MB");
    aim("server with 5,000 open cards: at most 60 MB", &format!("{memory:.1} MB"), memory <= 60.0);
    Ok(())
}

impl Board {
    /// A board of so many tasks, of which [`OPEN_CARDS`] are open.
    async fn finished(tasks: usize) -> Outcome<Self> {
        let (mut server, project, file) = stopped().await?;
        let before = Marks::of(&file).await?;
        Store::open(&file, false).await?.finish_plan().await?;
        fill::multiply(&file, &before, i64::try_from((tasks - OPEN_CARDS) / PLAN_SIZE - 1)?).await?;
        let store = Store::open(&file, false).await?;
        let card = store.create_open(OPEN_CARDS, &store.finished_part().await?).await?.swap_remove(0).to_string();
        store.add_agents(AGENTS).await?;
        drop(store);
        fill::check_count(&file, "tasks", tasks).await?;
        server.serve_on(0).await?;
        Ok(Self { server, project, card })
    }

    /// A board of so many open cards, each of which is held.
    async fn held(cards: usize) -> Outcome<Self> {
        let (mut server, project, file) = stopped().await?;
        let before = Marks::of(&file).await?;
        let store = Store::open(&file, false).await?;
        let card = store.create_held().await?.to_string();
        drop(store);
        fill::multiply(&file, &before, i64::try_from(cards - 1)?).await?;
        fill::check_count(&file, "tasks", cards).await?;
        server.serve_on(0).await?;
        Ok(Self { server, project, card })
    }

    fn server_id(&self) -> Outcome<u32> {
        Ok(self.server.server_id().ok_or("the server has ended")?)
    }
}

/// A server that made a project on its repository and was ended, and its database.
async fn stopped() -> Outcome<(TestServer, ProjectId, PathBuf)> {
    let mut server = TestServer::start(Path::new(PROGRAM), &[("README.md", "A test.\n")], |_, _| {}).await?;
    let project = server.project("Growth", None).await?.id;
    server.stop().await?;
    let file = server.root().join("data/vibe-relay.db");
    Ok((server, project, file))
}

/// The median of each request on every board.
async fn measure(boards: &[Board]) -> Outcome<Vec<(&'static str, Vec<f64>)>> {
    let mut rows = vec![("GET board", Vec::new()), ("GET board, KB", Vec::new()), ("GET agents", Vec::new()), ("POST comment", Vec::new())];
    let [mut reads, mut lists, mut comments] = [const { Vec::new() }; 3].map(|none| vec![none; boards.len()]);
    let mut sizes = vec![0; boards.len()];
    for _ in 0..ROUNDS {
        for (number, Board { server, project, card }) in boards.iter().enumerate() {
            let start = Instant::now();
            sizes[number] = get(server, &format!("/api/projects/{project}/board")).await?;
            reads[number].push(start.elapsed());
            let start = Instant::now();
            get(server, &format!("/api/projects/{project}/agents")).await?;
            lists[number].push(start.elapsed());
            let start = Instant::now();
            let _: Value = server.post(&format!("/api/tasks/{card}/comments"), &json!({"content": "A comment of ordinary length."})).await?;
            comments[number].push(start.elapsed());
        }
    }
    rows[0].1 = reads.into_iter().map(median).collect();
    rows[1].1 = sizes.into_iter().map(|size| f64::from(u32::try_from(size).unwrap_or(u32::MAX)) / 1024.0).collect();
    rows[2].1 = lists.into_iter().map(median).collect();
    rows[3].1 = comments.into_iter().map(median).collect();
    Ok(rows)
}

/// Reads a whole answer and returns its size.
async fn get(client: &Client, path: &str) -> Outcome<usize> {
    let response = client.request(reqwest::Method::GET, path).send().await?.error_for_status()?;
    Ok(response.bytes().await?.len())
}

/// Lets clients create cards at once, and looks at what that costs the server.
async fn creators(boards: &[Board]) -> Outcome<Vec<(&'static str, Vec<f64>)>> {
    let mut rows = vec![
        ("16 x POST task, cards a second", Vec::new()),
        ("16 x POST task, server CPU a card", Vec::new()),
        ("group commit, comments a second", Vec::new()),
        ("16 x POST task / group commit", Vec::new()),
        ("server's memory afterwards, MB", Vec::new()),
    ];
    for board in boards {
        let group_commit = group_commit_rate(&board.server.root().join("alone/board.db")).await?;
        let before = tests::processor_time(&[board.server_id()?])?;
        let client = |_| {
            let (client, path) = (Client::new(&board.server.url, &board.server.token), format!("/api/projects/{}/tasks", board.project));
            async move {
                let card = json!({"title": "An imported card", "description": "A description of ordinary length. ".repeat(20)});
                for _ in 0..CARDS_EACH {
                    let _: TaskView = client.post(&path, &card).await?;
                }
                Ok(())
            }
        };
        let cards = CLIENTS * CARDS_EACH;
        let rate = rate(cards, load::run((0..CLIENTS).map(client)).await?)?;
        let used = tests::processor_time(&[board.server_id()?])?.saturating_sub(before);
        let used = milliseconds(used) / f64::from(u32::try_from(cards)?);
        let [memory, ..] = tests::memory(board.server_id()?)?;
        for ((_, row), value) in rows.iter_mut().zip([rate, used, group_commit, rate / group_commit, memory]) {
            row.push(value);
        }
    }
    Ok(rows)
}
