//! Replays the cookies of a signed-in browser from a page on another port: they neither read nor change anything.

use axum::body::Body;
use axum::http::{HeaderMap, Request, StatusCode};
use axum_extra::extract::CookieJar;
use domain::team::person::OWNER;

use super::attack::request_to;
use super::support::{Answer, BOARD, HOST, PORT, TOKEN, TestServer, routes};
use crate::openapi::Access;

type Headers = Vec<(&'static str, String)>;

/// Signs a browser in as a person does, and returns the value of its `Cookie` header.
async fn signed_in(server: &TestServer) -> String {
    let link = server.state.sign_in.link(PORT, OWNER);
    let path = link.strip_prefix(&format!("http://{BOARD}")).unwrap();
    let headers = [("host", BOARD), ("sec-fetch-site", "none"), ("sec-fetch-mode", "navigate"), ("user-agent", "Firefox")];
    let request = headers.iter().fold(Request::get(path), |request, (name, value)| request.header(*name, *value));
    let answer = server.send(request.body(Body::empty()).unwrap()).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER);
    let cookies: Vec<&str> = answer.headers.get_all("set-cookie").iter().map(|cookie| cookie.to_str().unwrap()).collect();
    let attributes: Vec<&str> = cookies.iter().flat_map(|cookie| cookie.split("; ").skip(1)).collect();
    assert_eq!(attributes, ["HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=2592000"], "without Domain, so for this host only");
    cookies.iter().map(|cookie| cookie.split(';').next().unwrap()).collect::<Vec<_>>().join("; ")
}

fn headers(pairs: &[(&'static str, &str)]) -> Headers {
    pairs.iter().map(|(name, value)| (*name, (*value).to_owned())).collect()
}

/// How the whole jar is replayed as it is, and each value of it as a bearer token.
fn credentials(jar: &str) -> Vec<Headers> {
    let mut map = HeaderMap::new();
    map.insert("cookie", jar.parse().unwrap());
    let values: Vec<String> = CookieJar::from_headers(&map).iter().map(|cookie| format!("Bearer {}", cookie.value())).collect();
    assert!(!values.is_empty());
    let mut credentials = vec![headers(&[("cookie", jar)])];
    for value in &values {
        credentials.push(headers(&[("authorization", value)]));
        credentials.push(headers(&[("authorization", value), ("cookie", jar)]));
    }
    credentials
}

/// The headers that a browser adds to the requests of a page on another port, to each of the server's names.
fn foreign_pages() -> Vec<Headers> {
    let mut pages = Vec::new();
    for host in [BOARD, HOST] {
        for site in ["same-site", "cross-site"] {
            for origin in [None, Some("http://vibe-relay.localhost:9401"), Some("http://127.0.0.1:9401"), Some("null")] {
                let mut page = headers(&[("host", host), ("sec-fetch-site", site), ("content-type", "application/json")]);
                page.extend(origin.map(|origin| ("origin", origin.to_owned())));
                pages.push(page);
            }
        }
    }
    pages
}

/// Replays `jar` from each of `pages` against every route, and returns how many requests that were.
async fn replay(server: &TestServer, jar: &str, pages: &[Headers]) -> usize {
    let before = server.state.db.latest();
    let mut sent = 0;
    for route in routes().into_iter().filter(|route| route.access == Access::Person) {
        for page in pages {
            for credential in credentials(jar) {
                let headers: Headers = page.iter().cloned().chain(credential).collect();
                let answer = server.send(request_to(&route, &headers)).await;
                let refused = matches!(answer.status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
                assert!(refused, "{} {} {headers:?}: {} {}", route.method, route.path, answer.status, answer.text);
                sent += 1;
            }
        }
    }
    assert_eq!(server.state.db.latest(), before, "a replayed cookie changed something");
    sent
}

fn own_page() -> Headers {
    let origin = format!("http://{BOARD}");
    headers(&[("host", BOARD), ("sec-fetch-site", "same-origin"), ("origin", &origin), ("content-type", "application/json")])
}

async fn comment(server: &TestServer, jar: &str) -> Answer {
    let route = routes().into_iter().find(|route| route.method == "post" && route.path.ends_with("/comments")).unwrap();
    let mut headers = own_page();
    headers.push(("cookie", jar.to_owned()));
    server.send(request_to(&route, &headers)).await
}

#[tokio::test]
async fn cookie_jar_replayed_by_another_page_does_nothing() {
    let server = TestServer::new().await;
    server.task(&server.project().await).await;
    let jar = signed_in(&server).await;
    assert!(!jar.contains(TOKEN));
    assert_eq!(comment(&server, &jar).await.status, StatusCode::CREATED, "the board's own page works");
    let sent = replay(&server, &jar, &foreign_pages()).await;
    assert!(sent > 2_000, "{sent}");
    // Under the server's other names even the headers of the own page do not help.
    let renamed: Headers = own_page().into_iter().map(|(name, value)| (name, value.replace(BOARD, HOST))).collect();
    replay(&server, &jar, &[renamed]).await;
    assert_eq!(comment(&server, &jar).await.status, StatusCode::CREATED, "the session is untouched");
}

#[tokio::test]
async fn revoked_and_rotated_sessions_do_nothing_even_on_the_own_page() {
    let server = TestServer::new().await;
    server.task(&server.project().await).await;
    let (revoked, rotated) = (signed_in(&server).await, signed_in(&server).await);
    assert_eq!(comment(&server, &revoked).await.status, StatusCode::CREATED);
    assert_eq!(server.call("delete", "/api/sessions/1", "").await.status, StatusCode::NO_CONTENT);
    replay(&server, &revoked, &[own_page()]).await;
    assert_eq!(comment(&server, &rotated).await.status, StatusCode::CREATED);
    assert_eq!(server.call("post", "/api/token/rotate", "").await.json()["revoked_sessions"], 1);
    replay(&server, &rotated, &[own_page()]).await;
    assert_eq!(server.call("get", "/api/projects", "").await.status, StatusCode::UNAUTHORIZED, "the old token");
}
