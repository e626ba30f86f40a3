//! Listening to the server, for as long as the bridge lives: what it says of changed tools goes on to the client.
//!
//! Knows nothing of messages and inboxes. Calls do not depend on it: without a server, or with one that tells nothing, they go on.

use http::StatusCode;
use hyper::body::Bytes;
use rmcp::RoleServer;
use rmcp::service::{Peer, SubscriptionContext};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

use super::ask::PAUSE;
use super::post::{self, PostError, Target};
use super::{Bridge, BridgeError, CALL_WAIT};
use crate::server_file;

const METHOD: &str = "subscriptions/listen";
const CHANGED: &str = "notifications/tools/list_changed";

/// How an attempt to listen ended.
#[derive(Debug, PartialEq, Eq)]
enum End {
    /// There is no server, or it went.
    Away,
    /// The server has nothing to tell to this token.
    Refused,
}

impl Bridge {
    /// Listens until the folder of the database has been gone for as long as a call may wait: nobody will come back then.
    pub(super) async fn listen_on(&self) -> BridgeError {
        let mut token = self.token.subscribe();
        let (mut pause, mut gone) = (PAUSE.0, None);
        loop {
            let began = Instant::now();
            let end = tokio::select! {
                end = self.hear() => end,
                // It is somebody else now.
                _ = token.changed() => continue,
            };
            if self.folder().is_dir() {
                gone = None;
            } else if began.duration_since(*gone.get_or_insert(began)) >= CALL_WAIT {
                return BridgeError::Gone { folder: self.folder().to_owned() };
            }
            if began.elapsed() > PAUSE.1 * 2 {
                pause = PAUSE.0;
            }
            let wait = if end == End::Refused { CALL_WAIT } else { pause };
            // Another token is tried at once.
            drop(timeout(wait, token.changed()).await);
            pause = (pause * 2).min(PAUSE.1);
        }
    }

    async fn hear(&self) -> End {
        let Ok(Some(server)) = server_file::read(&self.db_path) else { return End::Away };
        let token = self.token.borrow().clone();
        let parameters = json!({"notifications": {"toolsListChanged": true}, "_meta": super::basics(&db::new_uuid())});
        let body: Bytes = json!({"jsonrpc": "2.0", "id": 1, "method": METHOD, "params": parameters}).to_string().into();
        let target = Target { url: &server.url, token: &token, method: METHOD, name: None };
        let mut messages = match post::listen(&target, &body).await {
            Ok(messages) => messages,
            Err(PostError::Status { status: StatusCode::UNAUTHORIZED, .. }) if self.fall_back(&token) => return End::Away,
            Err(PostError::Status { status, .. }) if status != StatusCode::SERVICE_UNAVAILABLE => return End::Refused,
            Err(_) => return End::Away,
        };
        while let Some(message) = messages.next().await {
            if message.get("method").and_then(Value::as_str) == Some(CHANGED) {
                self.tools_changed();
            }
        }
        End::Away
    }

    /// Tells the client that its list of tools reads otherwise now.
    pub(super) fn tools_changed(&self) {
        self.changes.send_modify(|count| *count += 1);
    }
}

/// Passes changes on to a client of the modern era that listens.
pub(super) async fn modern(mut changes: watch::Receiver<u64>, context: &SubscriptionContext) {
    loop {
        tokio::select! {
            changed = changes.changed() => if changed.is_err() { return },
            () = context.cancelled() => return,
        }
        if context.sink().notify_tool_list_changed().await.is_err() {
            return;
        }
    }
}

/// Passes changes on to a client of the legacy era, which listens all the time.
pub(super) async fn legacy(mut changes: watch::Receiver<u64>, peer: Peer<RoleServer>) {
    while changes.changed().await.is_ok() && peer.notify_tool_list_changed().await.is_ok() {}
}
