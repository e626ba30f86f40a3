//! Apps with real processes: that of a task runs in its checkout while a coder works, that of a project on the project branch, and a person
//! opens both with a browser's request.

use domain::board::project::Project;
use domain::board::reducer::Board;
use domain::runs::preview::{Preview, PreviewState};
use domain::runs::profile::Profile;
use domain::runs::sandbox::SandboxTier;
use domain::wire::{BOARD_HOST, NewProject, TaskView};
use reqwest::{Method, StatusCode};
use serde_json::json;
use tests::session::Session;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::browser::{open_board, same_page, signed_in};
use crate::jail::jail;
use crate::support::{self, add, at_work, done};

/// The coder waits for an answer after its first commit, so that its app can be opened.
const SCENARIO: &str = r#"{"parts": [
    {"phase": "coder", "attempt": 1, "turns": [
        {"calls": [{"tool": "Bash", "input": {"command": "echo one > page.txt; git add . && git commit -qm 'Add the page'"}}]},
        {"calls": [{"tool": "mcp__vibe-relay__ask_human", "input": {"question": "Is it right?"}}]},
        {"text": "I wait."}
    ]},
    {"phase": "coder", "attempt": 2, "turns": [
        {"calls": [{"tool": "mcp__vibe-relay__update_task_status", "input": {"task_id": "{{task_id}}", "status": "in_review"}}]},
        {"text": "Submitted."}
    ]},
    {"phase": "reviewer", "turns": [
        {"calls": [{"tool": "mcp__vibe-relay__update_task_status", "input": {"task_id": "{{task_id}}", "status": "done"}}]},
        {"text": "Approved."}
    ]}
]}"#;
/// An app that answers with the page of its checkout. With the cookies that it receives, it asks the board as the board's page does.
const APP: &str = r#"node -e "
const http = require('http');
const board = 'vibe-relay.localhost:BOARD';
http.createServer((request, answer) => {
    const cookie = request.headers.cookie;
    if (!cookie) return answer.end(require('fs').readFileSync('page.txt') + request.url);
    const headers = { cookie, host: board, origin: 'http://' + board, 'sec-fetch-site': 'same-origin' };
    http.get({ host: '127.0.0.1', port: board.split(':')[1], path: '/api/projects', headers }, (reply) => answer.end(cookie + ' ' + reply.statusCode));
}).listen({port})""#;

fn is_running(app: Option<&Preview>) -> bool {
    app.is_some_and(|app| app.state == PreviewState::Running)
}

