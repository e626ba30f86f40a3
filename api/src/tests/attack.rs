//! Requests of hostile pages, rebound names, agents and careless programs, which must all be refused.

use std::collections::BTreeSet;

use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use db::Caller;
use domain::board::status::Status;
use domain::runs::agent_kind::AgentKind;
use domain::team::browser_session::SESSION_KEY_HEADER;
use domain::team::person::OWNER;
use domain::team::role::Role;

use super::support::{BOARD, HOST, Route, Session, TOKEN, TestServer, routes};
use crate::openapi::Access;

const HOSTS: [Option<&str>; 15] = [
    Some(BOARD),
    Some("Vibe-Relay.LocalHost:9400"),
    Some(HOST),
    Some("LocalHost:9400"),
    Some("[::1]:9400"),
    None,
    Some("127.0.0.1"),
    Some("127.0.0.1:9401"),
    Some("127.0.0.1:09400"),
    Some("127.0.0.1.evil.example:9400"),
    Some("evil.example:9400"),
    Some("localhost.:9400"),
    Some("LOCALHOST.evil.example:9400"),
    Some("127.0.0.1:9400@evil.example"),
    Some("0.0.0.0:9400"),
];
const GOOD_HOSTS: usize = 5;
/// The first of them are the board's own name, the only one that the cookie is for.
const BOARD_HOSTS: usize = 2;

const ORIGINS: [Option<&str>; 10] = [
    None,
    Some("http://vibe-relay.localhost:9400"),
    Some("http://127.0.0.1:9400"),
    Some("null"),
    Some("http://127.0.0.1:3000"),
    Some("https://127.0.0.1:9400"),
    Some("http://evil.example"),
    Some("http://127.0.0.1:9400.evil.example"),
    Some("http://localhost"),
    Some("file://"),
];
const GOOD_ORIGINS: usize = 3;
/// The first of them are right for the cookie.
const BOARD_ORIGINS: usize = 2;

/// Content types of a body; only the first is accepted.
const CONTENT: [Option<&str>; 6] = [
    Some("application/json"),
    None,
    Some("text/plain"),
    Some("application/x-www-form-urlencoded"),
    Some("multipart/form-data; boundary=x"),
    Some("application/jsonp"),
];

