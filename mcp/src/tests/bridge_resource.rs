//! Tests that the bridge carries resources: their lists, their contents, the refusals and the notices of changes.

use db::Caller;
use domain::id::TaskId;
use rmcp::model::ErrorCode;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::fixture::{Board, Era, Server};
use super::listener::Received;
use super::resource::{INBOX, listed, read};

const TASK: &str = "vibe-relay://task/TASK-001";

#[tokio::test]
async fn resources_are_the_same_as_over_http() {
    for era in Era::BOTH {
        let board = Board::new().await;
        let mara = board.agent("mara", &[]).await;
        let server = board.serve().await;
        board.announce(&server);
        let (client, _bridge) = board.bridge(&mara, era).await;
        let direct = server.client(&mara, era).await;
        assert_eq!(listed(&client).await, listed(&direct).await);
        let templates = client.list_all_resource_templates().await.unwrap();
        assert_eq!(json!(templates), json!(direct.list_all_resource_templates().await.unwrap()));
        for uri in [INBOX, TASK, "vibe-relay://board/PROJ-001"] {
            assert_eq!(read(&client, uri).await.unwrap(), read(&direct, uri).await.unwrap(), "{uri}");
        }
        let missing = if matches!(era, Era::Modern) { ErrorCode::INVALID_PARAMS } else { ErrorCode::RESOURCE_NOT_FOUND };
        for unknown in ["vibe-relay://task/TASK-099", "vibe-relay://board/PROJ-002", "vibe-relay://other", "not a uri"] {
            assert_eq!(read(&client, unknown).await.unwrap_err(), missing, "{unknown}");
        }
    }
}

#[tokio::test]
async fn subscriber_is_notified_across_restarts() {
    let changed = || Received::Resource(TASK.to_owned());
    for era in Era::BOTH {
        let board = Board::new().await;
        let mara = board.agent("mara", &[]).await;
        let shutdown = CancellationToken::new();
        board.announce(&Server::start(board.router(shutdown.clone())).await);
        let (mut client, _bridge) = board.subscribed_bridge(&mara, era, &[TASK]).await;
        board.until_connected("mara", true).await;
        let comment = async |text: &str| board.db.add_comment(&Caller::owner(), &TaskId::new(1), text, None).await.unwrap();
        comment("Look.").await;
        client.until(&changed()).await;

        shutdown.cancel();
        board.until_connected("mara", false).await;
        comment("Written while no server runs.").await;
        board.announce(&board.serve().await);
        client.until(&changed()).await;
        assert!(read(&client.client, TASK).await.unwrap().to_string().contains("while no server runs"));
    }
}
