//! A phone is paired under an allowed host, and only its own page can use its session.

use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use domain::config::Config;
use domain::config::live::LiveConfig;
use domain::team::browser_session::{SESSION_KEY_FRAGMENT, SESSION_KEY_HEADER};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::support::{Answer, Session, TestServer};

const PHONE: &str = "desk.example.org:8443";

async fn server(hosts: &[&str]) -> TestServer {
    TestServer::with(|state| {
        let config = Config { allowed_hosts: hosts.iter().map(|host| (*host).to_owned()).collect(), ..state.config.borrow().config.clone() };
        state.config = watch::Sender::new(LiveConfig { config, notice: None }).subscribe();
    })
    .await
}

async fn pair(server: &TestServer, body: Value) -> Answer {
    server.call("post", "/api/pairings", &body.to_string()).await
}

async fn send(server: &TestServer, method: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
    let request = headers.iter().fold(Request::builder().method(method).uri(path), |request, (name, value)| request.header(*name, *value));
    server.send(request.body(Body::empty()).unwrap()).await
}

/// Opens a link as the phone does.
async fn open(server: &TestServer, link: &str) -> Answer {
    let path = link.split_once(PHONE).unwrap().1;
    send(server, "GET", path, &[("host", PHONE), ("sec-fetch-site", "none"), ("sec-fetch-mode", "navigate")]).await
}

#[tokio::test]
async fn phone_signs_in_once_and_is_revoked_by_its_name() {
    let server = server(&[PHONE]).await;
    let made = pair(&server, json!({"device": "Ann's phone"})).await.json();
    let link = made["link"].as_str().unwrap();
    assert!(link.starts_with("https://desk.example.org:8443/sign-in?code="), "{link}");
    assert!(made["svg"].as_str().unwrap().contains("<svg") && made["text"].as_str().unwrap().lines().count() > 15);

    let signed_in = open(&server, link).await;
    let Session { cookie, key } = Session::of_answer(&signed_in);
    assert_eq!(signed_in.header(header::LOCATION), format!("/needs-you#{SESSION_KEY_FRAGMENT}{key}"));
    let attributes = signed_in.header(header::SET_COOKIE).strip_prefix(&cookie).unwrap();
    assert_eq!(attributes, "; HttpOnly; SameSite=Strict; Secure; Path=/; Max-Age=2592000");
    assert_eq!(open(&server, link).await.status, StatusCode::UNAUTHORIZED, "the link works once");

    let own = [("host", PHONE), ("cookie", &cookie), (SESSION_KEY_HEADER, &key), ("sec-fetch-site", "same-origin")];
    assert_eq!(send(&server, "GET", "/api/sessions", &[own[0], own[1], own[3]]).await.status, StatusCode::UNAUTHORIZED, "the cookie alone");
    let listed = send(&server, "GET", "/api/sessions", &own).await.json();
    assert_eq!((&listed["items"][0]["id"], &listed["items"][0]["device"]), (&json!(1), &json!("Ann's phone")));
    let page = send(&server, "GET", "/needs-you", &[("host", PHONE), ("sec-fetch-mode", "navigate")]).await;
    assert_ne!(page.status, StatusCode::TEMPORARY_REDIRECT, "the phone stays at its address");
    assert_eq!(server.call("delete", "/api/sessions/1", "").await.status, StatusCode::NO_CONTENT);
    assert_eq!(send(&server, "GET", "/api/sessions", &own).await.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn session_of_a_phone_acts_only_from_its_own_page() {
    let server = server(&[PHONE, "desk.lan"]).await;
    let link = pair(&server, json!({"host": PHONE})).await.json()["link"].as_str().unwrap().to_owned();
    let Session { cookie, key } = Session::of_answer(&open(&server, &link).await);
    let status = async |host: &str, origin: &str, site: &str| {
        let headers = [("host", host), ("origin", origin), ("cookie", &cookie), (SESSION_KEY_HEADER, &key), ("sec-fetch-site", site)];
        send(&server, "GET", "/api/sessions", &headers).await.status
    };
    assert_eq!(status(PHONE, "https://desk.example.org:8443", "same-origin").await, StatusCode::OK);
    let foreign = [
        (PHONE, "http://desk.example.org:8443", "same-origin"),
        (PHONE, "https://desk.lan", "same-origin"),
        (PHONE, "https://evil.example", "cross-site"),
        (PHONE, "https://desk.example.org:8443", "same-site"),
        (PHONE, "null", "same-origin"),
        ("desk.example.org", "https://desk.example.org", "same-origin"),
        ("desk.example.org:8443.evil.example", "https://desk.example.org:8443.evil.example", "same-origin"),
        ("127.0.0.1:9400", "https://desk.example.org:8443", "same-origin"),
        ("evil.example", "https://evil.example", "same-origin"),
    ];
    for (host, origin, site) in foreign {
        assert_eq!(status(host, origin, site).await, StatusCode::FORBIDDEN, "{host} {origin} {site}");
    }
}

#[tokio::test]
async fn pairing_needs_a_configured_host_and_a_choice_among_several() {
    let none = pair(&server(&[]).await, json!({})).await;
    assert_eq!((none.status, &none.json()["code"]), (StatusCode::UNPROCESSABLE_ENTITY, &json!("no-allowed-host")));
    assert!(none.json()["hint"].as_str().unwrap().contains("allowed_hosts"));
    let several = server(&[PHONE, "desk.lan"]).await;
    assert_eq!(pair(&several, json!({})).await.json()["code"], "which-host");
    assert_eq!(pair(&several, json!({"host": "evil.example"})).await.json()["code"], "other-host");
    let made = pair(&several, json!({"host": "DESK.lan"})).await.json();
    assert_eq!((&made["host"], &made["device"]), (&json!("desk.lan"), &json!("Phone")));
}
