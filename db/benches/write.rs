//! Measures the cost of writes, compared with the cost of the disk: `cargo bench -p db --bench write`. It must call the database only through
//! its public functions.
//!
//! One run measures everything, because two runs on a shared machine are not comparable.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use db::{Caller, Db, Error, PersonCaller};
use domain::board::task::NewTask;
use domain::config::Config;
use domain::id::{ProjectId, TaskId};
use domain::refusal::Refusal;
use domain::runs::evidence::RepositoryInfo;
use domain::team::agent::Registration;
use domain::team::message::{MessageRefusal, NewMessage};
use domain::team::person::{OWNER, PersonRole};
use domain::team::token::{TokenAudience, TokenTerms};
use domain::wire::NewProject;

const ROUNDS: usize = 500;
/// How many cards a large board has, and how often each operation on it is measured.
const CARDS: usize = 1000;
const FEW_ROUNDS: usize = 50;
const WRITERS: usize = 20;
/// Claims of others, and present agents, in the war room.
const CLAIMED: usize = 200;
const PRESENT: usize = 100;

type Outcome<T = ()> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// The owner of the board.
fn owner() -> Caller {
    Caller::Person(PersonCaller { id: OWNER, name: "owner".to_owned(), role: PersonRole::Owner, is_companion: false })
}

#[tokio::main]
async fn main() -> Outcome {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let db = Db::open(&Config { db_path: folder.path().join("board.db"), ..Config::default() }).await?;
    let mut tasks = tasks(&db).await?;
    let project = db.card(tasks.first().ok_or("no task")?).await?.project_id;
    let mut agents = agents(&db, &project).await?;
    let (first, second) = (tasks.pop().ok_or("no task")?, tasks.pop().ok_or("no task")?);

    let sync = Spread::of(fdatasync(folder.path())?);
    let alone = one_writer(&db, &first).await?;
    let one = rate(alone.len(), alone.iter().sum())?;
    let write = Spread::of(alone);
    let wake = Spread::of(wakes(&db, &second).await?);
    let many = many_writers(&db, tasks).await?;

    let pair = agents.split_off(WRITERS);
    let [writer, reader] = pair.as_slice() else { return Err("no two agents".into()) };
    let (sends, looks) = one_pair(&db, &project, writer, reader).await?;
    let (send, look) = (Spread::of(sends), Spread::of(looks));
    let [claim, release, party] = war_room(&db, &project, writer).await?;
    let talk = many_agents(&db, &project, agents).await?;

    println!("                                      p50         p99     p50 of an fdatasync");
    sync.print("fdatasync of a 4 KiB append", &sync);
    write.print("add_comment, 1 writer", &sync);
    wake.print("add_comment sent to reader woken", &sync);
    send.print("send, 1 agent", &sync);
    look.print("check_inbox with ack, 1 agent", &sync);
    claim.print("claim_file among 200 claims", &sync);
    release.print("release_file among 200 claims", &sync);
    party.print("party of 100 agents", &sync);
    let [create, start, read] = large_board(&db).await?;
    create.print("create_task among 1,000 cards", &sync);
    start.print("start_task among 1,000 cards", &sync);
    read.print("what the runner reads of 1,000", &sync);
    println!("add_comment, {WRITERS} writers: {many:.0} a second, {:.1} times the {one:.0} of one", many / one);
    println!("send and check_inbox, {WRITERS} agents: {talk:.0} a second, {:.2} times add_comment of as many", talk / many);
    Ok(())
}

/// The median and the 99th percentile.
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

async fn project(db: &Db) -> Outcome<ProjectId> {
    let probe = RepositoryInfo {
        repo_path: String::new(),
        git_dir: String::new(),
        base_branch: "main".to_owned(),
        base_sha: String::new(),
        branches: Vec::new(),
        identity: None,
        ..RepositoryInfo::default()
    };
    Ok(db.create_project(&owner(), NewProject { title: "Bench".to_owned(), ..NewProject::default() }, probe).await?.id)
}

/// Creates one task per writer, because the benchmark does not measure threads with thousands of comments.
async fn tasks(db: &Db) -> Outcome<Vec<TaskId>> {
    let project = project(db).await?;
    let new: NewTask = serde_json::from_str(r#"{"title": "Bench"}"#)?;
    let mut tasks = Vec::new();
    for _ in 0..WRITERS + 2 {
        tasks.push(db.create_task(&owner(), &project, new.clone()).await?.card.id);
    }
    Ok(tasks)
}

/// Measures writes that may change other cards, and the runner's tick, on a large board.
async fn large_board(db: &Db) -> Outcome<[Spread; 3]> {
    let project = project(db).await?;
    let new: NewTask = serde_json::from_str(r#"{"title": "One of many"}"#)?;
    for _ in 0..CARDS {
        db.create_task(&owner(), &project, new.clone()).await?;
    }
    let [mut creates, mut starts, mut reads] = [const { Vec::new() }; 3];
    for _ in 0..FEW_ROUNDS {
        let start = Instant::now();
        let task = db.create_task(&owner(), &project, new.clone()).await?.card.id;
        creates.push(start.elapsed());
        let start = Instant::now();
        db.start_task(&owner(), &task).await?;
        starts.push(start.elapsed());
        let start = Instant::now();
        db.snapshot().await?;
        reads.push(start.elapsed());
    }
    Ok([creates, starts, reads].map(Spread::of))
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
        db.add_comment(&owner(), task, "A comment of ordinary length.", None).await?;
        times.push(start.elapsed());
    }
    Ok(times)
}

/// The time from the request until another task has read the event from the log.
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
        db.add_comment(&owner(), task, "A comment of ordinary length.", None).await?;
        times.push(reader.await??.duration_since(start));
    }
    Ok(times)
}