/// Headers that identify the caller.
struct Credential {
    headers: Vec<(&'static str, String)>,
    /// Whether it is valid for requests that only read, and for those that act.
    reads: bool,
    acts: bool,
    /// Whether it is a session, which is valid only under the board's name and from its page.
    is_session: bool,
}

/// `others` are valid tokens that are not the human's. Of two sessions of browsers, the second only lends its key.
fn credentials(others: &[String], [session, other]: [&Session; 2]) -> Vec<Credential> {
    let bearer = |token: &str| ("authorization", format!("Bearer {token}"));
    let secret = session.cookie.split_once('=').unwrap().1;
    let page = |cookie: &str, key: &str, site: &str| {
        vec![("cookie", format!("theme=dark; {cookie}")), (SESSION_KEY_HEADER, key.to_owned()), ("sec-fetch-site", site.to_owned())]
    };
    let from = |site: &str| page(&session.cookie, &session.key, site);
    let own_page = |cookie: &str, key: &str| page(cookie, key, "same-origin");
    let bad = |headers| Credential { headers, reads: false, acts: false, is_session: false };
    let mut credentials = vec![
        Credential { headers: vec![bearer(TOKEN)], reads: true, acts: true, is_session: false },
        Credential { headers: from("same-origin"), reads: true, acts: true, is_session: true },
        // Typed into the address bar.
        Credential { headers: from("none"), reads: true, acts: false, is_session: true },
        // A page on another port of this machine.
        bad(from("same-site")),
        bad(from("cross-site")),
        bad(vec![]),
        bad(vec![bearer("wrong")]),
        bad([vec![bearer("wrong")], from("same-origin")].concat()),
        bad(vec![bearer("")]),
        // One part of a session, and parts that do not belong together.
        bad(vec![("cookie", session.cookie.clone()), ("sec-fetch-site", "same-origin".to_owned())]),
        bad(vec![(SESSION_KEY_HEADER, session.key.clone()), ("sec-fetch-site", "same-origin".to_owned())]),
        bad(own_page(&session.cookie, "")),
        bad(own_page(&session.cookie, secret)),
        bad(own_page(&session.cookie, &other.key)),
        bad(own_page(&format!("vibe-relay-9401={secret}"), &session.key)),
        // Neither credential is accepted in the place of the other.
        bad(vec![bearer(secret)]),
        bad(vec![bearer(&session.key)]),
        bad(vec![bearer(&format!("{secret}.{}", session.key))]),
        bad(own_page(&format!("vibe-relay-9400={TOKEN}"), &session.key)),
        bad(vec![("authorization", TOKEN.to_owned())]),
        bad(own_page(&format!("vibe-relay-9400={}", others[0]), &session.key)),
    ];
    credentials.extend(others.iter().map(|token| bad(vec![bearer(token)])));
    credentials
}

/// The headers of requests to `route` that must be refused: every combination in which at most `most` of host, origin, credential and content type
/// are not the usual ones.
fn attacks(route: &Route, most: usize, others: &[String], sessions: [&Session; 2]) -> Vec<Vec<(&'static str, String)>> {
    let acts = route.method != "get";
    let human_only = route.access == Access::Person;
    let mut attacks = Vec::new();
    for (host_number, host) in HOSTS.iter().enumerate() {
        for (origin_number, origin) in ORIGINS.iter().enumerate() {
            for (credential_number, credential) in credentials(others, sessions).iter().enumerate() {
                for (content_number, content) in if acts { &CONTENT[..] } else { &CONTENT[..1] }.iter().enumerate() {
                    let unusual = [host_number, origin_number, credential_number, content_number].into_iter().filter(|number| *number > 0);
                    if unusual.count() > most {
                        continue;
                    }
                    let wrong_page = host_number >= GOOD_HOSTS || origin_number >= GOOD_ORIGINS;
                    let good = if acts { credential.acts && *content == CONTENT[0] } else { credential.reads };
                    let foreign_page = credential.is_session && (host_number >= BOARD_HOSTS || origin_number >= BOARD_ORIGINS);
                    if wrong_page || (human_only && (!good || foreign_page)) {
                        let mut headers = credential.headers.clone();
                        for (name, value) in [("host", host), ("origin", origin), ("content-type", content)] {
                            headers.extend(value.map(|value| (name, value.to_owned())));
                        }
                        attacks.push(headers);
                    }
                }
            }
        }
    }
    attacks
}

/// A valid body for `path`, so that only the headers are wrong.
fn body(method: &str, path: &str) -> &'static str {
    match (method, path.rsplit('/').next().unwrap_or_default()) {
        ("get", _) => "",
        ("put", "zones") => r#"{"name": "audio", "paths": ["audio/"]}"#,
        ("put", _) => r#"{"scope": "global", "enabled": false, "max_minions": 0}"#,
        ("patch", _) if path.starts_with("/api/battle-plans/") => r#"{"status": "obsolete"}"#,
        ("patch", name) if name.len() == 12 => r#"{"expires_in": 60}"#,
        ("patch", _) | (_, "tasks" | "goals") => r#"{"title": "x"}"#,
        (_, "comments" | "message" | "answer" | "revise") => r#"{"content": "x"}"#,
        (_, "cancel" | "reject-verification") => r#"{"reason": "obsolete"}"#,
        (_, "tokens") => r#"{"agent": "mallory", "roles": ["lead"]}"#,
        (_, "remove") => r#"{"name": "mara"}"#,
        (_, "persons") => r#"{"name": "mallory"}"#,
        (_, "messages") => r#"{"to": "all", "content": "x"}"#,
        (_, "battle-plans") => r#"{"plan": "x"}"#,
        (_, "release") => r#"{"path": "a.rs", "reason": "x"}"#,
        (_, "oracle-questions") => r#"{"zones": ["audio"], "question": "x"}"#,
        (_, "raid-log") => r#"{"entry": "x"}"#,
        (_, "triggers") => r#"{"word": "moon_crash"}"#,
        (_, "withdraw") => r#"{"word": "moon_crash"}"#,
        (_, "knowledge") => r#"{"kind": "intel", "topic": "x", "body": "x", "evidence": "a.rs:1"}"#,
        (_, "resolve" | "archive") if path.starts_with("/api/knowledge/") => r#"{"reason": "x", "evidence": "a.rs:1"}"#,
        (_, "debriefs") => r#"{"summary": "x"}"#,
        (_, "handshakes") => r#"{"message": "x"}"#,
        (_, "contracts") => r#"{"name": "x", "type": "other", "spec": "x"}"#,
        (_, "assign") => r#"{"assigned_to": "mara"}"#,
        (_, "goal") => r#"{"goal_id": null}"#,
        _ => "{}",
    }
}

/// Valid tokens that do not open the HTTP interface: a run's, an agent's and an invite token.
async fn others(server: &TestServer) -> Vec<String> {
    let project = server.project().await;
    let task = server.task(&project).await;
    let (run, _) = server.run(&task.card.id, AgentKind::Coder, Status::Backlog).await;
    let (agent, _) = server.agent(&project, "mara", &[Role::Lead]).await;
    let invite = server.state.db.create_invite_token(&Caller::owner(), &project).await.unwrap();
    vec![run.token, agent, invite]
}

