//! Callers with an invite token: guests until they register, then the agent of that name.

use db::Caller;
use domain::team::role::Role;
use http::StatusCode;
use rmcp::RoleClient;
use rmcp::service::Peer;
use serde_json::json;

use super::fixture::{Board, Era, done, refused};
use super::listener::Received;

impl Board {
    pub(super) async fn room(&self) -> String {
        self.db.create_invite_token(&Caller::owner(), &self.project.id).await.unwrap()
    }
}

async fn tools(client: &Peer<RoleClient>) -> Vec<String> {
    client.list_tools(None).await.unwrap().tools.iter().map(|tool| tool.name.to_string()).collect()
}

#[tokio::test]
async fn invite_token_without_a_session_only_registers() {
    let board = Board::new().await;
    let room = board.room().await;
    let server = board.serve().await;
    let guest = server.modern(&room).await;
    assert_eq!(tools(&guest).await, ["authenticate_agent", "register", "who"]);
    let text = refused(&guest, "send", json!({"to_agent": "human", "message": "Hello"})).await;
    assert!(text.contains("register"), "{text}");
    let registered = done(&guest, "register", json!({"agent_name": "mara", "role": "builder"})).await;
    assert!(registered.text.contains("registered successfully"), "{}", registered.text);
    assert_eq!(tools(&guest).await, ["authenticate_agent", "register", "who"], "the same token names nobody");
    let own = registered.data["token"].as_str().unwrap();
    let mara = server.modern(own).await;
    done(&mara, "send", json!({"to_agent": "human", "message": "Hello"})).await;
}

#[tokio::test]
async fn session_acts_as_the_registered_agent() {
    let board = Board::new().await;
    let room = board.room().await;
    board.agent("otto", &[Role::Builder]).await;
    let server = board.serve().await;
    let mut mara = server.listening(&room, Era::Legacy, &[]).await;
    let guest = server.client(&room, Era::Legacy).await;
    assert_eq!(tools(&mara.client).await, ["authenticate_agent", "register", "who"]);
    let registered = done(&mara.client, "register", json!({"agent_name": "mara", "role": "builder"})).await;
    mara.until(&Received::Tools).await;
    assert!(tools(&mara.client).await.contains(&"check_inbox".to_owned()));
    done(&mara.client, "send", json!({"to_agent": "otto", "message": "Hello"})).await;
    assert_eq!(board.db.agent(&board.project.id, "mara").await.unwrap().roles, [Role::Builder]);
    board.until_connected("mara", true).await;
    board.db.check_inbox(&board.caller("otto"), &board.project.id, None).await.unwrap();
    board.send_message(&board.caller("otto"), "mara", "Welcome.").await;
    mara.until(&Received::Tools).await;
    assert!(mara.description().await.starts_with("*** YOU HAVE 1 UNREAD MESSAGE(S) from otto ***"));

    assert_eq!(tools(&guest).await, ["authenticate_agent", "register", "who"], "another session of the room is another guest");
    let taken = refused(&guest, "register", json!({"agent_name": "mara"})).await;
    assert!(taken.contains("mara"), "{taken}");
    // The new owner of the token reclaims the name, and the earlier session is a guest again.
    let again = json!({"agent_name": "mara", "token": registered.data["token"]});
    done(&guest, "register", again).await;
    assert!(tools(&guest).await.contains(&"check_inbox".to_owned()));
    assert_eq!(tools(&mara.client).await, ["authenticate_agent", "register", "who"]);
    let text = refused(&mara.client, "check_inbox", json!({})).await;
    assert!(text.contains("register"), "{text}");
}

#[tokio::test]
async fn registered_session_is_useless_to_other_tokens() {
    let board = Board::new().await;
    let room = board.room().await;
    let otto = board.agent("otto", &[]).await;
    let server = board.serve().await;
    let session = server.session(&room).await;
    let call = |token: &str, tool: &str, arguments: serde_json::Value| {
        server.within(token, &session, &json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}))
    };
    let registered = call(&room, "register", json!({"agent_name": "mara"})).send().await.unwrap().text().await.unwrap();
    assert!(registered.contains("registered successfully"), "{registered}");
    assert_eq!(call(&otto, "check_inbox", json!({})).send().await.unwrap().status(), StatusCode::NOT_FOUND);
    let own = call(&room, "set_status", json!({"status": "here"})).send().await.unwrap();
    assert_eq!(own.status(), StatusCode::OK);
    let text = own.text().await.unwrap();
    assert!(!text.contains("\"isError\":true"), "{text}");
    assert_eq!(board.db.agent(&board.project.id, "mara").await.unwrap().status.as_deref(), Some("here"));
}
