//! Tests which resources exist, who may read them, and who is notified of changes.

use db::Caller;
use domain::id::TaskId;
use domain::wire::NewProject;
use rmcp::RoleClient;
use rmcp::model::{ErrorCode, ReadResourceRequestParams};
use rmcp::service::{Peer, ServiceError};
use serde_json::{Value, json};

use super::fixture::{Board, Era, PERSON, done};
use super::listener::Received;

pub(super) const INBOX: &str = "vibe-relay://inbox";

pub(super) async fn read(client: &Peer<RoleClient>, uri: &str) -> Result<Value, ErrorCode> {
    match client.read_resource(ReadResourceRequestParams::new(uri)).await {
        Ok(answer) => {
            let wire = serde_json::to_value(&answer).unwrap();
            assert_eq!((&wire["contents"][0]["uri"], &wire["contents"][0]["mimeType"]), (&json!(uri), &json!("application/json")));
            Ok(serde_json::from_str(wire["contents"][0]["text"].as_str().unwrap()).unwrap())
        }
        Err(ServiceError::McpError(error)) => Err(error.code),
        Err(error) => panic!("{error}"),
    }
}

pub(super) async fn listed(client: &Peer<RoleClient>) -> Vec<String> {
    client.list_all_resources().await.unwrap().into_iter().map(|resource| resource.uri).collect()
}

#[tokio::test]
async fn caller_reads_only_its_resources() {
    let board = Board::new().await;
    let probe = repo::probe(board.sample.top(), None).unwrap();
    let new = NewProject { title: "Secret".to_owned(), description: Some("x".to_owned()), ..NewProject::default() };
    board.db.create_project(&Caller::owner(), new, probe).await.unwrap();
    let (mara, room) = (board.agent("mara", &[]).await, board.room().await);
    board.agent("otto", &[]).await;
    board.send_message(&board.caller("otto"), "mara", "Hello").await;
    let server = board.serve().await;
    for era in Era::BOTH {
        let client = server.client(&mara, era).await;
        assert_eq!(listed(&client).await[..2], [INBOX, "vibe-relay://board/PROJ-001"]);
        assert_eq!(client.list_all_resource_templates().await.unwrap().len(), 5);
        let inbox = read(&client, INBOX).await.unwrap();
        insta::allow_duplicates!(insta::assert_json_snapshot!(inbox, @r#"
        {
          "blocking_count": 1,
          "count": 1,
          "senders": [
            "otto"
          ],
          "urgent": false
        }
        "#));
        assert_eq!(read(&client, "vibe-relay://board/PROJ-001").await.unwrap()["cards"][0]["id"], "TASK-001");
        let task = read(&client, "vibe-relay://task/TASK-001").await.unwrap();
        assert_eq!((&task["task"]["title"], &task["comments"]), (&json!("A shop"), &json!([])));
        let missing = if matches!(era, Era::Modern) { ErrorCode::INVALID_PARAMS } else { ErrorCode::RESOURCE_NOT_FOUND };
        for foreign in ["vibe-relay://board/PROJ-002", "vibe-relay://task/TASK-002", "vibe-relay://task/TASK-099", "vibe-relay://other"] {
            assert_eq!(read(&client, foreign).await.unwrap_err(), missing, "{foreign}");
        }
        let guest = server.client(&room, era).await;
        assert!(listed(&guest).await.is_empty());
        assert_eq!(read(&guest, "vibe-relay://board/PROJ-001").await.unwrap_err(), missing);
        assert_eq!(read(&guest, INBOX).await.unwrap_err(), missing);
        let person = server.client(PERSON, era).await;
        assert_eq!(listed(&person).await[..2], ["vibe-relay://board/PROJ-002", "vibe-relay://board/PROJ-001"], "the newest first");
        assert_eq!(read(&person, "vibe-relay://task/TASK-002").await.unwrap()["task"]["title"], "Secret");
        assert_eq!(read(&person, INBOX).await.unwrap_err(), missing);
    }
}

#[tokio::test]
async fn finished_run_reads_no_resource() {
    let board = Board::new().await;
    let planner = board.planner().await;
    let client = board.serve().await.modern(&planner.token).await;
    assert!(read(&client, INBOX).await.is_ok());
    board.end(&planner).await;
    assert!(read(&client, INBOX).await.is_err());
}

#[tokio::test]
async fn subscriber_is_notified_of_changes() {
    for era in Era::BOTH {
        let board = Board::new().await;
        let mara = board.agent("mara", &[]).await;
        board.agent("otto", &[]).await;
        let server = board.serve().await;
        let watched = [INBOX, "vibe-relay://task/TASK-001"];
        let mut mara = server.listening(&mara, era, &watched).await;
        board.until_connected("mara", true).await;
        let changed = |uri: &str| Received::Resource(uri.to_owned());
        board.db.add_comment(&Caller::owner(), &TaskId::new(1), "Look.", None).await.unwrap();
        assert_eq!(mara.next().await, changed("vibe-relay://task/TASK-001"));
        board.send_message(&board.caller("otto"), "mara", "Hello").await;
        mara.until(&changed(INBOX)).await;
        done(&mara.client, "check_inbox", json!({})).await;
        mara.until(&changed(INBOX)).await;
    }
}

#[tokio::test]
async fn long_resource_is_cut_and_says_so() {
    let board = Board::new().await;
    let task = TaskId::new(1);
    for place in 0..6 {
        board.db.add_comment(&Caller::owner(), &task, &format!("{place} {}", "x".repeat(10_000)), None).await.unwrap();
    }
    board.many_tasks(100, None, None).await;
    let client = board.serve().await.modern(PERSON).await;
    let thread = read(&client, "vibe-relay://task/TASK-001").await.unwrap();
    let older = thread["older_comments"].as_u64().unwrap();
    assert!(thread.to_string().len() < 40_000 && older > 0, "{older}");
    assert!(thread["comments"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap().starts_with('5'));
    let page = read(&client, "vibe-relay://board/PROJ-001").await.unwrap();
    let cards = page["cards"].as_array().unwrap();
    assert!(page.to_string().len() < 40_000 && cards.len() < 101);
    assert_eq!(page["next"], cards.last().unwrap()["id"]);
}

#[tokio::test]
#[expect(deprecated, reason = "only the earlier revisions have it")]
async fn unsubscribed_client_is_not_notified() {
    let board = Board::new().await;
    let mara = board.agent("mara", &[]).await;
    let server = board.serve().await;
    let board_uri = "vibe-relay://board/PROJ-001";
    let mut mara = server.listening(&mara, Era::Legacy, &[board_uri, "vibe-relay://task/TASK-001"]).await;
    board.until_connected("mara", true).await;
    mara.client.unsubscribe(rmcp::model::UnsubscribeRequestParams::new(board_uri)).await.unwrap();
    let stranger = mara.client.subscribe(rmcp::model::SubscribeRequestParams::new("vibe-relay://task/TASK-099")).await;
    assert!(stranger.is_err(), "what cannot be read cannot be watched");
    board.db.add_comment(&Caller::owner(), &TaskId::new(1), "Look.", None).await.unwrap();
    assert_eq!(mara.next().await, Received::Resource("vibe-relay://task/TASK-001".to_owned()));
    assert!(mara.received.try_recv().is_err());
}
