//! The board's files, unknown addresses, sign-in links, and the headers of every response.

use axum::body::Body;
use axum::http::{Request, StatusCode};
use db::Caller;
use domain::team::browser_session::SESSION_KEY_HEADER;
use domain::team::person::OWNER;

use super::support::{Answer, BOARD, HOST, PORT, Session, TOKEN, TestServer};

async fn get(server: &TestServer, path: &str, headers: &[(&str, &str)]) -> Answer {
    let mut request = Request::builder().uri(path).header("host", HOST);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    server.send(request.body(Body::empty()).unwrap()).await
}

#[tokio::test]
async fn board_addresses_serve_the_page_and_reserved_prefixes_do_not() {
    let server = TestServer::new().await;
    for path in ["/", "/projects/PROJ-001", "/projects/PROJ-001/tasks/TASK-001", "/apiary", "/settings"] {
        let answer = get(&server, path, &[]).await;
        assert_eq!((answer.status, answer.header("content-type")), (StatusCode::OK, "text/html; charset=utf-8"), "{path}");
        assert_eq!(answer.header("cache-control"), "no-cache");
    }
    for path in ["/api", "/api/", "/api/nothing", "/mcp", "/mcp/x", "/.well-known/oauth-authorization-server", "/assets/old-0123.js", "/demo/"] {
        for method in ["GET", "POST", "DELETE"] {
            let answer = server.send(Request::builder().method(method).uri(path).header("host", HOST).body(Body::empty()).unwrap()).await;
            assert_eq!((answer.status, answer.header("content-type")), (StatusCode::NOT_FOUND, "application/problem+json"), "{method} {path}");
        }
    }
}

#[tokio::test]
async fn wrong_method_lists_the_allowed_ones() {
    let server = TestServer::new().await;
    for (method, path, allowed) in [("DELETE", "/api/projects", "GET,HEAD,POST"), ("POST", "/", "GET, HEAD"), ("PUT", "/api/health", "GET,HEAD")] {
        let token = format!("Bearer {TOKEN}");
        let request = Request::builder().method(method).uri(path).header("host", HOST).header("authorization", token).body(Body::empty()).unwrap();
        let answer = server.send(request).await;
        assert_eq!((answer.status, answer.header("allow")), (StatusCode::METHOD_NOT_ALLOWED, allowed), "{method} {path}");
        assert_eq!(answer.json()["code"], "method-not-allowed");
    }
}

#[tokio::test]
async fn unchanged_page_is_not_sent_again() {
    let server = TestServer::new().await;
    let first = get(&server, "/", &[]).await;
    let etag = first.header("etag").to_owned();
    let again = get(&server, "/", &[("if-none-match", &format!("\"other\", {etag}"))]).await;
    assert_eq!((again.status, again.text.as_str()), (StatusCode::NOT_MODIFIED, ""));
    assert_eq!(get(&server, "/", &[("if-none-match", "\"other\"")]).await.status, StatusCode::OK);
    assert_eq!(first.header("vary"), "Accept-Encoding");
}

#[tokio::test]
async fn every_response_has_security_headers() {
    let server = TestServer::new().await;
    for (path, headers) in [("/", &[][..]), ("/api/health", &[]), ("/api/projects", &[]), ("/", &[("origin", "http://evil.example")])] {
        let answer = get(&server, path, headers).await;
        assert_eq!((answer.header("x-content-type-options"), answer.header("referrer-policy")), ("nosniff", "no-referrer"), "{path}");
        insta::allow_duplicates! {
            insta::assert_snapshot!(answer.header("content-security-policy"), @"default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; img-src 'self' data: blob:; style-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'");
        }
    }
    assert_eq!(get(&server, "/api/health", &[]).await.header("cache-control"), "no-store");
}

