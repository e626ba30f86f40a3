//! Forwards changes to clients: on the stream of a session, or as the answer to `subscriptions/listen` since revision 2026-07-28.
//!
//! Names: `legacy` are the revisions with sessions, `modern` those without. It must not know the event log or the inbox rules. A client that
//! is gone ends its own stream only.

use std::sync::Arc;

use db::{Caller, Db};
use domain::team::message::Unread;
use rmcp::RoleServer;
use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::service::{Peer, ServiceError, SubscriptionContext, SubscriptionSendError};

use super::{Listener, PendingChanges, Push};
use crate::bearer::Bearer;
use crate::resource::{self, Uri};
use crate::session::Session;

/// Returns the unread messages of the caller. The human and invited guests have no inbox here.
///
/// # Errors
/// When the store fails.
pub(crate) async fn unread(db: &Db, caller: &Caller) -> db::Result<Unread> {
    match (caller, caller.project(), caller.name()) {
        (Caller::Run(_) | Caller::Agent(_), Some(project), Some(name)) => db.unread(project, &name).await,
        _ => Ok(Unread::default()),
    }
}

/// Announces messages that arrived while no stream was open.
async fn announce_unread(db: &Db, caller: &Caller, listener: &Listener) {
    match unread(db, caller).await {
        Ok(unread) if unread.count > 0 => listener.notify(|changes| changes.inbox = true),
        Ok(_) => {}
        Err(error) => tracing::warn!(%error, "a new stream did not announce unread messages"),
    }
}

/// Forwards changes while the client listens and counts it as connected. Its token's end ends the stream at once.
pub(crate) async fn modern(db: &Db, push: &Push, bearer: &Bearer, context: &SubscriptionContext) {
    let caller = &bearer.caller;
    let listener = push.listener(caller);
    for given in context.accepted().resource_subscriptions.iter().flatten().take(super::MAX_RESOURCES) {
        // Changes of resources that the caller may not read are not forwarded.
        match Uri::admitted(given, db, caller).await {
            Ok(uri) => drop(listener.add_resource(uri)),
            Err(error) => resource::record_refusal(db, bearer, "subscriptions/listen", given, &error),
        }
    }
    announce_unread(db, caller, &listener).await;
    let _connected = db.connect(caller);
    if let Err(error) = forward_changes(db, bearer, &listener, context).await {
        tracing::debug!(%error, "a subscription ended");
    }
}

async fn forward_changes(db: &Db, bearer: &Bearer, listener: &Listener, context: &SubscriptionContext) -> Result<(), StreamError> {
    let mut revocations = db.token_revocations();
    while let Some(holder) = bearer.current(db).await? {
        let changes = tokio::select! {
            changes = listener.changes() => changes,
            is_open = db.may_have_ended(&mut revocations, holder.ends_at) => if is_open { continue } else { return Ok(()) },
            () = context.cancelled() => return Ok(()),
        };
        if bearer.current(db).await?.is_none() {
            return Ok(());
        }
        notify_modern(context, changes).await?;
    }
    Ok(())
}

/// Why a subscription ended early.
#[derive(Debug, thiserror::Error)]
enum StreamError {
    #[error("the client is gone: {0}")]
    Client(#[from] SubscriptionSendError),
    #[error("the token could not be looked up: {0}")]
    Store(#[from] db::Error),
}

async fn notify_modern(context: &SubscriptionContext, changes: PendingChanges) -> Result<(), SubscriptionSendError> {
    let sink = context.sink();
    if (changes.inbox || changes.tools) && context.accepted().tools_list_changed == Some(true) {
        sink.notify_tool_list_changed().await?;
    }
    for uri in changes.resources {
        sink.notify_resource_updated(uri.to_string()).await?;
    }
    Ok(())
}

/// Forwards changes until the session ends, whenever one of its streams is open.
pub(crate) async fn legacy(db: &Db, session: Arc<Session>, peer: Peer<RoleServer>) {
    let forwarded = async {
        loop {
            session.until_open().await;
            let changes = session.listener.changes().await;
            let caller = match session.acting(db).await {
                Ok(Some(acting)) => acting.caller,
                Ok(None) => return,
                // The same failure closes its stream, and the next stream announces what is unread.
                Err(error) => {
                    tracing::warn!(%error, "a session was not notified of changes");
                    continue;
                }
            };
            if let Err(error) = notify_legacy(db, &session, &caller, &peer, changes).await {
                tracing::debug!(%error, "a session's client is gone");
                return;
            }
        }
    };
    tokio::select! {
        () = forwarded => {}
        () = session.ended.cancelled() => {}
    }
}

async fn notify_legacy(db: &Db, session: &Session, caller: &Caller, peer: &Peer<RoleServer>, changes: PendingChanges) -> Result<(), ServiceError> {
    if changes.inbox || changes.tools {
        peer.notify_tool_list_changed().await?;
    }
    if changes.inbox && session.wants_logs() {
        match unread(db, caller).await.map(|unread| unread.alert()) {
            Ok(Some(alert)) => log(peer, alert).await?,
            Ok(None) => {}
            Err(error) => tracing::warn!(%error, "an alert was not sent"),
        }
    }
    for uri in changes.resources {
        peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri.to_string())).await?;
    }
    Ok(())
}

#[expect(deprecated, reason = "only revisions before 2026-07-28 have log messages, and their clients show them")]
async fn log(peer: &Peer<RoleServer>, alert: String) -> Result<(), ServiceError> {
    let message = rmcp::model::LoggingMessageNotificationParam::new(rmcp::model::LoggingLevel::Alert, alert.into()).with_logger("vibe-relay");
    peer.notify_logging_message(message).await
}

/// Announces unread messages on a session's new stream.
pub(crate) async fn opened(db: &Db, caller: &Caller, session: &Session) {
    announce_unread(db, caller, &session.listener).await;
}
