//! Measures the board in a real browser: `cargo bench -p tests --bench board`. Each line states what was measured, beside an empty page in
//! the same run. It must reach the product only as its users do.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a command that prints its result and fails on any error")]

use std::path::Path;
use std::time::Duration;

use domain::board::project::Project;
use domain::id::{ProjectId, TaskId};
use domain::rate_limit::RateLimits;
use domain::wire::{NewProject, TaskView};
use serde_json::{Value, json};
use tests::browser::Browser;
use tests::server::TestServer;
use tokio::time::Instant;

const PROGRAM: &str = env!("CARGO_BIN_EXE_vibe_relay");
const FILES: &[(&str, &str)] = &[("README.md", "A test.\n")];
const CARDS: usize = 5_000;
/// Tasks that are created at the same time.
const PARALLEL: usize = 20;
const LOADS: usize = 5;
const KEYS: usize = 60;
/// Writes per second of 50 agents, each of which reports about once a second.
const WRITES_PER_SECOND: u64 = 50;
const WRITING: Duration = Duration::from_secs(12);
/// Turns of the agent with the long log, each with a text. The agent program reads all earlier turns before each one, so few long turns
/// take less time.
const TURNS: usize = 25;
/// Calls of a turn, each with a result.
const CALLS: usize = 2_000;
const ENTRIES: usize = TURNS * (1 + 2 * CALLS);

/// Notes when the first card is painted, how long each event takes to reach the page, and how long each key takes to be painted.
const PROBES: &str = "
window.probe = { interactive: null, events: [], keys: [], received: null };
new MutationObserver(() => {
    if (probe.interactive === null && document.querySelector('[data-task]')) {
        probe.interactive = -1;
        requestAnimationFrame(() => requestAnimationFrame(() => { probe.interactive = performance.now(); }));
    }
    if (probe.received !== null) {
        const title = document.querySelector('[data-task=TASK-001]')?.innerText ?? '';
        if (title.includes(probe.received.title)) { probe.events.push(performance.now() - probe.received.at); probe.received = null; }
    }
}).observe(document, { subtree: true, childList: true, characterData: true });
new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) { if (entry.name === 'keydown') { probe.keys.push(entry.duration); } }
}).observe({ type: 'event', durationThreshold: 16, buffered: true });
const Socket = window.WebSocket;
window.WebSocket = class extends Socket {
    constructor(...given) {
        super(...given);
        this.addEventListener('message', (message) => {
            const title = /Measured (\\d+)/.exec(message.data)?.[0];
            if (title) { probe.received = { title, at: performance.now() }; }
        });
    }
};";

#[tokio::main]
async fn main() {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    println!("{cores} cores; {} program; median of {LOADS} unless another number is given", if cfg!(debug_assertions) { "debug" } else { "release" });
    let server = start().await;
    let project = many_cards(&server).await;
    let browser = Browser::open().await.unwrap();
    browser.goto(&server.sign_in_link).await;
    browser.shows("h1", "Projects").await;
    browser.prepare(PROBES).await;
    download(&browser, &server, &project).await;
    load(&browser, &server, &project).await;
    events(&browser, &server, &project).await;
    keys(&browser).await;
    log(&browser, &server).await;
}

async fn start() -> TestServer {
    let call = json!({"tool": "Read", "input": {"file_path": "README.md"}});
    let turn = json!({"text": "I read **it** again.", "calls": vec![call; CALLS]});
    let mut turns = vec![turn; TURNS];
    turns.push(json!({"text": "Read.", "calls": [{"tool": "Bash", "input": {"command": "until [ -e never ]; do sleep 1; done"}}]}));
    let scenario = json!({"parts": [{"phase": "coder", "turns": turns}]}).to_string();
    let start = TestServer::start(Path::new(PROGRAM), FILES, |options, root| {
        let file = root.join("scenario.json");
        std::fs::write(&file, scenario).unwrap();
        // The cards are created as fast as the server can.
        options.config.rate_limits = RateLimits::NONE;
        options.config.agent_command = vec![PROGRAM.to_owned(), "scripted-agent".to_owned(), "--scenario".to_owned(), file.display().to_string()];
    });
    start.await.unwrap()
}

/// A project with many open cards, all held.
async fn many_cards(server: &TestServer) -> ProjectId {
    let new = NewProject { title: "Many".to_owned(), plan: Some(false), ..NewProject::default() };
    let project: Project = server.post("/api/projects", &new).await.unwrap();
    let path = format!("/api/projects/{}/tasks", project.id);
    for first in (0..CARDS).step_by(PARALLEL) {
        let create = |number: usize| {
            let path = path.clone();
            async move {
                let new = json!({"title": format!("Write part {number} of the documentation"), "description": "All of it."});
                server.post::<TaskView>(&path, &new).await.unwrap();
            }
        };
        futures_util::future::join_all((first..first + PARALLEL).map(create)).await;
    }
    project.id
}

