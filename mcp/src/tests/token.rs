//! Tokens over HTTP in both eras: expiry, audiences, permissions, refreshing, and rate limits.

use std::time::Duration;

use db::{AuditQuery, Caller, token_name};
use domain::audit::AuditKind;
use domain::rate_limit::RateLimits;
use domain::team::person::{NewPerson, PersonRole};
use domain::team::role::Role;
use domain::team::token::{Permissions, TokenAudience, TokenName, TokenReach, TokenTerms};
use domain::wire::{NewPersonToken, Problem, TokenPatch};
use http::StatusCode;
use serde_json::{Value, json};

use super::fixture::{Board, Era, Outcome, Server, call, done, refused};
use crate::tools;
use crate::tools::definition::Effect;

const READ: TokenTerms = TokenTerms { permissions: Permissions::READ, reach: TokenReach::Project, expires_in: None };

fn name(token: &str) -> TokenName {
    token_name(token).parse().unwrap()
}

/// The problem that a request with this token gets.
async fn problem(server: &Server, token: &str) -> Problem {
    let response = server.subscription(token).await;
    let status = response.status();
    assert_eq!(response.headers().contains_key("www-authenticate"), status == StatusCode::UNAUTHORIZED);
    let problem: Problem = serde_json::from_slice(&response.bytes().await.unwrap()).unwrap();
    assert_eq!(problem.status, status.as_u16());
    assert!(!problem.hint.is_empty());
    problem
}

#[tokio::test]
async fn forged_expired_and_foreign_tokens_are_refused_with_the_reason() {
    let board = Board::new().await;
    let server = board.serve().await;
    let owner = Caller::owner();
    let ann = board.db.add_person(&owner, NewPerson { name: "ann".to_owned(), role: Some(PersonRole::Member) }).await.unwrap().id;
    let for_api = NewPersonToken { audience: Some(TokenAudience::Api), expires_in: None };
    let for_api = board.db.create_person_token(&owner, ann, for_api).await.unwrap();
    let seq = board.db.latest();
    let refused = problem(&server, &for_api).await;
    assert_eq!((refused.status, refused.code.as_str()), (403, "token-audience"));
    let expired = board.agent_with("mara", TokenTerms { expires_in: Some(1), ..TokenTerms::default() }).await;
    let refused = loop {
        let response = server.subscription(&expired).await;
        if response.status() == StatusCode::UNAUTHORIZED {
            break problem(&server, &expired).await;
        }
        let ended = tokio::time::timeout(Duration::from_secs(20), response.bytes()).await;
        ended.expect("a stream outlives its token").ok();
    };
    assert_eq!(refused.code, "token-expired");
    for forged in [token_name(&expired), format!("sct_{}", token_name(&expired)), "0".repeat(64), "x".repeat(100_000)] {
        let refused = problem(&server, &forged).await;
        assert_eq!((refused.status, refused.code.as_str()), (401, "unauthorized"));
    }
    let query = AuditQuery { kind: Some(AuditKind::Authentication), limit: 20, ..AuditQuery::default() };
    let mut codes: Vec<String> = board.db.audit(&owner, &query).await.unwrap().0.into_iter().map(|row| row.result).collect();
    codes.sort_unstable();
    codes.dedup();
    assert_eq!(codes, ["token-audience", "token-expired", "unauthorized"]);
    let kinds: Vec<&str> = board.db.events_after(seq, None, 100).await.unwrap().iter().map(|event| event.event.kind()).collect();
    assert_eq!(kinds, ["agent_registered", "token_made"], "refused requests write nothing");
}

#[tokio::test]
async fn streams_end_when_their_token_expires_or_is_revoked() {
    let board = Board::new().await;
    let server = board.serve().await;
    for revokes in [false, true] {
        let expires_in = (!revokes).then_some(1);
        let token = board.agent_with("mara", TokenTerms { expires_in, ..TokenTerms::default() }).await;
        let session = server.session(&token).await;
        let (mut modern, mut legacy) = (server.subscription(&token).await, server.stream(&token, &session).await);
        assert_eq!((modern.status(), legacy.status()), (StatusCode::OK, StatusCode::OK));
        if revokes {
            board.db.revoke_token(&Caller::owner(), &name(&token)).await.unwrap();
        }
        let both = async {
            for stream in [&mut modern, &mut legacy] {
                while let Ok(Some(_)) = stream.chunk().await {}
            }
        };
        tokio::time::timeout(Duration::from_secs(20), both).await.expect("a stream outlives its token");
        let list = server.within(&token, &session, &json!({"jsonrpc": "2.0", "id": 7, "method": "tools/list"})).send().await.unwrap();
        assert_eq!(list.status(), StatusCode::UNAUTHORIZED);
        board.until_connected("mara", false).await;
    }
}

