//! Authentication. Without a token only health, sign-in and static files respond; with an agent's token only the tools do. A phone is paired
//! from the terminal, through a proxy that names an allowed host.

use std::process::Stdio;

use axum::Router;
use domain::team::browser_session::{SESSION_KEY_FRAGMENT, SESSION_KEY_HEADER};
use domain::wire::BOARD_HOST;
use reqwest::header::{COOKIE, HOST, HeaderMap, LOCATION, SET_COOKIE};
use reqwest::redirect::Policy;
use reqwest::{Client, Method, StatusCode};
use serde_json::{Value, json};
use tests::mcp;
use tests::server::TestServer;
use tests::session::Session;
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use crate::agents::token;
use crate::browser::{open_board, signed_in};
use crate::support::{self, add, at_work};

const SCENARIO: &str = include_str!("../../scenarios/intervention.json");
/// Routes without authentication. The demo's page exists only in a demo, and the restored token file is not part of the answer.
const OPEN: [&str; 5] = ["/api/health", "/api/token/restore", "/sign-in", "/demo/site/", "/demo/site/{path}"];

#[tokio::test]
async fn every_route_requires_the_human_token() {
    let server = support::scripted(SCENARIO).await;
    let project = server.project("Errands", None).await.unwrap().id;
    let task = add(&server, &project, "Slow errand").await;
    let run = at_work(&server, &task).await;
    let agents = mcp::token_of(&server, &run).unwrap();
    let document: Value = server.get("/api/openapi.json").await.unwrap();
    let stranger = Client::new();
    let mut asked = 0;
    for (path, methods) in document["paths"].as_object().unwrap() {
        for method in methods.as_object().unwrap().keys().filter(|_| !OPEN.contains(&path.as_str())) {
            let method: Method = method.to_uppercase().parse().unwrap();
            let filled = path.replace(
                "{id}",
                if path.contains("/runs/") {
                    "RUN-001"
                } else if path.contains("/tasks/") {
                    "TASK-001"
                } else {
                    "PROJ-001"
                },
            );
            let request = || stranger.request(method.clone(), format!("{}{filled}", server.url)).json(&json!({}));
            let nobody = server.refusal(request()).await.unwrap();
            assert_eq!((nobody.status, nobody.code.as_str()), (401, "unauthorized"), "{method} {path} without a token");
            let guess = server.refusal(request().bearer_auth("0".repeat(64))).await.unwrap();
            assert_eq!((guess.status, guess.code.as_str()), (401, "unauthorized"), "{method} {path} with a guessed token");
            let agent = server.refusal(request().bearer_auth(&agents)).await.unwrap();
            assert_eq!((agent.status, agent.code.as_str()), (403, "token-audience"), "{method} {path} with an agent's token");
            asked += 1;
        }
    }
    assert!(asked > 25, "only {asked} routes are documented");
    let tools = stranger.post(format!("{}/mcp", server.url)).header("accept", "application/json, text/event-stream").json(&json!({}));
    assert_eq!(server.refusal(tools).await.unwrap().code, "unauthorized");
    for open in ["/api/health", "/"] {
        assert_eq!(stranger.get(format!("{}{open}", server.url)).send().await.unwrap().status(), StatusCode::OK, "{open} is for everyone");
    }
    assert_eq!(server.task(&task).await.unwrap().task.card.run.unwrap().id, run, "nothing was done to the agent at work");
}

/// A model sees tool results, but not the body of a rejected HTTP request.
#[tokio::test]
async fn oversized_message_is_refused_by_the_tool() {
    let server = support::scripted(r#"{"parts": []}"#).await;
    let project = server.project("Letters", None).await.unwrap().id;
    let mara = token(&server, &project, "mara", &["builder"]).await;
    for bytes in [1024 * 1024, 3 * 1024 * 1024] {
        let refused = mcp::call(&server, &mara, "send", json!({"to_agent": "human", "message": "x".repeat(bytes)})).await.unwrap();
        assert_eq!((refused.is_error, refused.code.as_deref()), (true, Some("invalid")), "{}", refused.text);
        assert!(refused.text.contains(&format!("it has {bytes} bytes")) && refused.text.contains("\nNext: Shorten it"), "{}", refused.text);
    }
}

/// Runs a command of the product, and returns whether it succeeded, its output and its errors.
async fn run(server: &TestServer, arguments: &[&str]) -> (bool, String, String) {
    let output = server.command(arguments).stdin(Stdio::null()).output().await.unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.success(), text(&output.stdout), text(&output.stderr))
}