/// The bytes that the browser receives, as they are sent, before the first card is painted, and those of the other pages that follow.
async fn download(browser: &Browser, server: &TestServer, project: &ProjectId) {
    browser.goto(&format!("{}/projects/{project}", server.board_url())).await;
    browser.until("a card is painted", "window.probe.interactive > 0").await;
    let total = "[...performance.getEntriesByType('resource'), ...performance.getEntriesByType('navigation')]
        .filter((entry) => !entry.name.includes('/api/')).reduce((total, entry) => total + (FIRST ? entry.encodedBodySize : 0), 0)";
    let first = browser.evaluate(&total.replace("FIRST", "entry.startTime < probe.interactive")).await;
    let parts = "performance.getEntriesByType('resource').filter((entry) => entry.name.endsWith('split_home.wasm')).length > 0";
    browser.until("the other pages are loaded", parts).await;
    let later = browser.evaluate(&total.replace("FIRST", "entry.startTime >= probe.interactive")).await;
    let kilobytes = |bytes: &Value| bytes.as_f64().unwrap() / 1000.0;
    println!("first visit: {:.0} kB compressed (goal: at most 300), then {:.0} kB for the other pages", kilobytes(&first), kilobytes(&later));
}

async fn load(browser: &Browser, server: &TestServer, project: &ProjectId) {
    let board = format!("{}/projects/{project}", server.board_url());
    let (mut empty, mut ready) = (Vec::new(), Vec::new());
    for _ in 0..LOADS {
        let began = Instant::now();
        browser.goto("about:blank").await;
        empty.push(milliseconds(began.elapsed()));
        browser.goto(&board).await;
        browser.until("a card is painted", "window.probe.interactive > 0").await;
        ready.push(browser.evaluate("probe.interactive").await.as_f64().unwrap());
    }
    println!("about:blank: {:.0} ms; interactive with {CARDS} cards: {:.0} ms (goal: at most 600)", percentile(empty, 50), percentile(ready, 50));
}

/// The title of a card that is drawn changes, while others write to cards that mostly are not.
async fn events(browser: &Browser, server: &TestServer, project: &ProjectId) {
    browser.shows(".connection", "Live").await;
    // The first card stays drawn while the others change their places.
    server.patch::<TaskView>("/api/tasks/TASK-001", &json!({"priority": 9})).await.unwrap();
    let deadline = Instant::now() + WRITING;
    let write = async {
        let mut interval = tokio::time::interval(Duration::from_millis(1000 / WRITES_PER_SECOND));
        let mut number = 1;
        while Instant::now() < deadline {
            interval.tick().await;
            number = number % CARDS + 1;
            let task = TaskId::new(number as u64 + 1);
            let change = json!({"priority": number % 5});
            server.patch::<TaskView>(&format!("/api/tasks/{task}"), &change).await.unwrap();
        }
    };
    let measure = async {
        let mut number = 0;
        while Instant::now() < deadline {
            number += 1;
            server.patch::<TaskView>("/api/tasks/TASK-001", &json!({"title": format!("Measured {number}")})).await.unwrap();
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    };
    tokio::join!(write, measure);
    let times = numbers(&browser.evaluate("probe.events").await);
    let (count, half, most) = (times.len(), percentile(times.clone(), 50), percentile(times, 95));
    println!(
        "event → DOM in {project}, {WRITES_PER_SECOND} other writes a second: p50 {half:.1} ms, p95 {most:.1} ms, n = {count} (goal: p50 at most 16)"
    );
}

async fn keys(browser: &Browser) {
    browser.evaluate("probe.keys.length = 0").await;
    for _ in 0..KEYS {
        browser.keys("j").await;
    }
    let times = numbers(&browser.evaluate("probe.keys").await);
    // The browser reports only keys that took at least 16 ms.
    let mut all = vec![16.0; KEYS.saturating_sub(times.len())];
    all.extend(times);
    println!(
        "key → paint with {CARDS} cards: p50 {:.0} ms, p95 {:.0} ms, n = {KEYS} (goal: p95 at most 50)",
        percentile(all.clone(), 50),
        percentile(all, 95)
    );
}

/// Scrolls through the log of an agent at work.
async fn log(browser: &Browser, server: &TestServer) {
    let new = NewProject { title: "Long".to_owned(), plan: Some(false), ..NewProject::default() };
    let project: Project = server.post("/api/projects", &new).await.unwrap();
    let path = format!("/api/projects/{}/tasks", project.id);
    let view: TaskView = server.post(&path, &json!({"title": "Read", "start": true})).await.unwrap();
    let task = view.task.card.id;
    browser.goto(&format!("{}/projects/{}/tasks/{task}?tab=attempts", server.board_url(), project.id)).await;
    browser.until("the whole log is loaded", &format!("document.querySelectorAll('.log-block').length >= {}", ENTRIES / 50)).await;
    let scroll = "const done = arguments[arguments.length - 1];
        const log = document.querySelector('.log');
        const began = performance.now();
        let frames = 0;
        const step = () => {
            frames += 1;
            log.scrollTop = (log.scrollTop + 90) % (log.scrollHeight - log.clientHeight);
            const elapsed = performance.now() - began;
            if (elapsed < 4000) { requestAnimationFrame(step); } else { done([frames * 1000 / elapsed, performance.memory.usedJSHeapSize / 1e6, document.querySelectorAll('.log *').length]); }
        };
        log.scrollTop = log.scrollHeight / 2;
        requestAnimationFrame(step);";
    let result = numbers(&browser.run_async(scroll).await);
    println!(
        "a live log of {} lines: {:.0} frames a second (goal with software rendering: at least 30), {:.0} MB of JavaScript heap, {:.0} elements",
        ENTRIES, result[0], result[1], result[2]
    );
}

fn numbers(list: &Value) -> Vec<f64> {
    list.as_array().into_iter().flatten().filter_map(Value::as_f64).collect()
}

fn percentile(mut values: Vec<f64>, percent: usize) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get((values.len() * percent / 100).min(values.len().saturating_sub(1))).copied().unwrap_or(f64::NAN)
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
