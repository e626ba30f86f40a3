//! What a write costs on this disk, beside what the disk itself costs: `cargo bench -p db`.
//!
//! Everything is measured in one run, because two runs on a shared machine say nothing about each other.

#![expect(clippy::print_stdout, reason = "a benchmark speaks to a terminal")]

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use db::{Caller, Db};
use domain::config::Config;
use domain::evidence::Probe;
use domain::id::TaskId;
use domain::task::NewTask;
use domain::wire::NewProject;

const ROUNDS: usize = 500;
const WRITERS: usize = 20;

type Outcome<T = ()> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

#[tokio::main]
async fn main() -> Outcome {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let db = Db::open(&Config { db_path: folder.path().join("board.db"), ..Config::default() }).await?;
    let mut tasks = tasks(&db).await?;
    let (first, second) = (tasks.pop().ok_or("no task")?, tasks.pop().ok_or("no task")?);

    let sync = Spread::of(fdatasync(folder.path())?);
    let alone = one_writer(&db, &first).await?;
    let one = rate(alone.len(), alone.iter().sum())?;
    let write = Spread::of(alone);
    let wake = Spread::of(wakes(&db, &second).await?);
    let many = many_writers(&db, tasks).await?;

    println!("                                      p50         p99     p50 of an fdatasync");
    sync.print("fdatasync of a 4 KiB append", &sync);
    write.print("add_comment, 1 writer", &sync);
    wake.print("add_comment sent to reader woken", &sync);
    println!("add_comment, {WRITERS} writers: {many:.0} a second, {:.1} times the {one:.0} of one", many / one);
    Ok(())
}

/// The median and the slowest hundredth.
struct Spread {
    p50: Duration,
    p99: Duration,
}

impl Spread {
    fn of(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        let at = |hundredth: usize| times.get(times.len() * hundredth / 100).copied().unwrap_or_default();
        Self { p50: at(50), p99: at(99) }
    }

    fn print(&self, what: &str, sync: &Self) {
        let ratio = self.p50.as_secs_f64() / sync.p50.as_secs_f64();
        println!("{what:<34} {:>9.1?} {:>11.1?} {ratio:>10.1} times", self.p50, self.p99);
    }
}

/// A task for each writer: a thread of thousands of comments is not what is measured.
async fn tasks(db: &Db) -> Outcome<Vec<TaskId>> {
    let probe = Probe {
        repo_path: String::new(),
        git_dir: String::new(),
        base_branch: "main".to_owned(),
        base_sha: String::new(),
        branches: Vec::new(),
        uncommitted: 0,
        identity: None,
    };
    let project = db.create_project(&Caller::Human, NewProject { title: "Bench".to_owned(), ..NewProject::default() }, probe).await?;
    let new: NewTask = serde_json::from_str(r#"{"title": "Bench"}"#)?;
    let mut tasks = Vec::new();
    for _ in 0..WRITERS + 2 {
        tasks.push(db.create_task(&Caller::Human, &project.id, new.clone()).await?.card.id);
    }
    Ok(tasks)
}

fn fdatasync(folder: &Path) -> Outcome<Vec<Duration>> {
    let mut file = File::create(folder.join("append"))?;
    let mut times = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let start = Instant::now();
        file.write_all(&[7; 4096])?;
        file.sync_data()?;
        times.push(start.elapsed());
    }
    Ok(times)
}

async fn one_writer(db: &Db, task: &TaskId) -> Outcome<Vec<Duration>> {
    let mut times = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let start = Instant::now();
        db.add_comment(&Caller::Human, task, "A comment of ordinary length.", None).await?;
        times.push(start.elapsed());
    }
    Ok(times)
}

/// From the request until another task, woken by the feed, has read the event.
async fn wakes(db: &Db, task: &TaskId) -> Outcome<Vec<Duration>> {
    let mut times = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let mut news = db.subscribe();
        let seen = *news.borrow_and_update();
        let reader = tokio::spawn({
            let db = db.clone();
            async move {
                news.changed().await?;
                db.events_after(seen, None, 10).await?;
                Outcome::Ok(Instant::now())
            }
        });
        let start = Instant::now();
        db.add_comment(&Caller::Human, task, "A comment of ordinary length.", None).await?;
        times.push(reader.await??.duration_since(start));
    }
    Ok(times)
}

/// Comments a second of writers that each wait for their own.
async fn many_writers(db: &Db, tasks: Vec<TaskId>) -> Outcome<f64> {
    let start = Instant::now();
    let mut writers = tokio::task::JoinSet::new();
    for task in tasks {
        let db = db.clone();
        writers.spawn(async move { one_writer(&db, &task).await.map(|times| times.len()) });
    }
    let mut written = 0;
    while let Some(count) = writers.join_next().await {
        written += count??;
    }
    rate(written, start.elapsed())
}

fn rate(count: usize, span: Duration) -> Outcome<f64> {
    Ok(f64::from(u32::try_from(count)?) / span.as_secs_f64())
}
