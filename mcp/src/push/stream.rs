//! How news reach a client: over a legacy session's stream, or as the answer to `subscriptions/listen` of the modern era.
//!
//! Knows neither log nor inbox rules. A client that cannot be reached any more ends its own stream and nothing else.

use std::sync::Arc;

use db::{Caller, Db};
use domain::team::message::Unread;
use rmcp::RoleServer;
use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::service::{Peer, ServiceError, SubscriptionContext, SubscriptionSendError};

use super::{Listener, News, Push};
use crate::bearer::Bearer;
use crate::resource::Uri;
use crate::session::Session;

/// How many resources one subscription may watch: each is read once to see whether it may.
const RESOURCES: usize = 64;

/// What waits for the caller; nothing for those who have no inbox of their own here.
///
/// # Errors
/// When the store fails.
pub(crate) async fn unread(db: &Db, caller: &Caller) -> db::Result<Unread> {
    match (caller, caller.project(), caller.name()) {
        (Caller::Run(_) | Caller::Agent(_), Some(project), Some(name)) => db.unread(project, &name).await,
        _ => Ok(Unread::default()),
    }
}

/// Messages that came while nobody listened are told of at once.
async fn begin(db: &Db, caller: &Caller, listener: &Listener) {
    match unread(db, caller).await {
        Ok(unread) if unread.count > 0 => listener.tell(|news| news.inbox = true),
        Ok(_) => {}
        Err(error) => tracing::warn!(%error, "a new stream was not told what waits"),
    }
}

/// Passes news on for as long as the client listens. It counts as connected meanwhile.
/// As soon as its token is taken back it is told nothing more, and its stream ends.
pub(crate) async fn modern(db: &Db, push: &Push, bearer: &Bearer, context: &SubscriptionContext) {
    let caller = &bearer.caller;
    let listener = push.listener(caller);
    for given in context.accepted().resource_subscriptions.iter().flatten().take(RESOURCES) {
        let Ok(uri) = given.parse::<Uri>() else { continue };
        // What the caller may not read, it is not told of either.
        if uri.admit(db, caller).await.is_ok() {
            listener.watch(uri);
        }
    }
    begin(db, caller, &listener).await;
    let _connected = db.connect(caller);
    if let Err(error) = tell_on(db, bearer, &listener, context).await {
        tracing::debug!(%error, "a subscription ended");
    }
}

async fn tell_on(db: &Db, bearer: &Bearer, listener: &Listener, context: &SubscriptionContext) -> Result<(), Ended> {
    let mut taken_back = db.token_revocations();
    while bearer.is_current(db).await? {
        let news = tokio::select! {
            news = listener.news() => news,
            woken = taken_back.changed() => if woken.is_ok() { continue } else { return Ok(()) },
            () = context.cancelled() => return Ok(()),
        };
        if !bearer.is_current(db).await? {
            return Ok(());
        }
        tell_modern(context, news).await?;
    }
    Ok(())
}

/// Why a subscription ended by itself.
#[derive(Debug, thiserror::Error)]
enum Ended {
    #[error("its client is gone: {0}")]
    Client(#[from] SubscriptionSendError),
    #[error("nobody can say whose it is: {0}")]
    Store(#[from] db::Error),
}

async fn tell_modern(context: &SubscriptionContext, news: News) -> Result<(), SubscriptionSendError> {
    let sink = context.sink();
    if (news.inbox || news.tools) && context.accepted().tools_list_changed == Some(true) {
        sink.notify_tool_list_changed().await?;
    }
    for uri in news.resources {
        sink.notify_resource_updated(uri.to_string()).await?;
    }
    Ok(())
}

/// Passes news on for as long as the session lasts, whenever a stream of it is open.
pub(crate) async fn legacy(db: &Db, session: Arc<Session>, peer: Peer<RoleServer>) {
    let told = async {
        loop {
            session.is_open().await;
            let news = session.listener.news().await;
            let caller = match session.caller(db).await {
                Ok(Some(caller)) => caller,
                Ok(None) => return,
                // Its stream ends by the same failure, and what waits is told to the next one.
                Err(error) => {
                    tracing::warn!(%error, "a session was not told what is new");
                    continue;
                }
            };
            if let Err(error) = tell_legacy(db, &session, &caller, &peer, news).await {
                tracing::debug!(%error, "a session's client is gone");
                return;
            }
        }
    };
    tokio::select! {
        () = told => {}
        () = session.ended.cancelled() => {}
    }
}

async fn tell_legacy(db: &Db, session: &Session, caller: &Caller, peer: &Peer<RoleServer>, news: News) -> Result<(), ServiceError> {
    if news.inbox || news.tools {
        peer.notify_tool_list_changed().await?;
    }
    if news.inbox && session.wants_logs() {
        match unread(db, caller).await.map(|unread| unread.alert()) {
            Ok(Some(alert)) => log(peer, alert).await?,
            Ok(None) => {}
            Err(error) => tracing::warn!(%error, "an alert could not be written"),
        }
    }
    for uri in news.resources {
        peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri.to_string())).await?;
    }
    Ok(())
}

#[expect(deprecated, reason = "the later revisions have no log messages; clients of the earlier ones show them")]
async fn log(peer: &Peer<RoleServer>, alert: String) -> Result<(), ServiceError> {
    let message = rmcp::model::LoggingMessageNotificationParam::new(rmcp::model::LoggingLevel::Alert, alert.into()).with_logger("vibe-relay");
    peer.notify_logging_message(message).await
}

/// A session's stream was opened: what waits is told, if anything does.
pub(crate) async fn opened(db: &Db, caller: &Caller, session: &Session) {
    begin(db, caller, &session.listener).await;
}