/// Comments per second of concurrent writers.
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

/// Creates one agent per writer and two more.
async fn agents(db: &Db, project: &ProjectId) -> Outcome<Vec<Caller>> {
    let mut agents = Vec::new();
    for number in 0..WRITERS + 2 {
        let who = Registration { name: format!("agent-{number}"), ..Registration::default() };
        let token = db.create_agent_token(&owner(), project, who, TokenTerms::default()).await?;
        agents.push(db.identify(&token, TokenAudience::Mcp).await?.ok_or("no caller")?.caller);
    }
    Ok(agents)
}

/// The times of sends of one agent, and of inbox reads with acknowledgement of another.
async fn one_pair(db: &Db, project: &ProjectId, writer: &Caller, reader: &Caller) -> Outcome<(Vec<Duration>, Vec<Duration>)> {
    let (mut sends, mut looks, mut ack) = (Vec::with_capacity(ROUNDS), Vec::with_capacity(ROUNDS), None);
    let to = reader.name().ok_or("no name")?;
    for round in 0..ROUNDS {
        let start = Instant::now();
        db.send(&call(writer, round), project, message(&to)).await?;
        sends.push(start.elapsed());
        let start = Instant::now();
        let inbox = db.check_inbox(&call(reader, round), project, ack).await?;
        looks.push(start.elapsed());
        ack = inbox.messages.last().map(|given| given.message.id);
    }
    Ok((sends, looks))
}

/// One agent that claims and releases a file while others hold 200, and the list of a hundred agents.
async fn war_room(db: &Db, project: &ProjectId, agent: &Caller) -> Outcome<[Spread; 3]> {
    for number in 0..CLAIMED {
        db.claim_file(&owner(), project, &format!("held/m{}/f{number}.rs", number % 20).parse()?).await?;
    }
    let present = db.agents(project).await?.len();
    for number in present..PRESENT {
        let who = Registration { name: format!("present-{number}"), ..Registration::default() };
        db.create_agent_token(&owner(), project, who, TokenTerms::default()).await?;
    }
    let (mut claims, mut releases, mut parties) = (Vec::new(), Vec::new(), Vec::new());
    for number in 0..ROUNDS {
        let path = format!("src/f{number}.rs").parse()?;
        let start = Instant::now();
        db.claim_file(agent, project, &path).await?;
        claims.push(start.elapsed());
        let start = Instant::now();
        db.release_file(agent, project, &path, None).await?;
        releases.push(start.elapsed());
        let start = Instant::now();
        db.party(project).await?;
        parties.push(start.elapsed());
    }
    Ok([Spread::of(claims), Spread::of(releases), Spread::of(parties)])
}

/// Operations per second of agents in a ring, with five messages per inbox read.
async fn many_agents(db: &Db, project: &ProjectId, agents: Vec<Caller>) -> Outcome<f64> {
    let names: Vec<String> = agents.iter().filter_map(Caller::name).collect();
    let start = Instant::now();
    let mut working = tokio::task::JoinSet::new();
    for (number, agent) in agents.into_iter().enumerate() {
        let (db, project, names) = (db.clone(), project.clone(), names.clone());
        working.spawn(async move { talk(&db, &project, &agent, names.get((number + 1) % names.len()).ok_or("nobody")?).await });
    }
    let mut done = 0;
    while let Some(count) = working.join_next().await {
        done += count??;
    }
    rate(done, start.elapsed())
}

async fn talk(db: &Db, project: &ProjectId, agent: &Caller, to: &str) -> Outcome<usize> {
    let (mut operations, mut ack) = (0, None);
    for round in 0..ROUNDS / 5 {
        for part in 0..5 {
            // A refused send counts as an operation, and the agent then reads its inbox.
            while let Err(error) = db.send(&call(agent, 5 * round + part), project, message(to)).await {
                if !matches!(error, Error::Refused(Refusal::Message(MessageRefusal::Unread { .. }))) {
                    return Err(error.into());
                }
                ack = db.check_inbox(agent, project, ack).await?.messages.last().map(|given| given.message.id).or(ack);
                operations += 2;
            }
            operations += 1;
        }
        ack = db.check_inbox(agent, project, ack).await?.messages.last().map(|given| given.message.id).or(ack);
        operations += 1;
    }
    Ok(operations)
}

fn message(to: &str) -> NewMessage {
    let content = "A message of ordinary length, as one agent writes to another.".to_owned();
    NewMessage { to: to.to_owned(), content, cc: Vec::new(), task_id: None, reply_to: None }
}

fn call(caller: &Caller, number: usize) -> Caller {
    caller.clone().with_call_id(Some(format!("send-{number}")))
}

fn rate(count: usize, span: Duration) -> Outcome<f64> {
    Ok(f64::from(u32::try_from(count)?) / span.as_secs_f64())
}
