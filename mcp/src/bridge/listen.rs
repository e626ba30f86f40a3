//! Listens to the server for as long as the bridge runs, and forwards changes of tools and resources to the client.
//!
//! Calls do not depend on it: they also work while no server can be listened to. It must not know messages or inboxes.

use std::collections::BTreeMap;

use http::StatusCode;
use hyper::body::Bytes;
use rmcp::RoleServer;
use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::service::{Peer, SubscriptionContext};
use serde_json::{Value, json};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, watch};
use tokio::time::{Instant, timeout};

use super::post::{self, PostError, Target};
use super::server_call::RETRY_DELAYS;
use super::{Bridge, BridgeError, CALL_TIMEOUT};

pub(super) const METHOD: &str = "subscriptions/listen";

/// A change that the client may want to know of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Change {
    Tools,
    Resource(String),
}

/// Why an attempt to listen ended.
#[derive(Debug, PartialEq, Eq)]
enum ListenEnd {
    /// No server is running, or the connection broke.
    Unavailable,
    /// The server does not let this token listen.
    Refused,
    /// The client subscribed to other resources.
    Resubscribe,
}

impl Bridge {
    /// Listens until the folder of the database has been missing for as long as a call may wait. No server will start there again.
    pub(super) async fn listen_until_folder_is_missing(&self) -> BridgeError {
        let mut token = self.token.subscribe();
        let (mut delay, mut missing_since) = (RETRY_DELAYS.0, None);
        loop {
            let started = Instant::now();
            let end = tokio::select! {
                end = self.listen_once() => end,
                // The bridge acts as another caller now.
                _ = token.changed() => continue,
            };
            if self.folder().is_dir() {
                missing_since = None;
            } else if started.duration_since(*missing_since.get_or_insert(started)) >= CALL_TIMEOUT {
                return BridgeError::FolderMissing { folder: self.folder().to_owned() };
            }
            if started.elapsed() > RETRY_DELAYS.1 * 2 {
                delay = RETRY_DELAYS.0;
            }
            let wait = match end {
                ListenEnd::Resubscribe => continue,
                ListenEnd::Refused => CALL_TIMEOUT,
                ListenEnd::Unavailable => delay,
            };
            // A new token is tried at once.
            drop(timeout(wait, token.changed()).await);
            delay = (delay * 2).min(RETRY_DELAYS.1);
        }
    }

    /// Listens over one connection.
    async fn listen_once(&self) -> ListenEnd {
        let mut subscribed = self.subscribed.subscribe();
        let resources: Vec<String> = subscribed.borrow_and_update().keys().cloned().collect();
        let token = self.token.borrow().clone();
        let filter = json!({"toolsListChanged": true, "resourceSubscriptions": resources});
        let parameters = json!({"notifications": filter, "_meta": super::base_meta(&db::new_uuid())});
        let body: Bytes = json!({"jsonrpc": "2.0", "id": 1, "method": METHOD, "params": parameters}).to_string().into();
        let target = Target { db_path: &self.db_path, token: &token, method: METHOD, name: None };
        let mut messages = match post::listen(&target, &body).await {
            Ok(messages) => messages,
            Err(PostError::Status { status: StatusCode::UNAUTHORIZED, .. }) if self.revert_to_first_token(&token) => return ListenEnd::Unavailable,
            Err(PostError::Status { status, .. }) if status != StatusCode::SERVICE_UNAVAILABLE => return ListenEnd::Refused,
            Err(_) => return ListenEnd::Unavailable,
        };
        // Each may have changed since the client subscribed to it, or since the connection before.
        for uri in resources {
            self.announce(Change::Resource(uri));
        }
        loop {
            let message = tokio::select! {
                message = messages.next() => message,
                changed = subscribed.changed() => match changed {
                    Ok(()) => return ListenEnd::Resubscribe,
                    Err(_) => return ListenEnd::Unavailable,
                },
            };
            let Some(message) = message else { return ListenEnd::Unavailable };
            if let Some(change) = change_in(&message) {
                self.announce(change);
            }
        }
    }
}

pub(super) fn change_in(message: &Value) -> Option<Change> {
    match message["method"].as_str()? {
        "notifications/tools/list_changed" => Some(Change::Tools),
        "notifications/resources/updated" => message["params"]["uri"].as_str().map(|uri| Change::Resource(uri.to_owned())),
        _ => None,
    }
}

/// Forwards changes to a client of revision 2026-07-28 while it listens.
pub(super) async fn forward_modern(mut changes: broadcast::Receiver<Change>, resources: &[String], context: &SubscriptionContext) {
    loop {
        let change = tokio::select! {
            change = changes.recv() => change,
            () = context.cancelled() => return,
        };
        let Some(changes) = pending(change, resources) else { return };
        for change in changes {
            let sent = match change {
                Change::Tools if context.accepted().tools_list_changed != Some(true) => Ok(()),
                Change::Tools => context.sink().notify_tool_list_changed().await,
                Change::Resource(uri) => context.sink().notify_resource_updated(uri).await,
            };
            if sent.is_err() {
                return;
            }
        }
    }
}

/// Forwards changes to a client of an earlier revision, which listens all the time.
pub(super) async fn forward_legacy(
    mut changes: broadcast::Receiver<Change>,
    subscribed: watch::Receiver<BTreeMap<String, usize>>,
    peer: Peer<RoleServer>,
) {
    loop {
        let change = changes.recv().await;
        let resources: Vec<String> = subscribed.borrow().keys().cloned().collect();
        let Some(changes) = pending(change, &resources) else { return };
        for change in changes {
            let sent = match change {
                Change::Tools => peer.notify_tool_list_changed().await,
                Change::Resource(uri) => peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await,
            };
            if sent.is_err() {
                return;
            }
        }
    }
}

/// Returns the changes to forward, which are all of them if some were lost. None when the bridge ends.
fn pending(change: Result<Change, RecvError>, resources: &[String]) -> Option<Vec<Change>> {
    match change {
        Ok(Change::Resource(uri)) if !resources.contains(&uri) => Some(Vec::new()),
        Ok(change) => Some(vec![change]),
        Err(RecvError::Lagged(_)) => Some([Change::Tools].into_iter().chain(resources.iter().cloned().map(Change::Resource)).collect()),
        Err(RecvError::Closed) => None,
    }
}