#[tokio::test]
async fn agent_that_may_only_read_is_refused_every_tool_that_writes() {
    let board = Board::new().await;
    let token = board.agent_with("mara", READ).await;
    let server = board.serve().await;
    let seq = board.db.latest();
    for era in Era::BOTH {
        let mara = server.client(&token, era).await;
        let listed: Vec<String> = mara.list_all_tools().await.unwrap().into_iter().map(|tool| tool.name.into_owned()).collect();
        for tool in tools::table() {
            if !tool.effect.reads() && tool.effect != Effect::Renews {
                let outcome = call(&mara, tool.name, json!({})).await;
                assert_eq!((outcome.is_error, &outcome.data["code"]), (true, &json!("not-permitted")), "{}: {}", tool.name, outcome.text);
                assert!(outcome.text.contains("\nNext: Ask the human"), "{}", outcome.text);
                assert!(!listed.iter().any(|name| name == tool.name), "{} is listed", tool.name);
            }
        }
        done(&mara, "get_board", json!({})).await;
        assert!(listed.contains(&"refresh_token".to_owned()) && listed.contains(&"get_session".to_owned()), "{listed:?}");
    }
    assert_eq!(board.db.latest(), seq);
}

#[tokio::test]
async fn nobody_gives_itself_a_permission() {
    let board = Board::new().await;
    let server = board.serve().await;
    for era in Era::BOTH {
        let token = board.agent("mara", &[Role::Lead]).await;
        let mara = server.client(&token, era).await;
        let asked = json!({"agent_id": "mara", "agent_type": "admin", "requested_permissions": ["read", "write", "admin", "debug"]});
        let answer = done(&mara, "authenticate_agent", asked).await.data;
        assert_eq!(
            (&answer["permissions"], &answer["agent_id"], &answer["agent_type"]),
            (&json!(["read", "write"]), &json!("mara"), &json!("admin"))
        );
        assert_eq!((&answer["token"], &answer["expires_at"]), (&json!(format!("sct_{}", token_name(&token))), &Value::Null));
        assert!(!answer.to_string().contains(&token), "an answer with the token would show it to the model");
        let narrow = done(&mara, "authenticate_agent", json!({"requested_permissions": ["read"]})).await.data;
        assert_eq!(narrow["permissions"], json!(["read"]));
        let other = refused(&mara, "authenticate_agent", json!({"agent_id": "ole", "agent_type": "claude"})).await;
        assert!(other.starts_with("this token belongs to mara, not to ole"), "{other}");
        let secret = json!({"content": "x", "visibility": "admin_only", "auth_token": answer["token"]});
        assert_eq!(call(&mara, "add_message", secret.clone()).await.data["code"], "admin-only");
        board
            .db
            .change_token(&Caller::owner(), &name(&token), TokenPatch { permissions: Some(Permissions::ALL), expires_in: Some(600) })
            .await
            .unwrap();
        let mara = server.client(&token, era).await;
        let answer = done(&mara, "authenticate_agent", json!({"requested_permissions": ["admin"]})).await.data;
        assert_eq!(answer["permissions"], json!(["admin"]));
        assert!((1..=600).contains(&answer["expires_in"].as_u64().unwrap()));
        done(&mara, "add_message", secret).await;
    }
    let invite = board.room().await;
    let guest = server.modern(&invite).await;
    let answer = done(&guest, "authenticate_agent", json!({"agent_id": "claude", "agent_type": "admin"})).await;
    assert_eq!((&answer.data["agent_id"], &answer.data["permissions"]), (&Value::Null, &json!(["read", "write"])));
    assert!(answer.text.contains("call register"), "{}", answer.text);
}

