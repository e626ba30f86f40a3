//! Measures which costs grow with the board and its log: `cargo bench -p db --bench growth`. It must call the database only through `store`.
//!
//! One run measures all sizes alternately, because the speed of a shared machine changes from minute to minute.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

mod fill;
mod load;
mod store;
mod table;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use domain::id::TaskId;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;

use crate::fill::Marks;
use crate::load::{CARDS_EACH, CLIENTS, create_cards, group_commit_rate};
use crate::store::{Outcome, PLAN_SIZE, Store};
use crate::table::{Table, aim, median, milliseconds};

const ROUNDS: usize = 40;
const OPEN_CARDS: usize = 50;
const AGENTS: usize = 5;
const TASKS: [usize; 3] = [100, 1_000, 10_000];
const EVENTS: [usize; 2] = [10_000, 1_000_000];
const HELD_CARDS: [usize; 3] = [100, 1_000, 5_000];

const SEARCH: &str = "search";
/// They answer with a page, which 1,000 tasks fill and 100 do not.
const PAGES: [&str; 2] = ["board read", "page of the history"];
const REPLAY: &str = "replay";

/// A board that is measured, and the open card that is commented and moved.
struct Board {
    store: Store,
    card: TaskId,
}

#[derive(Clone, Copy)]
enum Operation {
    Comment,
    Move,
    PlanTick,
    Board,
    Agents,
    LastEvents,
    Projects,
    History,
    Search,
    Statistics,
    Replay,
}

const OPERATIONS: [(Operation, &str); 11] = [
    (Operation::Comment, "comment"),
    (Operation::Move, "move"),
    (Operation::PlanTick, "plan tick"),
    (Operation::Board, PAGES[0]),
    (Operation::Agents, "agent list"),
    (Operation::LastEvents, "last 100 events"),
    (Operation::Projects, "list of projects"),
    (Operation::History, PAGES[1]),
    (Operation::Search, SEARCH),
    (Operation::Statistics, "statistics"),
    (Operation::Replay, REPLAY),
];

#[tokio::main]
async fn main() -> Outcome {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let load = std::fs::read_to_string("/proc/loadavg")?;
    let build = if cfg!(debug_assertions) { "debug" } else { "release" };
    println!("{cores} cores, load {}; {build}; durability full; p50 of {ROUNDS} in ms", load.split(' ').next().unwrap_or_default());

    let plan = finished_plan(folder.path()).await?;
    let mut boards = Vec::new();
    for tasks in TASKS {
        boards.push(board_of(&plan, &folder.path().join(format!("tasks-{tasks}.db")), tasks).await?);
    }
    let tasks = Table::new("tasks, 50 of them open", &TASKS, measure(&boards).await?);
    tasks.print();
    boards.clear();
    for events in EVENTS {
        boards.push(board_with_log(&plan, &folder.path().join(format!("events-{events}.db")), events).await?);
    }
    let events = Table::new("events of a board of 100 tasks", &EVENTS, measure(&boards).await?);
    events.print();
    drop(boards);
    let held = backlog(folder.path()).await?;
    held.print();

    println!("\naims");
    for (table, range, pages) in [(&tasks, "from 100 to 10,000 tasks", &PAGES[..]), (&events, "from 10 k to 1 M events", &[])] {
        // A search compares more texts on a larger board, and a replay draws more tasks, each up to a bound of its own.
        for (operation, ratio) in table.ratios().filter(|(operation, _)| ![SEARCH, REPLAY].contains(operation) && !pages.contains(operation)) {
            aim(&format!("{operation}: at most 1.3 x {range}"), &format!("{ratio:.2} x"), ratio <= 1.3);
        }
    }
    for page in PAGES {
        let ratio = tasks.last(page) / tasks.row(page).get(1).copied().unwrap_or(f64::NAN);
        aim(&format!("{page}: at most 1.3 x from 1,000 to 10,000 tasks"), &format!("{ratio:.2} x"), ratio <= 1.3);
    }
    let board = tasks.last("board read");
    let search = tasks.last(SEARCH);
    aim("search at 10,000 tasks: at most 25 ms", &format!("{search:.1} ms"), search <= 25.0);
    aim("first answer of the board at 10,000 tasks: at most 15 ms", &format!("{board:.1} ms"), board <= 15.0);
    for (size, used) in HELD_CARDS.iter().zip(held.row("create, CPU")) {
        aim(&format!("create at {size} open cards: at most 1 ms of CPU"), &format!("{used:.2} ms"), used <= 1.0);
    }
    for (size, part) in HELD_CARDS.iter().zip(held.row("16 creators / group commit")) {
        aim(&format!("16 creators at {size} open cards: at least 0.8 x group commit"), &format!("{part:.2} x"), part >= 0.8);
    }
    let board = held.last("board read");
    aim("board of 5,000 open cards: at most 60 ms", &format!("{board:.1} ms"), board <= 60.0);
    Ok(())
}

/// A database with one finished plan, and how far it had counted before.
struct Plan {
    file: PathBuf,
    before: Marks,
}

async fn finished_plan(folder: &Path) -> Outcome<Plan> {
    let file = folder.join("plan.db");
    drop(Store::open(&file, false).await?);
    let before = Marks::of(&file).await?;
    Store::open(&file, false).await?.finish_plan().await?;
    Ok(Plan { file, before })
}

