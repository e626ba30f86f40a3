//! Tokens at the HTTP interface: which are accepted until when, bad input about them, and rate limits.

use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use db::{Caller, token_name};
use domain::rate_limit::RateLimits;
use domain::team::person::{NewPerson, PersonRole};
use domain::team::token::TokenAudience;
use domain::wire::NewPersonToken;
use serde_json::json;

use super::support::{Answer, HOST, TestServer};

async fn get(server: &TestServer, path: &str, token: &str) -> Answer {
    let request = Request::builder().uri(path).header(header::HOST, HOST).header(header::AUTHORIZATION, format!("Bearer {token}"));
    server.send(request.body(Body::empty()).unwrap()).await
}

#[tokio::test]
async fn token_for_tools_or_past_its_end_opens_no_route() {
    let server = TestServer::new().await;
    let owner = Caller::owner();
    let ann = server.state.db.add_person(&owner, NewPerson { name: "ann".to_owned(), role: Some(PersonRole::Member) }).await.unwrap().id;
    let make = async |audience, expires_in| {
        let given = NewPersonToken { audience: Some(audience), expires_in };
        server.state.db.create_person_token(&owner, ann, given).await.unwrap()
    };
    let answer = get(&server, "/api/projects", &make(TokenAudience::Mcp, None).await).await;
    assert_eq!((answer.status, answer.json()["code"].as_str()), (StatusCode::FORBIDDEN, Some("token-audience")));
    let token = make(TokenAudience::Api, Some(1)).await;
    let answer = loop {
        let answer = get(&server, "/api/projects", &token).await;
        if answer.status != StatusCode::OK {
            break answer;
        }
        tokio::task::yield_now().await;
    };
    assert_eq!((answer.status, answer.json()["code"].as_str()), (StatusCode::UNAUTHORIZED, Some("token-expired")));
    assert_eq!(answer.header(header::WWW_AUTHENTICATE), "Bearer");
}

#[tokio::test]
async fn bad_terms_and_names_change_nothing() {
    let server = TestServer::new().await;
    let project = server.project().await;
    let (token, _) = server.agent(&project, "mara", &[]).await;
    let (path, name) = (format!("/api/projects/{project}/tokens"), token_name(&token));
    let seq = server.state.db.latest();
    let new = |extra: serde_json::Value| {
        let mut new = json!({"agent": "ole", "roles": ["builder"]});
        new.as_object_mut().unwrap().extend(extra.as_object().cloned().unwrap());
        new.to_string()
    };
    for bad in [
        json!({"permissions": ["root"]}),
        json!({"permissions": "admin"}),
        json!({"expires_in": 0}),
        json!({"expires_in": -1}),
        json!({"expires_in": 1e18}),
        json!({"expires_in": 1_000_000_000_000_000_000_u64}),
        json!({"audience": "api"}),
    ] {
        let answer = server.call("post", &path, &new(bad)).await;
        assert_eq!((answer.status, answer.json()["code"].as_str()), (StatusCode::UNPROCESSABLE_ENTITY, Some("invalid")), "{}", answer.text);
        assert!(!answer.json()["hint"].as_str().unwrap().is_empty());
    }
    for (bad, status) in [
        ("{}".to_owned(), StatusCode::OK),
        (r#"{"expires_in": 0}"#.to_owned(), StatusCode::UNPROCESSABLE_ENTITY),
        (r#"{"permissions": ["\u0000"]}"#.to_owned(), StatusCode::UNPROCESSABLE_ENTITY),
        (json!({"permissions": ["x".repeat(900_000)]}).to_string(), StatusCode::UNPROCESSABLE_ENTITY),
        (json!({"holder": "human"}).to_string(), StatusCode::UNPROCESSABLE_ENTITY),
    ] {
        assert_eq!(server.call("patch", &format!("/api/tokens/{name}"), &bad).await.status, status, "{}", &bad[..bad.len().min(60)]);
    }
    for unknown in ["000000000000", "nonsense", "%F0%9F%98%80", &token] {
        assert_eq!(server.call("delete", &format!("/api/tokens/{unknown}"), "").await.status, StatusCode::NOT_FOUND, "{unknown}");
    }
    assert_eq!(server.state.db.latest(), seq);
    assert_eq!(server.call("get", "/api/tokens?after=1000000", "").await.json()["items"], json!([]));
}

#[tokio::test]
async fn requests_above_a_limit_wait_as_long_as_the_answer_says() {
    let limits = RateLimits { writes_per_minute: Some(2), searches_per_minute: Some(1), bytes_per_minute: Some(10_000) };
    let server = TestServer::with_limits(limits, |_| {}).await;
    let project = server.project().await;
    let comment = json!({"title": "x"}).to_string();
    let path = format!("/api/projects/{project}/goals");
    for _ in 0..2 {
        assert_eq!(server.call("post", &path, &comment).await.status, StatusCode::CREATED);
    }
    let seq = server.state.db.latest();
    let answer = server.call("post", &path, &comment).await;
    assert_eq!((answer.status, answer.json()["code"].as_str()), (StatusCode::TOO_MANY_REQUESTS, Some("rate-limited")));
    let seconds: u64 = answer.header(header::RETRY_AFTER).parse().unwrap();
    assert!((1..=30).contains(&seconds), "{seconds}");
    assert!(answer.json()["hint"].as_str().unwrap().contains(&format!("after {seconds} s")));
    assert_eq!(server.state.db.latest(), seq);
    assert_eq!(server.call("get", "/api/projects", "").await.status, StatusCode::OK, "reading goes on");
    assert_eq!(server.call("get", "/api/search?q=x", "").await.status, StatusCode::OK);
    assert_eq!(server.call("get", "/api/search?q=x", "").await.status, StatusCode::TOO_MANY_REQUESTS);
    let rows = server.call("get", "/api/audit?kind=refusal", "").await.json();
    assert_eq!(rows["items"].as_array().unwrap().iter().filter(|row| row["result"] == "rate-limited").count(), 2, "{rows}");
}
