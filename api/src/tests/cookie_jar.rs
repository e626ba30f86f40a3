//! Replays the cookies of a signed-in browser, which a page or an app on another port receives: they neither read nor change anything, also not
//! with every header forged, because the session key is not among them.

use axum::body::Body;
use axum::http::{HeaderMap, Request, StatusCode};
use axum_extra::extract::CookieJar;
use domain::team::browser_session::SESSION_KEY_HEADER;
use domain::team::person::OWNER;

use super::attack::request_to;
use super::support::{Answer, BOARD, HOST, PORT, Session, TOKEN, TestServer, routes};
use crate::openapi::Access;

type Headers = Vec<(&'static str, String)>;

/// Signs a browser in as a person does.
async fn signed_in(server: &TestServer) -> Session {
    let link = server.state.sign_in.link(PORT, OWNER);
    let path = link.strip_prefix(&format!("http://{BOARD}")).unwrap();
    let headers = [("host", BOARD), ("sec-fetch-site", "none"), ("sec-fetch-mode", "navigate"), ("user-agent", "Firefox")];
    let request = headers.iter().fold(Request::get(path), |request, (name, value)| request.header(*name, *value));
    let answer = server.send(request.body(Body::empty()).unwrap()).await;
    let cookies: Vec<&str> = answer.headers.get_all("set-cookie").iter().map(|cookie| cookie.to_str().unwrap()).collect();
    let attributes: Vec<&str> = cookies.iter().flat_map(|cookie| cookie.split("; ").skip(1)).collect();
    assert_eq!(attributes, ["HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=2592000"], "one cookie without Domain, so for this host only");
    let session = Session::of_answer(&answer);
    assert!(!answer.header("set-cookie").contains(&session.key), "the key is in no cookie");
    session
}

fn headers(pairs: &[(&'static str, &str)]) -> Headers {
    pairs.iter().map(|(name, value)| (*name, (*value).to_owned())).collect()
}

/// The attempts of someone who has the cookies of a session and the key of another one: the cookies alone, each value as a bearer token, and
/// guesses of the key.
fn credentials(session: &Session, other: &Session) -> Vec<Headers> {
    let mut map = HeaderMap::new();
    map.insert("cookie", session.cookie.parse().unwrap());
    let values: Vec<String> = CookieJar::from_headers(&map).iter().map(|cookie| cookie.value().to_owned()).collect();
    assert!(!values.is_empty());
    let jar = || ("cookie", session.cookie.clone());
    let mut credentials = vec![vec![jar()], vec![jar(), (SESSION_KEY_HEADER, String::new())], vec![jar(), (SESSION_KEY_HEADER, other.key.clone())]];
    for value in &values {
        let bearer = || ("authorization", format!("Bearer {value}"));
        credentials.extend([vec![bearer()], vec![bearer(), jar()], vec![jar(), (SESSION_KEY_HEADER, value.clone())]]);
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

/// Sends each of `credentials` with the headers of each of `pages` to every route, and returns how many requests that were.
async fn replay(server: &TestServer, credentials: &[Headers], pages: &[Headers]) -> usize {
    let before = server.state.db.latest();
    let mut sent = 0;
    for route in routes().into_iter().filter(|route| route.access == Access::Person) {
        for page in pages {
            for credential in credentials {
                let headers: Headers = page.iter().chain(credential).cloned().collect();
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

/// The headers of the board's own page, which a program can forge.
fn own_page() -> Headers {
    let origin = format!("http://{BOARD}");
    headers(&[("host", BOARD), ("sec-fetch-site", "same-origin"), ("origin", &origin), ("content-type", "application/json")])
}

async fn comment(server: &TestServer, session: &Session) -> Answer {
    let route = routes().into_iter().find(|route| route.method == "post" && route.path.ends_with("/comments")).unwrap();
    server.send(request_to(&route, &[own_page(), session.headers().into()].concat())).await
}

/// A server with a task, and two sessions of browsers.
async fn board() -> (TestServer, Session, Session) {
    let server = TestServer::new().await;
    server.task(&server.project().await).await;
    let (session, other) = (signed_in(&server).await, signed_in(&server).await);
    (server, session, other)
}

#[tokio::test]
async fn cookies_do_nothing_without_the_key_even_with_every_header_forged() {
    let (server, session, other) = board().await;
    assert!(!session.cookie.contains(TOKEN));
    let sent = replay(&server, &credentials(&session, &other), &[own_page()]).await;
    assert!(sent > 500, "{sent}");
    for session in [&session, &other] {
        assert_eq!(comment(&server, session).await.status, StatusCode::CREATED, "the board's own page works");
    }
}

#[tokio::test]
async fn session_replayed_by_another_page_does_nothing() {
    let (server, session, other) = board().await;
    let mut credentials = credentials(&session, &other);
    // Pages of others are refused even if they could know the key.
    credentials.push(session.headers().into());
    let sent = replay(&server, &credentials, &foreign_pages()).await;
    assert!(sent > 2_000, "{sent}");
    // Under the server's other names even the headers of the own page do not help.
    let renamed: Headers = own_page().into_iter().map(|(name, value)| (name, value.replace(BOARD, HOST))).collect();
    replay(&server, &credentials, &[renamed]).await;
    assert_eq!(comment(&server, &session).await.status, StatusCode::CREATED, "the session is untouched");
}

#[tokio::test]
async fn revoked_and_rotated_sessions_do_nothing_even_on_the_own_page() {
    let (server, revoked, rotated) = board().await;
    assert_eq!(comment(&server, &revoked).await.status, StatusCode::CREATED);
    assert_eq!(server.call("delete", "/api/sessions/1", "").await.status, StatusCode::NO_CONTENT);
    replay(&server, &[revoked.headers().into()], &[own_page()]).await;
    assert_eq!(comment(&server, &rotated).await.status, StatusCode::CREATED);
    assert_eq!(server.call("post", "/api/token/rotate", "").await.json()["revoked_sessions"], 1);
    replay(&server, &[rotated.headers().into()], &[own_page()]).await;
    assert_eq!(server.call("get", "/api/projects", "").await.status, StatusCode::UNAUTHORIZED, "the old token");
}