#[tokio::test]
async fn attacks_neither_change_nor_read_anything() {
    let server = TestServer::new().await;
    let others = others(&server).await;
    let (session, other) = (Session::open(&server, OWNER).await, Session::open(&server, OWNER).await);
    let before = server.state.db.latest();
    let (mut sent, mut combined) = (0, BTreeSet::new());
    for route in routes() {
        let path = address(&route);
        // Every route has the same guards, so one of each kind stands for the rare combinations.
        let most = if combined.insert((route.method.clone(), format!("{:?}", route.access))) { 4 } else { 2 };
        for headers in attacks(&route, most, &others, [&session, &other]) {
            sent += 1;
            let answer = server.send(request_to(&route, &headers)).await;
            assert!(answer.status.is_client_error(), "{} {path} {headers:?}: {}", route.method, answer.status);
            assert_eq!(answer.header(header::CONTENT_TYPE), "application/problem+json");
            assert!(!answer.text.contains("A page") && !answer.text.contains("footer"), "{}", answer.text);
            assert_eq!(answer.header("access-control-allow-origin"), "");
        }
    }
    assert!(sent > 50_000, "{sent}");
    assert_eq!(server.state.db.latest(), before, "an attack changed something");
}

/// The address of `route` on an object that exists.
fn address(route: &Route) -> String {
    let id = match route.path.split('/').nth(2).unwrap_or_default() {
        "projects" => "PROJ-001",
        "runs" => "RUN-001",
        "goals" => "GOAL-001",
        "handshakes" | "contracts" | "sessions" | "persons" => "1",
        _ => "TASK-001",
    };
    route.path.replace("{id}", id).replace("{path}", "index.html")
}

