//! Waits for messages to an agent, for our own programs that are not MCP clients.
//!
//! It must not know what the messages say.

use std::path::Path;

use http::StatusCode;
use hyper::body::Bytes;
use serde_json::json;
use tokio::time::sleep;

use super::base_meta;
use super::call_tool::CallError;
use super::listen::{Change, METHOD, change_in};
use super::post::{self, PostError, Target};
use super::server_call::RETRY_DELAYS;

/// Waits until the inbox of the agent of `token` may have changed. It waits for a board that restarts.
///
/// # Errors
/// When the board refuses the token.
pub async fn inbox_changed(db_path: &Path, token: &str) -> Result<(), CallError> {
    let parameters = json!({"notifications": {"toolsListChanged": true}, "_meta": base_meta(&db::new_uuid())});
    let body: Bytes = json!({"jsonrpc": "2.0", "id": 1, "method": METHOD, "params": parameters}).to_string().into();
    let target = Target { db_path, token, method: METHOD, name: None };
    loop {
        match post::listen(&target, &body).await {
            // The server announces unread messages first.
            Ok(mut messages) => {
                while let Some(message) = messages.next().await {
                    if change_in(&message) == Some(Change::Tools) {
                        return Ok(());
                    }
                }
            }
            Err(PostError::Status { status, problem }) if status != StatusCode::SERVICE_UNAVAILABLE => {
                let text = problem.map_or_else(|| status.to_string(), |problem| format!("{}. {}", problem.detail, problem.hint));
                return Err(CallError::Refused(text));
            }
            Err(_) => {}
        }
        sleep(RETRY_DELAYS.1).await;
    }
}