/// Asks as a browser does that was told this address, at `host`, with the lines of more headers.
async fn request_page(app: &Preview, host: &str, headers: &str) -> String {
    let port = app.ports[0];
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    stream.write_all(format!("GET /x HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n{headers}\r\n").as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

async fn apps(tier: SandboxTier) {
    let (server, _model) = support::real_with(SCENARIO, |options, root| {
        // Other servers lease from the usual range, and a port is free until its app listens.
        options.config.port_range = (4_300, 4_309);
        if tier != SandboxTier::None {
            jail(options, tier);
            options.config.port_range = (4_310, 4_319);
        }
        std::fs::create_dir_all(root.join("home")).unwrap();
    })
    .await;
    let new = NewProject {
        title: "Page".to_owned(),
        repo_path: Some(server.repository().display().to_string()),
        plan: Some(false),
        profile: Some(Profile {
            preview: Some(APP.replace("BOARD", &server.port().to_string()).replace('\n', " ")),
            cleanup: vec!["cp page.txt ../../../cleaned.txt".to_owned()],
            ..Profile::default()
        }),
        ..NewProject::default()
    };
    let project: Project = server.post("/api/projects", &new).await.unwrap();
    let task = add(&server, &project.id, "Add a page").await;
    let is_asked = |board: &Board| board.card(&task).is_some_and(|card| card.attention.is_some() && card.run.is_none());
    server.until(&project.id, "the coder asks", is_asked).await;

    let path = format!("/api/tasks/{task}/preview");
    server.post::<Preview>(&path, &json!({})).await.unwrap();
    let app_of = |board: &Board| board.card(&task).and_then(|card| card.preview.clone());
    let board = server.until(&project.id, "the app of the task answers", |board| is_running(app_of(board).as_ref())).await;
    let app = app_of(&board).unwrap();
    let host = format!("{}.localhost", task.to_string().to_lowercase());
    assert_eq!(app.address, Some(format!("http://{host}:{}/", app.ports[0])));
    let answer = request_page(&app, &host, "").await;
    assert!(answer.starts_with("HTTP/1.1 200 OK") && answer.ends_with("one\n/x"), "{answer}");
    // A browser that is sent to the port at the name of the board sends its cookies.
    let session = Session::open(&server).await.unwrap();
    let answer = request_page(&app, BOARD_HOST, &format!("Cookie: {}\r\n", session.cookie)).await;
    if tier == SandboxTier::JailNet {
        assert!(answer.starts_with("HTTP/1.1 421 "), "{answer}");
    } else {
        assert!(answer.ends_with(&format!("{} 401", session.cookie)), "the app has the cookie, and the board refuses it: {answer}");
    }

    // It ends with its files, and its work is merged then.
    server.post::<TaskView>(&format!("/api/tasks/{task}/answer"), &json!({"content": "Yes."})).await.unwrap();
    done(&server, &project.id, &task).await;
    server.until(&project.id, "the app of the task ended", |board| app_of(board).is_none()).await;

    if tier == SandboxTier::None {
        // A jail keeps the command from writing outside of the checkout.
        tests::wait_for("the cleanup command ran", || std::fs::read(server.root().join("cleaned.txt")).is_ok_and(|text| text == b"one\n")).await;
    }

    let path = format!("/api/projects/{}/preview", project.id);
    server.post::<Preview>(&path, &json!({})).await.unwrap();
    let board = server.until(&project.id, "the app of the project answers", |board| is_running(board.project.preview.as_ref())).await;
    let answer = request_page(&board.project.preview.unwrap(), "proj-001.localhost", "").await;
    assert!(answer.ends_with("one\n/x"), "the files of the project branch: {answer}");
    let ended = server.request(Method::DELETE, &path).send().await.unwrap();
    assert_eq!(ended.status(), StatusCode::NO_CONTENT);
    server.until(&project.id, "the app of the project ended", |board| board.project.preview.is_none()).await;
}

#[tokio::test]
async fn apps_run_without_a_jail() {
    apps(SandboxTier::None).await;
}

#[tokio::test]
async fn apps_run_in_a_jail_without_a_network() {
    apps(SandboxTier::JailNet).await;
}

#[tokio::test]
async fn page_shows_and_saves_logs() {
    let server = support::scripted(include_str!("../../scenarios/intervention.json")).await;
    let profile = Profile { preview: Some("echo 'No such app'; exit 3".to_owned()), ..Profile::default() };
    let new = NewProject { title: "Errands".to_owned(), plan: Some(false), profile: Some(profile), ..NewProject::default() };
    let project = server.post::<Project>("/api/projects", &new).await.unwrap().id;
    let task = add(&server, &project, "Slow errand").await;
    at_work(&server, &task).await;
    let browser = signed_in(&server).await;
    open_board(&browser, &server, &project).await;
    browser.press("Slow errand").await;
    browser.press("Open app").await;
    browser.shows(".app-box", "Dismiss").await;
    browser.run("const open = window.open; window.open = (...given) => (window.tab = open.apply(window, given))").await;
    browser.press("Log").await;
    browser.until("the tab has the log", "window.tab?.document.body?.innerText.includes('No such app')").await;
    let address = browser.evaluate("window.tab.location.href").await;
    assert!(address.as_str().unwrap().starts_with(&format!("blob:{}/", server.board_url())), "{address}");

    browser.run("const make = URL.createObjectURL; URL.createObjectURL = (copy) => make.call(URL, window.saved = copy)").await;
    browser.click("#tab-Attempts").await;
    browser.click("button[aria-label='Raw log of RUN-001']").await;
    browser.until("the page has loaded the log", "window.saved?.size > 0").await;
    let log = browser.run_async("window.saved.text().then(arguments[0])").await;
    assert!(log.as_str().unwrap().starts_with('{'), "{log}");
    same_page(&browser, &[]).await;
}
