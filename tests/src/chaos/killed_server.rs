//! The server is killed again and again while agents work and others write over HTTP and MCP. Acknowledged writes must be there once, every
//! task must be accounted for, and a reader that reconnects must see each event once and in order.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use domain::board::card::Card;
use domain::board::reducer::Board;
use domain::board::status::Status;
use domain::event::Seq;
use domain::id::{ProjectId, TaskId};
use domain::runs::agent_kind::AgentKind;
use domain::runs::run::Run;
use domain::wire::TaskView;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use uuid::Uuid;

use super::{Outcome, SETTLE_TIME, scripted, submitting, within};
use crate::client::Client;
use crate::mcp;
use crate::server::TestServer;
use crate::socket::Socket;

/// Each coder counts its starts in a file outside of its checkout.
const COMMAND: &str = "echo {{task_id}} >> ../../../started; sleep 0.5; echo done > {{task_id}}.txt; git add -A; git commit -qm '{{title}}'";

const WRITERS: usize = 3;
/// The pause between two writes of a writer. The comments of all of them are read at the end.
const WRITE_INTERVAL: Duration = Duration::from_millis(20);
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// The pause before a request is repeated that the killed server did not answer.
const RECONNECT_PAUSE: Duration = Duration::from_millis(20);

/// The texts that one writer wrote.
#[derive(Debug, Default)]
struct Written {
    acknowledged: Vec<String>,
    unanswered: usize,
}

/// # Errors
/// The server cannot be started, or does not answer after the last kill.
pub async fn run(program: &Path, kills: u32) -> io::Result<Outcome> {
    let mut server = scripted(program, &submitting(&[], COMMAND), |_| {}).await?;
    let project = server.project("Work", None).await?.id;
    let mut tasks = Vec::new();
    for number in 0..WRITERS * 2 {
        tasks.push(add(&server, &project, &format!("Thread {number}"), false).await?);
    }
    let stop = Arc::new(AtomicBool::new(false));
    let reader = tokio::spawn(read_events(Client::new(&server.url, &server.token), project.clone(), stop.clone()));
    let mut writers = Vec::new();
    for (number, task) in tasks.iter().enumerate() {
        let client = Client::new(&server.url, &server.token);
        let (task, stop) = (task.clone(), stop.clone());
        writers.push(if number < WRITERS {
            tokio::spawn(write_over_http(client, task, stop))
        } else {
            let body = json!({"agent": format!("writer-{number}"), "roles": ["builder"]});
            let token: Value = server.post(&format!("/api/projects/{project}/tokens"), &body).await?;
            let token = token["token"].as_str().unwrap_or_default().to_owned();
            tokio::spawn(write_over_mcp(client, token, task, stop))
        });
    }

    let mut outcome = Outcome::default();
    let mut work = Vec::new();
    for kill in 0..kills {
        if kill % 4 == 0 {
            work.push(add(&server, &project, &format!("Work {kill}"), true).await?);
        }
        tokio::time::sleep(Duration::from_millis(50 + u64::from(Uuid::new_v4().as_bytes()[0]))).await;
        server.kill().await?;
        server.serve().await?;
        let mut unaccounted = Vec::new();
        let settled = within(SETTLE_TIME, async || {
            unaccounted = server.board(&project).await.map_or_else(|error| vec![error.to_string()], |board| unaccounted_tasks(&board));
            unaccounted.is_empty()
        });
        let settled = settled.await;
        outcome.expect(settled, || format!("after kill {kill} without a run or a reason: {}", unaccounted.join(", ")));
    }
    // The board leaves out tasks that were finished long ago.
    let is_done = |card: &Card| card.status == Status::Done && card.run.is_none();
    let finished = |board: &Board| work.iter().all(|task| board.card(task).is_none_or(is_done));
    server.until(&project, "all work is done", finished).await;
    stop.store(true, Ordering::SeqCst);
    let mut written = Vec::new();
    for writer in writers {
        written.push(joined(writer).await?);
    }
    check_comments(&server, &tasks, &written, &mut outcome).await?;
    check_runs(&server, &work, &mut outcome).await?;
    let received = joined(reader).await?;
    check_events(&server, &project, &received, &mut outcome).await?;
    let acknowledged: usize = written.iter().map(|written| written.acknowledged.len()).sum();
    let unanswered: usize = written.iter().map(|written| written.unanswered).sum();
    outcome.figures.insert(0, format!("{kills} kills of the server; {WRITERS} writers over HTTP and {WRITERS} over MCP, 3 agents at work"));
    outcome.figures.insert(1, format!("{acknowledged} acknowledged writes, {unanswered} requests without an answer"));
    Ok(outcome)
}

async fn add(server: &TestServer, project: &ProjectId, title: &str, start: bool) -> io::Result<TaskId> {
    let body = json!({"title": title, "start": start});
    let view: TaskView = server.post(&format!("/api/projects/{project}/tasks"), &body).await?;
    Ok(view.task.card.id)
}

async fn joined<T>(task: JoinHandle<io::Result<T>>) -> io::Result<T> {
    task.await.map_err(io::Error::other)?
}

fn unaccounted_tasks(board: &Board) -> Vec<String> {
    let cards = board.cards.iter().filter(|card| card.status == Status::InProgress);
    let unaccounted = cards.filter(|card| card.run.is_none() && card.wait_reason.is_none() && card.attention.is_none());
    unaccounted.map(|card| card.id.to_string()).collect()
}

