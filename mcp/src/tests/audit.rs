//! The audit log of tool calls: who did what, and what was refused.

use db::{AuditQuery, Caller};
use domain::audit::{AuditKind, AuditRow};
use domain::team::role::Role;
use http::StatusCode;
use rmcp::model::{CallToolRequestParams, ReadResourceRequestParams, SubscribeRequestParams};
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
async fn refused_resources_and_unknown_tools_are_listed() {
    let board = Board::new().await;
    let server = board.serve().await;
    let token = board.agent("mara", &[Role::Builder]).await;
    for era in Era::BOTH {
        let mara = server.client(&token, era).await;
        let long = "x".repeat(1 << 20);
        for tool in ["nonsense", long.as_str()] {
            mara.call_tool(CallToolRequestParams::new(tool.to_owned())).await.unwrap_err();
        }
        let seen = rows(&board, AuditKind::Refusal).await;
        assert_eq!((seen[0].action.as_str(), seen[0].result.as_str()), ("tools/call", "unknown-tool"));
        assert!(seen.iter().all(|row| row.subject.as_ref().unwrap().len() <= 110), "a long name is cut");
        for (uri, code) in [("session://session_0000000000000000", "not-found"), ("agent://ole/memory", "not-found"), ("nonsense://x", "not-found")] {
            mara.read_resource(ReadResourceRequestParams::new(uri)).await.unwrap_err();
            let row = rows(&board, AuditKind::Refusal).await.remove(0);
            assert_eq!((row.action.as_str(), row.subject.as_deref(), row.result.as_str()), ("resources/read", Some(uri), code));
            assert_eq!(row.actor.unwrap().to_string(), "mara");
        }
        if matches!(era, Era::Legacy) {
            #[expect(deprecated, reason = "only the earlier revisions have it")]
            mara.subscribe(SubscribeRequestParams::new("vibe-relay://task/TASK-404")).await.unwrap_err();
            let row = rows(&board, AuditKind::Refusal).await.remove(0);
            assert_eq!((row.action.as_str(), row.subject.as_deref()), ("resources/subscribe", Some("vibe-relay://task/TASK-404")));
        }
        mara.read_resource(ReadResourceRequestParams::new("server://info")).await.unwrap();
    }
    let reads = rows(&board, AuditKind::Refusal).await.iter().filter(|row| row.action == "resources/read").map(|row| row.count).sum::<u32>();
    assert_eq!(reads, 6, "what was read is no refusal");
}

#[tokio::test]
async fn refused_subscription_of_the_modern_revision_is_listed() {
    let board = Board::new().await;
    let server = board.serve().await;
    let token = board.agent("mara", &[Role::Builder]).await;
    let _listening = server.listening(&token, Era::Modern, &["vibe-relay://inbox", "session://session_0000000000000000"]).await;
    board.until_connected("mara", true).await;
    let found = rows(&board, AuditKind::Refusal).await;
    let [row] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((row.action.as_str(), row.subject.as_deref()), ("subscriptions/listen", Some("session://session_0000000000000000")));
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