/// Makes a board of so many tasks, of which [`OPEN_CARDS`] are open.
async fn board_of(plan: &Plan, file: &Path, tasks: usize) -> Outcome<Board> {
    fill::copy(&plan.file, file).await?;
    fill::multiply(file, &plan.before, i64::try_from((tasks - OPEN_CARDS) / PLAN_SIZE - 1)?).await?;
    let store = Store::open(file, false).await?;
    let card = store.create_open(OPEN_CARDS, &store.finished_part().await?).await?.swap_remove(0);
    store.add_agents(AGENTS).await?;
    drop(store);
    fill::check_count(file, "tasks", tasks).await?;
    Ok(Board { store: Store::open(file, true).await?, card })
}

async fn board_with_log(plan: &Plan, file: &Path, events: usize) -> Outcome<Board> {
    let Board { store, card } = board_of(plan, file, TASKS[0]).await?;
    drop(store);
    fill::lengthen_log(file, i64::try_from(events)?).await?;
    Ok(Board { store: Store::open(file, true).await?, card })
}

/// The median time of every operation on every board.
async fn measure(boards: &[Board]) -> Outcome<Vec<(&'static str, Vec<f64>)>> {
    let mut rows = Vec::new();
    for (operation, name) in OPERATIONS {
        let mut times = vec![Vec::with_capacity(ROUNDS); boards.len()];
        for _ in 0..ROUNDS {
            for (board, times) in boards.iter().zip(&mut times) {
                let start = Instant::now();
                board.perform(operation).await?;
                times.push(start.elapsed());
                if let Operation::Move = operation {
                    let start = Instant::now();
                    board.store.reopen(&board.card).await?;
                    times.push(start.elapsed());
                }
            }
        }
        rows.push((name, times.into_iter().map(median).collect()));
    }
    Ok(rows)
}

impl Board {
    async fn perform(&self, operation: Operation) -> Outcome {
        let read = match operation {
            Operation::Comment => return self.store.comment(&self.card).await,
            Operation::Move => return self.store.cancel(&self.card).await,
            Operation::PlanTick => self.store.plan_tick().await?,
            Operation::Board => self.store.board().await?,
            Operation::Agents => self.store.agents().await?,
            Operation::LastEvents => self.store.last_events().await?,
            Operation::Projects => self.store.projects().await?,
            Operation::History => self.store.history().await?,
            Operation::Search => self.store.search().await?,
            Operation::Replay => self.store.replay().await?,
            Operation::Statistics => self.store.statistics().await?,
        };
        if read > 0 { Ok(()) } else { Err("nothing was read".into()) }
    }
}

/// Measures open cards that are held, like an imported backlog.
async fn backlog(folder: &Path) -> Outcome<Table> {
    let file = folder.join("card.db");
    drop(Store::open(&file, false).await?);
    let before = Marks::of(&file).await?;
    let store = Store::open(&file, false).await?;
    store.settle(store.create_held().await?).await?;
    drop(store);
    let mut columns = Vec::new();
    for cards in HELD_CARDS {
        let file = |purpose: &str| folder.join(format!("{purpose}-{cards}.db"));
        fill::copy(&folder.join("card.db"), &file("one")).await?;
        fill::multiply(&file("one"), &before, i64::try_from(cards - 1)?).await?;
        fill::check_count(&file("one"), "tasks", cards).await?;
        fill::copy(&file("one"), &file("many")).await?;
        columns.push((Store::open(&file("one"), true).await?, Store::open(&file("many"), true).await?));
    }
    let mut rows = vec![
        ("board read", Vec::new()),
        ("plan tick", Vec::new()),
        ("create", Vec::new()),
        ("create, CPU", Vec::new()),
        ("16 creators, cards a second", Vec::new()),
        ("16 creators, CPU a card", Vec::new()),
        ("16 writers of comments, a second", Vec::new()),
        ("16 creators / group commit", Vec::new()),
    ];
    for (number, (one, many)) in columns.iter().enumerate() {
        let [mut boards, mut ticks, mut creates] = [const { Vec::new() }; 3];
        let mut used = Duration::ZERO;
        for _ in 0..ROUNDS {
            let start = Instant::now();
            one.board().await?;
            boards.push(start.elapsed());
            let start = Instant::now();
            one.plan_tick().await?;
            ticks.push(start.elapsed());
        }
        for _ in 0..ROUNDS {
            let (start, before) = (Instant::now(), processor_time()?);
            one.create_held().await?;
            creates.push(start.elapsed());
            used += processor_time()?.saturating_sub(before);
        }
        // Measured right before the creators, on a separate small board.
        let group_commit = group_commit_rate(&folder.join(format!("comments-{number}.db"))).await?;
        let before = processor_time()?;
        let creators = create_cards(many).await?;
        let card = milliseconds(processor_time()?.saturating_sub(before)) / f64::from(u32::try_from(CLIENTS * CARDS_EACH)?);
        let used = milliseconds(used) / f64::from(u32::try_from(ROUNDS)?);
        let (boards, ticks, creates) = (median(boards), median(ticks), median(creates));
        for ((_, row), value) in rows.iter_mut().zip([boards, ticks, creates, used, creators, card, group_commit, creators / group_commit]) {
            row.push(value);
        }
    }
    Ok(Table::new("open cards, all held", &HELD_CARDS, rows))
}

/// Processor time that this process and its threads have used so far.
fn processor_time() -> Outcome<Duration> {
    let usage = getrusage(UsageWho::RUSAGE_SELF)?;
    let span = |time: TimeVal| -> Outcome<Duration> { Ok(Duration::new(u64::try_from(time.tv_sec())?, u32::try_from(time.tv_usec())? * 1000)) };
    Ok(span(usage.user_time())? + span(usage.system_time())?)
}
