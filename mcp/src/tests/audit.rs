//! The audit log of tool calls: who did what, and what was refused.

use db::{AuditQuery, Caller};
use domain::audit::{AuditKind, AuditRow};
use domain::team::role::Role;
use http::StatusCode;
use serde_json::json;

use super::fixture::{Board, Era, done, refused};
use crate::PATH;

async fn rows(board: &Board, kind: AuditKind) -> Vec<AuditRow> {
    let query = AuditQuery { kind: Some(kind), limit: 200, ..AuditQuery::default() };
    board.db.audit(&Caller::owner(), &query).await.unwrap().0
}

#[tokio::test]
async fn calls_stand_under_the_token_that_brought_them() {
    let board = Board::new().await;
    let server = board.serve().await;
    let token = board.agent("mara", &[Role::Builder]).await;
    let mut credentials = Vec::new();
    for era in Era::BOTH {
        let mara = server.client(&token, era).await;
        done(&mara, "set_memory", json!({"key": "build", "value": "cargo build"})).await;
        let written = rows(&board, AuditKind::Write).await.remove(0);
        assert_eq!((written.action.as_str(), written.actor.unwrap().to_string()), ("set_memory", "mara".to_owned()));
        credentials.push(written.credential.unwrap());
        let text = refused(&mara, "get_task", json!({"task_id": "TASK-404"})).await;
        assert!(text.contains("TASK-404"), "{text}");
        let seen = rows(&board, AuditKind::Refusal).await.remove(0);
        assert_eq!((seen.action.as_str(), seen.subject.as_deref(), seen.result.as_str()), ("get_task", Some("TASK-404"), "not-found"));
        assert_eq!((seen.credential.as_ref(), seen.actor.unwrap().to_string()), (credentials.last(), "mara".to_owned()));
    }
    assert_eq!(credentials[0], credentials[1]);
    assert!(credentials[0].starts_with("token:") && !token.contains(&credentials[0][6..]), "{credentials:?}");
    // A guest that registered has a token of its own.
    let invite = board.db.create_invite_token(&Caller::owner(), &board.project.id).await.unwrap();
    let guest = server.client(&invite, Era::Legacy).await;
    done(&guest, "register", json!({"agent_name": "zoe"})).await;
    let registered = rows(&board, AuditKind::Write).await.remove(0);
    done(&guest, "set_memory", json!({"key": "mine", "value": 1})).await;
    let written = rows(&board, AuditKind::Write).await.remove(0);
    assert_ne!(written.credential, registered.credential);
    assert_eq!(board.db.check_audit(&Caller::owner()).await.unwrap().broken, None);
}

#[tokio::test]
async fn requests_without_a_valid_token_are_counted() {
    let board = Board::new().await;
    let server = board.serve().await;
    for token in ["nonsense", "", "another"] {
        let request = reqwest::Client::new().post(format!("{}{PATH}", server.url)).header("authorization", format!("Bearer {token}"));
        assert_eq!(request.send().await.unwrap().status(), StatusCode::UNAUTHORIZED);
    }
    let found = rows(&board, AuditKind::Authentication).await;
    let [row] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((row.action.as_str(), row.result.as_str(), row.count, &row.actor), ("POST /mcp", "unauthorized", 3, &None));
}