/// A text that was not acknowledged is never written again, so it is there once or not at all.
async fn write_over_http(client: Client, task: TaskId, stop: Arc<AtomicBool>) -> io::Result<Written> {
    let mut written = Written::default();
    while !stop.load(Ordering::SeqCst) {
        let text = Uuid::new_v4().to_string();
        let request = client.request(Method::POST, &format!("/api/tasks/{task}/comments")).json(&json!({"content": text}));
        match request.timeout(REQUEST_TIMEOUT).send().await {
            Ok(response) if response.status().is_success() => written.acknowledged.push(text),
            Ok(response) => return Err(io::Error::other(format!("{}: {}", response.status(), response.text().await.unwrap_or_default()))),
            Err(_server_is_killed) => {
                written.unanswered += 1;
                tokio::time::sleep(RECONNECT_PAUSE).await;
            }
        }
        tokio::time::sleep(WRITE_INTERVAL).await;
    }
    Ok(written)
}

/// A call is repeated with its id until it is acknowledged, so it takes effect once.
async fn write_over_mcp(client: Client, token: String, task: TaskId, stop: Arc<AtomicBool>) -> io::Result<Written> {
    let (connection, mut written) = (reqwest::Client::new(), Written::default());
    while !stop.load(Ordering::SeqCst) {
        let text = Uuid::new_v4().to_string();
        loop {
            let arguments = json!({"task_id": task, "content": text});
            let call = mcp::call_once(&connection, &client.url, &token, "add_comment", arguments, &text);
            match tokio::time::timeout(REQUEST_TIMEOUT, call).await {
                Ok(Ok(answer)) if !answer.is_error => break written.acknowledged.push(text),
                Ok(Ok(answer)) => return Err(io::Error::other(answer.text)),
                Ok(Err(_)) | Err(_) => {
                    written.unanswered += 1;
                    tokio::time::sleep(RECONNECT_PAUSE).await;
                }
            }
        }
        tokio::time::sleep(WRITE_INTERVAL).await;
    }
    Ok(written)
}

/// Follows the events of a project like a browser: after each interruption from the last event on.
async fn read_events(client: Client, project: ProjectId, stop: Arc<AtomicBool>) -> io::Result<Vec<Seq>> {
    let mut received: Vec<Seq> = Vec::new();
    let epoch = client.board(&project).await?.epoch;
    while !stop.load(Ordering::SeqCst) {
        let after = received.last().copied().unwrap_or(0);
        let Ok(mut socket) = Socket::open(&client, &project, Some((after, &epoch))).await else {
            tokio::time::sleep(RECONNECT_PAUSE).await;
            continue;
        };
        while let Ok(Ok(Some(event))) = tokio::time::timeout(Duration::from_secs(2), socket.event()).await {
            received.push(event.seq);
        }
    }
    Ok(received)
}

async fn check_comments(server: &TestServer, tasks: &[TaskId], written: &[Written], outcome: &mut Outcome) -> io::Result<()> {
    let mut copies: BTreeMap<String, usize> = BTreeMap::new();
    for task in tasks {
        for comment in server.comments(task).await? {
            *copies.entry(comment.comment.content).or_default() += 1;
        }
    }
    let acknowledged = written.iter().flat_map(|written| &written.acknowledged);
    let lost = acknowledged.filter(|text| !copies.contains_key(*text)).count();
    let doubled = copies.values().filter(|copies| **copies > 1).count();
    outcome.expect(lost == 0, || format!("{lost} acknowledged writes lost"));
    outcome.expect(doubled == 0, || format!("{doubled} writes took effect twice"));
    outcome.figures.push(format!("{lost} acknowledged writes lost, {doubled} doubled"));
    Ok(())
}

/// Nothing ends an agent here, so the first one of a task has to finish its work. A run whose agent the killed server did not start yet is
/// replaced by another.
async fn check_runs(server: &TestServer, work: &[TaskId], outcome: &mut Outcome) -> io::Result<()> {
    let started = std::fs::read_to_string(server.root().join("started"))?;
    let (mut runs, mut doubled) = (0, 0);
    for task in work {
        let starts = started.lines().filter(|line| *line == task.as_str()).count();
        let coders: Vec<Run> = server.runs(task).await?.into_iter().filter(|run| run.phase == AgentKind::Coder).collect();
        runs += coders.len();
        doubled += usize::from(starts != 1);
        outcome.expect(starts == 1, || format!("{starts} agents worked on {task}: {coders:#?}"));
    }
    let unstarted = runs.saturating_sub(work.len());
    outcome
        .figures
        .push(format!("{} tasks done, {doubled} of them by more than one agent; {unstarted} runs were reserved and never started", work.len()));
    Ok(())
}

async fn check_events(server: &TestServer, project: &ProjectId, received: &[Seq], outcome: &mut Outcome) -> io::Result<()> {
    let all: Vec<Seq> = server.events(project).await?.iter().map(|event| event.seq).collect();
    let doubled = received.windows(2).filter(|pair| pair[0] == pair[1]).count();
    let reordered = received.windows(2).filter(|pair| pair[0] > pair[1]).count();
    let lost = all.iter().filter(|seq| received.binary_search(seq).is_err()).count();
    outcome.expect(lost + doubled + reordered == 0, || format!("the reader received {} of {} events", received.len(), all.len()));
    outcome.figures.push(format!("{} events followed over WebSocket: {lost} lost, {doubled} doubled, {reordered} reordered", received.len()));
    Ok(())
}
