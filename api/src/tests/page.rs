//! The board's files, addresses that nothing has, and the headers on everything.

use axum::body::Body;
use axum::http::{Request, StatusCode};

use super::bench::{Answer, Bench, HOST, TOKEN};

async fn get(bench: &Bench, path: &str, headers: &[(&str, &str)]) -> Answer {
    let mut request = Request::builder().uri(path).header("host", HOST);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    bench.send(request.body(Body::empty()).unwrap()).await
}

#[tokio::test]
async fn every_place_of_the_board_is_the_page_and_nothing_below_the_interface_is() {
    let bench = Bench::new().await;
    for path in ["/", "/projects/PROJ-001", "/projects/PROJ-001/tasks/TASK-001", "/apiary", "/settings"] {
        let answer = get(&bench, path, &[]).await;
        assert_eq!((answer.status, answer.header("content-type")), (StatusCode::OK, "text/html; charset=utf-8"), "{path}");
        assert_eq!(answer.header("cache-control"), "no-cache");
    }
    for path in ["/api", "/api/", "/api/nothing", "/mcp", "/mcp/x", "/.well-known/oauth-authorization-server", "/assets/old-0123.js", "/demo/"] {
        for method in ["GET", "POST", "DELETE"] {
            let answer = bench.send(Request::builder().method(method).uri(path).header("host", HOST).body(Body::empty()).unwrap()).await;
            assert_eq!((answer.status, answer.header("content-type")), (StatusCode::NOT_FOUND, "application/problem+json"), "{method} {path}");
        }
    }
}

#[tokio::test]
async fn a_wrong_method_is_told_the_right_ones() {
    let bench = Bench::new().await;
    for (method, path, allowed) in [("DELETE", "/api/projects", "GET,HEAD,POST"), ("POST", "/", "GET, HEAD"), ("PUT", "/api/health", "GET,HEAD")] {
        let token = format!("Bearer {TOKEN}");
        let request = Request::builder().method(method).uri(path).header("host", HOST).header("authorization", token).body(Body::empty()).unwrap();
        let answer = bench.send(request).await;
        assert_eq!((answer.status, answer.header("allow")), (StatusCode::METHOD_NOT_ALLOWED, allowed), "{method} {path}");
        assert_eq!(answer.json()["code"], "method-not-allowed");
    }
}

#[tokio::test]
async fn a_browser_asks_again_and_is_told_that_nothing_changed() {
    let bench = Bench::new().await;
    let first = get(&bench, "/", &[]).await;
    let etag = first.header("etag").to_owned();
    let again = get(&bench, "/", &[("if-none-match", &format!("\"other\", {etag}"))]).await;
    assert_eq!((again.status, again.text.as_str()), (StatusCode::NOT_MODIFIED, ""));
    assert_eq!(get(&bench, "/", &[("if-none-match", "\"other\"")]).await.status, StatusCode::OK);
    assert_eq!(first.header("vary"), "Accept-Encoding");
}

#[tokio::test]
async fn every_answer_is_a_safe_one() {
    let bench = Bench::new().await;
    for (path, headers) in [("/", &[][..]), ("/api/health", &[]), ("/api/projects", &[]), ("/", &[("origin", "http://evil.example")])] {
        let answer = get(&bench, path, headers).await;
        assert_eq!((answer.header("x-content-type-options"), answer.header("referrer-policy")), ("nosniff", "no-referrer"), "{path}");
        insta::allow_duplicates! {
            insta::assert_snapshot!(answer.header("content-security-policy"), @"default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; img-src 'self' data:; style-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'");
        }
    }
    assert_eq!(get(&bench, "/api/health", &[]).await.header("cache-control"), "no-store");
}

#[tokio::test]
async fn a_used_link_says_so_unless_the_browser_is_in_already() {
    let bench = Bench::new().await;
    let link = format!("/sign-in?code={}", bench.state.sign_in.code());
    let first = get(&bench, &link, &[]).await;
    assert_eq!(first.status, StatusCode::SEE_OTHER);
    let cookie = first.header("set-cookie").split(';').next().unwrap().to_owned();
    let second = get(&bench, &link, &[]).await;
    assert_eq!((second.status, second.header("set-cookie")), (StatusCode::UNAUTHORIZED, ""));
    assert!(second.text.contains("not good any more"));
    assert_eq!(get(&bench, &link, &[("cookie", &cookie)]).await.status, StatusCode::SEE_OTHER);
    assert_eq!(get(&bench, "/api/projects", &[("cookie", &cookie)]).await.status, StatusCode::OK);
}

#[tokio::test]
async fn what_is_mounted_stands_behind_the_same_door() {
    let bench = Bench::new().await;
    let echo = axum::routing::post(async |body: String| body).layer(axum::extract::DefaultBodyLimit::disable());
    let mounted = axum::Router::new().route("/mcp", echo);
    let router = crate::router(bench.state.clone(), mounted);
    let send = |host: &'static str, body: String| {
        let request = Request::builder().method("POST").uri("/mcp").header("host", host).body(Body::from(body)).unwrap();
        tower::ServiceExt::oneshot(router.clone(), request)
    };
    assert_eq!(send(HOST, "hello".into()).await.unwrap().status(), StatusCode::OK, "its token is its own business");
    assert_eq!(send("evil.example", "hello".into()).await.unwrap().status(), StatusCode::FORBIDDEN);
    let large = send(HOST, "x".repeat(1024 * 1024 + 1)).await.unwrap();
    assert_eq!(
        (large.status(), large.headers()["cache-control"].as_bytes()),
        (StatusCode::OK, &b"no-store"[..]),
        "what is too long is refused inside"
    );
    let too_large = "x".repeat(4 * 1024 * 1024 + 1);
    assert_eq!(send(HOST, too_large.clone()).await.unwrap().status(), StatusCode::PAYLOAD_TOO_LARGE);
    let announced = Request::post("/mcp").header("host", HOST).header("content-length", too_large.len()).body(Body::from(too_large)).unwrap();
    let refused = tower::ServiceExt::oneshot(router.clone(), announced).await.unwrap();
    assert_eq!((refused.status(), refused.headers()["content-type"].as_bytes()), (StatusCode::PAYLOAD_TOO_LARGE, &b"application/problem+json"[..]));
}