/// A request to `route` with a valid body and these headers.
pub(super) fn request_to(route: &Route, headers: &[(&'static str, String)]) -> Request<Body> {
    let path = address(route);
    let body = body(&route.method, &path);
    let mut request = Request::builder().method(route.method.to_uppercase().as_str()).uri(&path).header("content-length", body.len());
    for (name, value) in headers {
        request = request.header(*name, value);
    }
    request.body(Body::from(body)).unwrap()
}

fn request(method: &str, path: &str) -> axum::http::request::Builder {
    Request::builder().method(method).uri(path).header(header::HOST, HOST)
}

#[tokio::test]
async fn signed_in_browser_is_accepted_and_agents_are_not() {
    let server = TestServer::new().await;
    let others = others(&server).await;
    let [(cookie, cookies), (key_header, key)] = Session::open(&server, OWNER).await.headers();
    for (name, value) in [("sec-fetch-site", "same-origin"), ("origin", "http://vibe-relay.localhost:9400")] {
        let body = Body::from(r#"{"content": "Hello"}"#);
        let comment = Request::post("/api/tasks/TASK-001/comments").header(header::HOST, BOARD).header(cookie, &cookies).header(key_header, &key);
        let comment = comment.header("content-type", "application/json; charset=utf-8");
        assert_eq!(server.send(comment.header(name, value).body(body).unwrap()).await.status, StatusCode::CREATED, "{name}");
    }
    for token in others {
        let agent = request("GET", "/api/projects").header("authorization", format!("bearer {token}")).body(Body::empty()).unwrap();
        let answer = server.send(agent).await;
        assert_eq!((answer.status, answer.json()["code"].as_str()), (StatusCode::FORBIDDEN, Some("token-audience")));
    }
    let anonymous = server.send(request("GET", "/api/projects").body(Body::empty()).unwrap()).await;
    assert_eq!((anonymous.status, anonymous.header("www-authenticate")), (StatusCode::UNAUTHORIZED, "Bearer"));
}

#[tokio::test]
async fn host_and_origin_are_compared_without_case() {
    let server = TestServer::new().await;
    for host in ["127.0.0.1:9400", "LocalHost:9400", "LOCALHOST:9400", "[::1]:9400", "VIBE-relay.localhost:9400"] {
        let request = Request::get("/api/health").header("host", host).header("origin", format!("http://{host}"));
        assert_eq!(server.send(request.body(Body::empty()).unwrap()).await.status, StatusCode::OK, "{host}");
    }
}

#[tokio::test]
async fn sizes_and_addresses_are_bounded() {
    let server = TestServer::new().await;
    server.task(&server.project().await).await;
    let before = server.state.db.latest();
    let long = "x".repeat(1024 * 1024);
    let comments = "/api/tasks/TASK-001/comments";
    let announced = server.call("post", comments, &format!("{{\"content\": \"{long}\"}}")).await;
    assert_eq!((announced.status, announced.json()["code"].as_str()), (StatusCode::PAYLOAD_TOO_LARGE, Some("too-large")));

    let chunks = futures_util::stream::iter((0..3).map(move |_| Ok::<_, std::io::Error>("x".repeat(500_000))));
    let token = format!("Bearer {TOKEN}");
    let streamed =
        request("POST", comments).header("authorization", &token).header("content-type", "application/json").header("transfer-encoding", "chunked");
    let streamed = server.send(streamed.body(Body::from_stream(chunks)).unwrap()).await;
    assert_eq!(streamed.json()["code"], "too-large");

    let title = server.call("post", "/api/projects/PROJ-001/tasks", &format!("{{\"title\": \"{}\"}}", "x".repeat(900_000))).await;
    assert_eq!((title.status, title.json()["code"].as_str()), (StatusCode::UNPROCESSABLE_ENTITY, Some("invalid")));

    for (path, status, code) in [
        (format!("/api/projects?x={}", "x".repeat(9_000)), StatusCode::BAD_REQUEST, "bad-address"),
        ("/api/tasks/TASK-001%00".to_owned(), StatusCode::BAD_REQUEST, "bad-address"),
        ("/api/repository?path=/a%00x".to_owned(), StatusCode::BAD_REQUEST, "bad-address"),
        ("/api/tasks/%ff".to_owned(), StatusCode::BAD_REQUEST, "bad-address"),
        ("/api/tasks/..%2f..%2fetc".to_owned(), StatusCode::NOT_FOUND, "not-found"),
        ("/api/tasks/PROJ-001".to_owned(), StatusCode::NOT_FOUND, "not-found"),
        ("/api/events?after=yesterday".to_owned(), StatusCode::UNPROCESSABLE_ENTITY, "invalid"),
        ("/api/events?colour=red".to_owned(), StatusCode::UNPROCESSABLE_ENTITY, "invalid"),
        ("/api/repository?path=somewhere".to_owned(), StatusCode::UNPROCESSABLE_ENTITY, "invalid"),
        ("/api/repository".to_owned(), StatusCode::UNPROCESSABLE_ENTITY, "invalid"),
        ("/api/repository?path=/nowhere/at/all".to_owned(), StatusCode::UNPROCESSABLE_ENTITY, "path-missing"),
        ("/api/repository/uncommitted?path=somewhere".to_owned(), StatusCode::UNPROCESSABLE_ENTITY, "invalid"),
        ("/api/repository/uncommitted?path=/nowhere/at/all".to_owned(), StatusCode::UNPROCESSABLE_ENTITY, "path-missing"),
    ] {
        let answer = server.call("get", &path, "").await;
        assert_eq!((answer.status, answer.json()["code"].as_str()), (status, Some(code)), "{}", &path[..path.len().min(60)]);
        assert!(!answer.json()["hint"].as_str().unwrap().is_empty());
    }
    for body in
        [r#"{"title": "a", "repo_path": "/a\u0000b"}"#, r#"{"title": "a\u0000b"}"#, r#"{"title": "a", "repo_path": "/", "base_branch": "a\u0000b"}"#]
    {
        let answer = server.call("post", "/api/projects", body).await;
        assert_eq!((answer.status, answer.json()["code"].as_str()), (StatusCode::UNPROCESSABLE_ENTITY, Some("invalid")), "{body}: {}", answer.text);
    }
    assert_eq!(server.state.db.latest(), before);
}

#[tokio::test]
async fn body_is_optional_only_where_none_is_needed() {
    let server = TestServer::new().await;
    server.task(&server.project().await).await;
    assert_eq!(server.call("post", "/api/tasks/TASK-001/stop", "").await.status, StatusCode::OK);
    assert_eq!(server.call("post", "/api/tasks/TASK-001/start", "{}").await.status, StatusCode::OK);
    let extra = server.call("post", "/api/tasks/TASK-001/start", r#"{"force": true}"#).await;
    assert_eq!((extra.status, extra.json()["code"].as_str()), (StatusCode::UNPROCESSABLE_ENTITY, Some("invalid")));
    let missing = server.call("post", "/api/tasks/TASK-001/comments", "").await;
    assert_eq!((missing.status, missing.json()["code"].as_str()), (StatusCode::BAD_REQUEST, Some("bad-json")));
    let without_move = server.call("patch", "/api/tasks/TASK-001", r#"{"reason": "because"}"#).await;
    assert_eq!(without_move.json()["detail"], "reason: it needs a move");
}

#[tokio::test]
async fn illegal_move_lists_the_legal_moves() {
    let server = TestServer::new().await;
    server.task(&server.project().await).await;
    let answer = server.call("patch", "/api/tasks/TASK-001", r#"{"status": "in_review", "title": "Another"}"#).await;
    assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
    let task = server.call("get", "/api/tasks/TASK-001", "").await.json();
    assert_ne!(task["title"], "Another", "a refused move undoes the edit beside it");
    insta::assert_snapshot!(serde_json::to_string_pretty(&answer.json()).unwrap());
}