/// Sends GET as the browser does that opens an address or runs the board's page.
async fn browse(server: &TestServer, path: &str, headers: &[(&'static str, &str)]) -> Answer {
    let mut request = Request::get(path).header("host", BOARD).header("sec-fetch-site", "same-origin");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    server.send(request.body(Body::empty()).unwrap()).await
}

fn path_of(link: &str) -> &str {
    link.strip_prefix("http://vibe-relay.localhost:9400").unwrap()
}

#[tokio::test]
async fn used_link_leads_a_browser_with_a_session_to_the_board_and_is_refused_otherwise() {
    let server = TestServer::new().await;
    let link = server.state.sign_in.link(PORT, OWNER);
    let link = path_of(&link);
    let first = browse(&server, link, &[("user-agent", "Firefox")]).await;
    let session = Session::of_answer(&first);
    let (Session { cookie, key }, location) = (&session, first.header("location"));
    assert!(location.starts_with("/#") && !format!("{cookie}{key}").contains(TOKEN), "{cookie} {location}");
    let second = browse(&server, link, &[]).await;
    assert_eq!((second.status, second.header("set-cookie")), (StatusCode::UNAUTHORIZED, ""));
    assert_eq!(second.text, browse(&server, "/", &[]).await.text, "the page explains it");
    // A navigation has the cookie alone, which opens nothing.
    let again = browse(&server, link, &[("cookie", cookie)]).await;
    assert_eq!((again.status, again.header("location"), again.header("set-cookie")), (StatusCode::SEE_OTHER, "/", ""));
    assert_eq!(browse(&server, "/api/projects", &[("cookie", cookie)]).await.status, StatusCode::UNAUTHORIZED);
    assert_eq!(browse(&server, "/api/projects", &[("cookie", cookie), (SESSION_KEY_HEADER, key)]).await.status, StatusCode::OK);
    let refused = server.call("get", "/api/audit?kind=authentication", "").await.json();
    let refused = refused["items"].as_array().unwrap().iter().find(|row| row["action"] == "GET /sign-in").unwrap();
    assert_eq!(refused["count"], 2, "both uses of the used link are recorded");
    let sessions = server.state.db.browser_sessions(&Caller::owner()).await.unwrap();
    assert_eq!(sessions.iter().map(|session| session.user_agent.as_deref()).collect::<Vec<_>>(), [Some("Firefox")]);
}

#[tokio::test]
async fn head_does_not_use_a_sign_in_link_up() {
    let server = TestServer::new().await;
    let link = server.state.sign_in.link(PORT, OWNER);
    let link = path_of(&link);
    let head = |link: &str| Request::head(link).header("host", BOARD).body(Body::empty()).unwrap();
    for _ in 0..2 {
        let answer = server.send(head(link)).await;
        assert_eq!((answer.status, answer.header("location"), answer.header("set-cookie")), (StatusCode::SEE_OTHER, "/", ""));
    }
    assert_eq!(server.send(head("/sign-in?code=unknown")).await.status, StatusCode::UNAUTHORIZED);
    let opened = browse(&server, link, &[]).await;
    assert_eq!(opened.status, StatusCode::SEE_OTHER);
    assert!(opened.header("set-cookie").starts_with("vibe-relay-9400="));
    assert_eq!(server.send(head(link)).await.status, StatusCode::UNAUTHORIZED, "now it is used");
}

#[tokio::test]
async fn other_names_lead_a_browser_to_the_boards() {
    let server = TestServer::new().await;
    let link = server.state.sign_in.link(PORT, OWNER);
    let redirected = get(&server, path_of(&link), &[]).await;
    assert_eq!((redirected.status, redirected.header("location"), redirected.header("set-cookie")), (StatusCode::SEE_OTHER, link.as_str(), ""));
    let guessed = get(&server, "/sign-in?code=a%0d%0ab", &[]).await;
    assert_eq!(guessed.header("location"), "http://vibe-relay.localhost:9400/sign-in?code=");
    assert!(browse(&server, path_of(&link), &[]).await.header("set-cookie").starts_with("vibe-relay-9400="), "the redirect did not use it up");

    let page = get(&server, "/projects/PROJ-001?tab=goals", &[("sec-fetch-mode", "navigate")]).await;
    let board = "http://vibe-relay.localhost:9400/projects/PROJ-001?tab=goals";
    assert_eq!((page.status, page.header("location")), (StatusCode::TEMPORARY_REDIRECT, board));
    let program = get(&server, "/projects/PROJ-001?tab=goals", &[]).await;
    assert_eq!(program.header("location"), "", "programs are not redirected");
    assert_eq!(browse(&server, "/", &[("sec-fetch-mode", "navigate")]).await.header("location"), "");
}

#[tokio::test]
async fn mounted_router_has_the_same_request_checks() {
    let server = TestServer::new().await;
    let echo = axum::routing::post(async |body: String| body).layer(axum::extract::DefaultBodyLimit::disable());
    let mounted = axum::Router::new().route("/mcp", echo);
    let router = crate::router(server.state.clone(), mounted);
    let send = |host: &'static str, body: String| {
        let request = Request::builder().method("POST").uri("/mcp").header("host", host).body(Body::from(body)).unwrap();
        tower::ServiceExt::oneshot(router.clone(), request)
    };
    assert_eq!(send(HOST, "hello".into()).await.unwrap().status(), StatusCode::OK, "the mounted router checks its own tokens");
    assert_eq!(send("evil.example", "hello".into()).await.unwrap().status(), StatusCode::FORBIDDEN);
    let large = send(HOST, "x".repeat(1024 * 1024 + 1)).await.unwrap();
    assert_eq!(
        (large.status(), large.headers()["cache-control"].as_bytes()),
        (StatusCode::OK, &b"no-store"[..]),
        "the mounted router refuses it itself"
    );
    let too_large = "x".repeat(4 * 1024 * 1024 + 1);
    assert_eq!(send(HOST, too_large.clone()).await.unwrap().status(), StatusCode::PAYLOAD_TOO_LARGE);
    let announced = Request::post("/mcp").header("host", HOST).header("content-length", too_large.len()).body(Body::from(too_large)).unwrap();
    let refused = tower::ServiceExt::oneshot(router.clone(), announced).await.unwrap();
    assert_eq!((refused.status(), refused.headers()["content-type"].as_bytes()), (StatusCode::PAYLOAD_TOO_LARGE, &b"application/problem+json"[..]));
}