#[tokio::test]
async fn phone_is_paired_by_a_code_in_the_terminal_and_revoked_by_name() {
    let server = support::scripted_with(r#"{"parts": []}"#, |options| options.config.allowed_hosts = vec!["desk.example.org".to_owned()]).await;
    let (paired, code, hints) = run(&server, &["pair", "--name", "Ann's phone"]).await;
    assert!(paired && hints.contains("Ann's phone"), "{hints}");
    let link = code.lines().last().unwrap();
    assert!(link.starts_with("https://desk.example.org/sign-in?code="), "{code}");
    assert!(code.lines().count() > 15 && code.contains('█') && !code.contains('\u{1b}'), "{code}");

    // The proxy passes the request of the phone on, with its host.
    let phone = Client::builder().redirect(Policy::none()).build().unwrap();
    let path = link.strip_prefix("https://desk.example.org").unwrap();
    let open = || phone.get(format!("{}{path}", server.url)).header(HOST, "desk.example.org").header("sec-fetch-site", "none").send();
    let opened = open().await.unwrap();
    let session = Session::of_response(&opened).unwrap();
    assert_eq!(opened.headers()[LOCATION], format!("/needs-you#{SESSION_KEY_FRAGMENT}{}", session.key).as_str());
    assert!(opened.headers()[SET_COOKIE].to_str().unwrap().contains("; Secure"), "{opened:?}");
    assert_eq!(open().await.unwrap().status(), StatusCode::UNAUTHORIZED, "the link works once");
    let read = || {
        let request = phone.get(format!("{}/api/needs-you", server.url)).header(HOST, "desk.example.org").header("sec-fetch-site", "same-origin");
        session.headers().into_iter().fold(request, |request, (name, value)| request.header(name, value)).send()
    };
    assert_eq!(read().await.unwrap().status(), StatusCode::OK);

    let (_, sessions, _) = run(&server, &["session", "list"]).await;
    assert!(sessions.starts_with("1  Ann's phone  last seen "), "{sessions}");
    assert!(run(&server, &["session", "revoke", "1"]).await.0);
    assert_eq!(read().await.unwrap().status(), StatusCode::UNAUTHORIZED);

    let (refused, _, problem) = run(&server, &["pair", "--host", "evil.example"]).await;
    assert!(!refused && problem.contains("vibe-relay pair --host desk.example.org"), "{problem}");
}

#[tokio::test]
async fn pairing_without_an_allowed_host_says_the_next_step() {
    let server = support::scripted(r#"{"parts": []}"#).await;
    let (paired, _, problem) = run(&server, &["pair"]).await;
    assert!(!paired && problem.contains("tailscale serve") && problem.contains("\"allowed_hosts\""), "{problem}");
}

#[tokio::test]
async fn browser_keeps_the_session_key_from_apps_on_other_ports() {
    let server = support::scripted(r#"{"parts": []}"#).await;
    let project = server.project("Letters", None).await.unwrap().id;
    let browser = signed_in(&server).await;
    browser.until("the address shows no key", "location.pathname + location.search + location.hash === '/'").await;
    browser.until("the key is stored", "localStorage.getItem('session-key')").await;
    let key = browser.evaluate("localStorage.getItem('session-key')").await;

    // A link with another key replaces nothing, and the used link leads to the board.
    browser.goto(&format!("{}/projects/{project}#{SESSION_KEY_FRAGMENT}{}", server.board_url(), "0".repeat(64))).await;
    browser.shows(".connection", "Live").await;
    assert_eq!(browser.evaluate("localStorage.getItem('session-key')").await, key);
    browser.goto(&server.sign_in_link).await;
    browser.shows("h1", "Projects").await;
    open_board(&browser, &server, &project).await;

    // A hostile app sends the browser to its own port at the name of the board.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{BOARD_HOST}:{}/", listener.local_addr().unwrap().port());
    let (sender, mut received) = mpsc::unbounded_channel();
    let app = Router::new().fallback(async move |headers: HeaderMap| sender.send(headers).map_or("", |()| "App"));
    let serving = tokio::spawn(axum::serve(listener, app).into_future());
    browser.goto(&address).await;
    let headers = received.recv().await.unwrap();
    let cookies = headers[COOKIE].to_str().unwrap();
    assert!(cookies.starts_with(&format!("vibe-relay-{}=", server.port())), "{cookies}");
    assert!(!format!("{headers:?}").contains(key.as_str().unwrap()), "{headers:?}");
    assert_eq!(browser.evaluate("localStorage.length").await, 0);
    serving.abort();

    // It replays the cookie with all headers of the board's page.
    let replay = |method: Method, path: &str, key: Option<&str>| {
        let request = Client::new().request(method, format!("{}{path}", server.url)).header(HOST, format!("{BOARD_HOST}:{}", server.port()));
        let request = request.header("origin", server.board_url()).header("sec-fetch-site", "same-origin").header("cookie", cookies);
        key.into_iter().fold(request, |request, key| request.header(SESSION_KEY_HEADER, key))
    };
    for (method, path) in [(Method::GET, "/api/projects"), (Method::POST, "/api/pause"), (Method::GET, "/api/ws")] {
        for guess in [None, Some(""), Some("0"), cookies.split_once('=').map(|(_, value)| value)] {
            let refused = server.refusal(replay(method.clone(), path, guess)).await.unwrap();
            assert_eq!((refused.status, refused.code.as_str()), (401, "unauthorized"), "{method} {path} {guess:?}");
        }
    }
    assert_eq!(replay(Method::GET, "/api/projects", key.as_str()).send().await.unwrap().status(), StatusCode::OK, "only the key is missing");
}
