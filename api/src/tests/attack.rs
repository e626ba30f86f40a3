//! What a hostile page, a rebound name, an agent or a careless program can do: nothing.

use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use db::Caller;
use domain::board::status::Status;
use domain::runs::agent_kind::AgentKind;
use domain::team::role::Role;

use super::bench::{Bench, HOST, TOKEN};
use crate::{Access, ROUTES, Route};

const HOSTS: [Option<&str>; 12] = [
    Some(HOST),
    Some("localhost:9400"),
    Some("[::1]:9400"),
    None,
    Some("127.0.0.1"),
    Some("127.0.0.1:9401"),
    Some("127.0.0.1:09400"),
    Some("127.0.0.1.evil.example:9400"),
    Some("evil.example:9400"),
    Some("localhost.:9400"),
    Some("127.0.0.1:9400@evil.example"),
    Some("0.0.0.0:9400"),
];
const GOOD_HOSTS: usize = 3;

const ORIGINS: [Option<&str>; 9] = [
    None,
    Some("http://127.0.0.1:9400"),
    Some("null"),
    Some("http://127.0.0.1:3000"),
    Some("https://127.0.0.1:9400"),
    Some("http://evil.example"),
    Some("http://127.0.0.1:9400.evil.example"),
    Some("http://localhost"),
    Some("file://"),
];
const GOOD_ORIGINS: usize = 2;

/// Content types of a body; the first is taken.
const CONTENT: [Option<&str>; 6] = [
    Some("application/json"),
    None,
    Some("text/plain"),
    Some("application/x-www-form-urlencoded"),
    Some("multipart/form-data; boundary=x"),
    Some("application/jsonp"),
];