#[tokio::test]
async fn refreshed_token_takes_over_and_is_never_wider() {
    let board = Board::new().await;
    let server = board.serve().await;
    for era in Era::BOTH {
        let token = board.agent_with("mara", TokenTerms { permissions: Permissions::READ, expires_in: Some(600), ..TokenTerms::default() }).await;
        let mara = server.client(&token, era).await;
        let handle = done(&mara, "authenticate_agent", json!({})).await.data;
        let other = call(&mara, "refresh_token", json!({"current_token": "sct_0123456789ab"})).await;
        assert_eq!((other.is_error, &other.data["code"]), (true, &json!("not-your-token")));
        let fresh = done(&mara, "refresh_token", json!({"current_token": handle["token"], "auth_token": handle["token"]})).await.data;
        assert_eq!((&fresh["permissions"], &fresh["expires_at"], &fresh["agent_id"]), (&json!(["read"]), &handle["expires_at"], &json!("mara")));
        let new = fresh["token"].as_str().unwrap();
        assert!(new != token && new.len() == 64);
        let successor = server.client(new, era).await;
        done(&successor, "get_board", json!({})).await;
        // The old one works for a minute, in the same session too.
        done(&mara, "get_board", json!({})).await;
        let ends_at = board.db.identify(&token, TokenAudience::Mcp).await.unwrap().unwrap().ends_at;
        assert_eq!(fresh["previous_expires_at"], json!(ends_at.unwrap()));
    }
    let coder = board.coder().await;
    let coder = server.modern(&coder.run.token).await;
    let text = refused(&coder, "refresh_token", json!({})).await;
    assert!(text.contains("a coder may not call refresh_token"), "{text}");
}

#[tokio::test]
async fn session_of_a_guest_goes_on_with_the_refreshed_token() {
    let board = Board::new().await;
    let invite = board.room().await;
    let server = board.serve().await;
    let guest = server.client(&invite, Era::Legacy).await;
    let registered = done(&guest, "register", json!({"agent_name": "zoe"})).await.data;
    let fresh = done(&guest, "refresh_token", json!({"current_token": registered["token"]})).await.data;
    board.db.revoke_token(&Caller::owner(), &name(registered["token"].as_str().unwrap())).await.unwrap();
    done(&guest, "set_status", json!({"status": "still here"})).await;
    let handle = done(&guest, "authenticate_agent", json!({})).await.data;
    assert_eq!(handle["token"], json!(format!("sct_{}", token_name(fresh["token"].as_str().unwrap()))));
}

fn is_limited(outcome: &Outcome) -> bool {
    let seconds = outcome.data["retry_after_seconds"].as_u64().unwrap_or_default();
    outcome.is_error && outcome.data["code"] == "rate-limited" && seconds >= 1 && outcome.text.contains(&format!("after {seconds} s"))
}

#[tokio::test]
async fn calls_above_a_limit_are_refused_with_a_hint_and_write_nothing() {
    let limits = RateLimits { writes_per_minute: Some(2), searches_per_minute: Some(1), bytes_per_minute: Some(20_000) };
    let board = Board::with_limits(limits).await;
    let (mara, ole) = (board.agent("mara", &[]).await, board.agent("ole", &[]).await);
    let server = board.serve().await;
    let (client, other) = (server.client(&mara, Era::Legacy).await, server.modern(&ole).await);
    for _ in 0..2 {
        done(&client, "set_memory", json!({"key": "a", "value": 1})).await;
    }
    let seq = board.db.latest();
    let modern = server.modern(&mara).await;
    for client in [&client, &modern] {
        assert!(is_limited(&call(client, "set_memory", json!({"key": "b", "value": 1})).await));
    }
    assert_eq!(board.db.latest(), seq);
    done(&modern, "get_memory", json!({"key": "a"})).await;
    done(&modern, "search_context", json!({"query": "a"})).await;
    assert!(is_limited(&call(&modern, "search_context", json!({"query": "a"})).await));
    let large = "x".repeat(19_000);
    let outcome = call(&modern, "get_memory", json!({"key": large})).await;
    assert!(is_limited(&outcome), "{}", outcome.text);
    done(&other, "set_memory", json!({"key": "a", "value": 1})).await;
    let query = AuditQuery { kind: Some(AuditKind::Refusal), limit: 20, ..AuditQuery::default() };
    let rows = board.db.audit(&Caller::owner(), &query).await.unwrap().0;
    let limited = rows.iter().filter(|row| row.result == "rate-limited").map(|row| (row.action.as_str(), row.count)).collect::<Vec<_>>();
    assert_eq!(limited.iter().map(|(_, count)| count).sum::<u32>(), 4, "{limited:?}");
}