/// A way to say who asks. No `Origin` is sent with it but those above.
struct Credential {
    headers: Vec<(&'static str, String)>,
    /// Whether it is good for what only reads, and for what acts.
    reads: bool,
    acts: bool,
}

/// `strangers` are good tokens that are not the person's.
fn credentials(strangers: &[String]) -> Vec<Credential> {
    let bearer = |token: &str| ("authorization", format!("Bearer {token}"));
    let cookie = || ("cookie", format!("theme=dark; vibe-relay-9400={TOKEN}"));
    let from = |site: &str| vec![cookie(), ("sec-fetch-site", site.to_owned())];
    let good = |headers| Credential { headers, reads: true, acts: true };
    let bad = |headers| Credential { headers, reads: false, acts: false };
    let mut credentials = vec![
        good(vec![bearer(TOKEN)]),
        good(from("same-origin")),
        // Typed into the address bar.
        Credential { headers: from("none"), reads: true, acts: false },
        // A page on another port of this machine.
        bad(from("same-site")),
        bad(from("cross-site")),
        bad(vec![]),
        bad(vec![bearer("wrong")]),
        bad(vec![bearer("wrong"), cookie()]),
        bad(vec![bearer("")]),
        bad(vec![("authorization", TOKEN.to_owned())]),
        bad(vec![("cookie", format!("vibe-relay-9401={TOKEN}"))]),
        bad(vec![("cookie", format!("vibe-relay-9400={}", strangers[0])), ("sec-fetch-site", "same-origin".to_owned())]),
    ];
    credentials.extend(strangers.iter().map(|token| bad(vec![bearer(token)])));
    credentials
}

/// The headers of every request to `route` that must be refused.
fn attacks(route: &Route, strangers: &[String]) -> Vec<Vec<(&'static str, String)>> {
    let acts = route.method != "get";
    let person = route.access == Access::Person;
    let mut attacks = Vec::new();
    for (host_number, host) in HOSTS.iter().enumerate() {
        for (origin_number, origin) in ORIGINS.iter().enumerate() {
            for credential in credentials(strangers) {
                for content in if acts { &CONTENT[..] } else { &CONTENT[..1] } {
                    let at_the_door = host_number >= GOOD_HOSTS || origin_number >= GOOD_ORIGINS;
                    let good = if acts { credential.acts && *content == CONTENT[0] } else { credential.reads };
                    if at_the_door || (person && !good) {
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

/// What the person could send to `path`, so that only the headers are wrong.
fn body(method: &str, path: &str) -> &'static str {
    match (method, path.rsplit('/').next().unwrap_or_default()) {
        ("get", _) => "",
        ("put", _) => r#"{"scope": "global", "enabled": false, "max_minions": 0}"#,
        ("patch", _) | (_, "tasks" | "goals") => r#"{"title": "x"}"#,
        (_, "comments" | "message" | "answer" | "revise") => r#"{"content": "x"}"#,
        (_, "cancel" | "reject-verification") => r#"{"reason": "obsolete"}"#,
        (_, "tokens") => r#"{"agent": "mallory", "roles": ["lead"]}"#,
        (_, "remove") => r#"{"name": "mara"}"#,
        (_, "messages") => r#"{"to": "all", "content": "x"}"#,
        (_, "handshakes") => r#"{"message": "x"}"#,
        (_, "contracts") => r#"{"name": "x", "type": "other", "spec": "x"}"#,
        (_, "assign") => r#"{"assigned_to": "mara"}"#,
        (_, "goal") => r#"{"goal_id": null}"#,
        _ => "{}",
    }
}

/// Tokens that open something, and not the interface of the person: a run's, an agent's and a room's.
async fn strangers(bench: &Bench) -> Vec<String> {
    let project = bench.project().await;
    let task = bench.task(&project).await;
    let (run, _) = bench.run(&task.card.id, AgentKind::Coder, Status::Backlog).await;
    let (agent, _) = bench.agent(&project, "mara", &[Role::Lead]).await;
    let room = bench.state.db.create_invite_token(&Caller::Human, &project).await.unwrap();
    vec![run.token, agent, room]
}

#[tokio::test]
async fn no_attack_changes_or_reads_anything() {
    let bench = Bench::new().await;
    let strangers = strangers(&bench).await;
    let before = bench.state.db.latest();
    let mut sent = 0;
    for route in ROUTES {
        let noun = route.path.split('/').nth(2).unwrap_or_default();
        let id = match noun {
            "projects" => "PROJ-001",
            "runs" => "RUN-001",
            "goals" => "GOAL-001",
            "handshakes" | "contracts" => "1",
            _ => "TASK-001",
        };
        let path = route.path.replace("{id}", id).replace("{*path}", "index.html");
        let body = body(route.method, &path);
        for headers in attacks(route, &strangers) {
            sent += 1;
            let mut request = Request::builder().method(route.method.to_uppercase().as_str()).uri(&path).header("content-length", body.len());
            for (name, value) in &headers {
                request = request.header(*name, value);
            }
            let answer = bench.send(request.body(Body::from(body)).unwrap()).await;
            assert!(answer.status.is_client_error(), "{} {path} {headers:?}: {}", route.method, answer.status);
            assert_eq!(answer.header(header::CONTENT_TYPE), "application/problem+json");
            assert!(!answer.text.contains("A page") && !answer.text.contains("footer"), "{}", answer.text);
            assert_eq!(answer.header("access-control-allow-origin"), "");
        }
    }
    assert!(sent > 50_000, "{sent}");
    assert_eq!(bench.state.db.latest(), before, "an attack changed something");
}

fn request(method: &str, path: &str) -> axum::http::request::Builder {
    Request::builder().method(method).uri(path).header(header::HOST, HOST)
}

#[tokio::test]
async fn a_signed_in_browser_is_let_in_and_an_agent_is_told_why_not() {
    let bench = Bench::new().await;
    let strangers = strangers(&bench).await;
    for (name, value) in [("sec-fetch-site", "same-origin"), ("origin", "http://127.0.0.1:9400")] {
        let cookie = format!("vibe-relay-9400={TOKEN}");
        let body = Body::from(r#"{"content": "Hello"}"#);
        let comment =
            request("POST", "/api/tasks/TASK-001/comments").header("cookie", &cookie).header("content-type", "application/json; charset=utf-8");
        assert_eq!(bench.send(comment.header(name, value).body(body).unwrap()).await.status, StatusCode::CREATED, "{name}");
    }
    for token in strangers {
        let agent = request("GET", "/api/projects").header("authorization", format!("bearer {token}")).body(Body::empty()).unwrap();
        let answer = bench.send(agent).await;
        assert_eq!((answer.status, answer.json()["code"].as_str()), (StatusCode::FORBIDDEN, Some("human-only")));
    }
    let nobody = bench.send(request("GET", "/api/projects").body(Body::empty()).unwrap()).await;
    assert_eq!((nobody.status, nobody.header("www-authenticate")), (StatusCode::UNAUTHORIZED, "Bearer"));
}

#[tokio::test]
async fn sizes_and_addresses_are_bounded() {
    let bench = Bench::new().await;
    bench.task(&bench.project().await).await;
    let before = bench.state.db.latest();
    let long = "x".repeat(1024 * 1024);
    let comments = "/api/tasks/TASK-001/comments";
    let announced = bench.ask("post", comments, &format!("{{\"content\": \"{long}\"}}")).await;
    assert_eq!((announced.status, announced.json()["code"].as_str()), (StatusCode::PAYLOAD_TOO_LARGE, Some("too-large")));

    let chunks = futures_util::stream::iter((0..3).map(move |_| Ok::<_, std::io::Error>("x".repeat(500_000))));
    let token = format!("Bearer {TOKEN}");
    let streamed =
        request("POST", comments).header("authorization", &token).header("content-type", "application/json").header("transfer-encoding", "chunked");
    let streamed = bench.send(streamed.body(Body::from_stream(chunks)).unwrap()).await;
    assert_eq!(streamed.json()["code"], "too-large");

    let title = bench.ask("post", "/api/projects/PROJ-001/tasks", &format!("{{\"title\": \"{}\"}}", "x".repeat(900_000))).await;
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
    ] {
        let answer = bench.ask("get", &path, "").await;
        assert_eq!((answer.status, answer.json()["code"].as_str()), (status, Some(code)), "{}", &path[..path.len().min(60)]);
        assert!(!answer.json()["hint"].as_str().unwrap().is_empty());
    }
    for body in
        [r#"{"title": "a", "repo_path": "/a\u0000b"}"#, r#"{"title": "a\u0000b"}"#, r#"{"title": "a", "repo_path": "/", "base_branch": "a\u0000b"}"#]
    {
        let answer = bench.ask("post", "/api/projects", body).await;
        assert_eq!((answer.status, answer.json()["code"].as_str()), (StatusCode::UNPROCESSABLE_ENTITY, Some("invalid")), "{body}: {}", answer.text);
    }
    assert_eq!(bench.state.db.latest(), before);
}

#[tokio::test]
async fn a_program_may_leave_out_the_body_where_none_is_needed_and_nothing_else() {
    let bench = Bench::new().await;
    bench.task(&bench.project().await).await;
    assert_eq!(bench.ask("post", "/api/tasks/TASK-001/stop", "").await.status, StatusCode::OK);
    assert_eq!(bench.ask("post", "/api/tasks/TASK-001/start", "{}").await.status, StatusCode::OK);
    let extra = bench.ask("post", "/api/tasks/TASK-001/start", r#"{"force": true}"#).await;
    assert_eq!((extra.status, extra.json()["code"].as_str()), (StatusCode::UNPROCESSABLE_ENTITY, Some("invalid")));
    let missing = bench.ask("post", "/api/tasks/TASK-001/comments", "").await;
    assert_eq!((missing.status, missing.json()["code"].as_str()), (StatusCode::BAD_REQUEST, Some("bad-json")));
    let lonely = bench.ask("patch", "/api/tasks/TASK-001", r#"{"reason": "because"}"#).await;
    assert_eq!(lonely.json()["detail"], "reason: it belongs to a move");
}

#[tokio::test]
async fn an_illegal_move_says_what_would_be_legal() {
    let bench = Bench::new().await;
    bench.task(&bench.project().await).await;
    let answer = bench.ask("patch", "/api/tasks/TASK-001", r#"{"status": "in_review"}"#).await;
    assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
    insta::assert_snapshot!(serde_json::to_string_pretty(&answer.json()).unwrap());
}
