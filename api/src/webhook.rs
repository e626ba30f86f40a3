//! Webhooks: sends notifications to the configured addresses, each on its own, so that one that hangs delays no other and never the runner.
//!
//! A notification arrives at least once: its position in the event log is stored after the receiver accepted it. Must not know which events need a
//! notification, and must not log an address, because some addresses are secret.

mod client;
mod sign;

use std::time::Duration;

use db::{Db, WebhookProgress};
use domain::config::live::LiveConfig;
use domain::event::Seq;
use domain::team::webhook::{MAX_TRIES, Notification, NotificationKind, Webhook, pause};
use domain::time::Timestamp;
use serde::Serialize;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use self::client::{Client, SendError};

/// The longest time between two looks at the clock, which jumps when the machine was suspended.
const MAX_SLEEP: Duration = Duration::from_secs(60);
/// Retries at most this far ahead are plausible; a later one means that the clock was set back.
const MAX_RETRY: Duration = Duration::from_secs(3 * 3600);
/// Events without a notification after which the position is stored, so that a restart does not read them again.
const STORE_AFTER: Seq = 1_000;

/// Sends the notifications of all configured webhooks until the server stops.
pub async fn run(db: Db, mut config: watch::Receiver<LiveConfig>, shutdown: CancellationToken) {
    while !shutdown.is_cancelled() {
        let webhooks = config.borrow_and_update().config.webhooks.clone();
        let urls: Vec<String> = webhooks.iter().map(|webhook| webhook.url.clone()).collect();
        if let Err(error) = db.remove_other_webhooks(&urls).await {
            tracing::warn!(error = &error as &dyn std::error::Error, "could not remove the progress of former webhooks");
        }
        let stop = shutdown.child_token();
        let mut senders = JoinSet::new();
        // The certificates of the system are read only if they are needed.
        let client = (!webhooks.is_empty()).then(Client::new).transpose();
        let client = client.unwrap_or_else(|error| {
            tracing::error!(error = &error as &dyn std::error::Error, "webhooks are off, because the system has no certificates");
            None
        });
        for ((index, webhook), client) in webhooks.iter().cloned().enumerate().zip(client.iter().cycle()) {
            let sender = Sender { index, db: db.clone(), client: client.clone(), webhook };
            senders.spawn(stop.clone().run_until_cancelled_owned(sender.run()));
        }
        let changed = async { config.wait_for(|live| live.config.webhooks != webhooks).await.is_ok() };
        if shutdown.run_until_cancelled(changed).await == Some(false) {
            // The configuration is not followed any longer, and stays as it is.
            shutdown.cancelled().await;
        }
        stop.cancel();
        while senders.join_next().await.is_some() {}
    }
}

/// Sends the notifications of one webhook, one after the other.
struct Sender {
    /// Its number in the configuration, which names it in the log.
    index: usize,
    db: Db,
    client: Client,
    webhook: Webhook,
}

/// The next step of a sender.
#[derive(Debug, PartialEq, Eq)]
enum Next {
    /// Looks for another notification at once.
    Continue,
    /// Waits for a commit, or until the morning may have begun.
    Wait,
    /// Waits for the next try.
    Retry(Timestamp),
}

/// A notification with the id that all its tries share.
struct Due {
    id: String,
    notification: Notification,
    /// The last event that needs no notification before it. Failures of another notification have another one, and do not count.
    before: Seq,
    after: WebhookProgress,
}

/// The body of a request.
#[derive(Serialize)]
struct Body<'notification> {
    timestamp: Timestamp,
    #[serde(flatten)]
    notification: &'notification Notification,
}

impl Sender {
    async fn run(self) {
        let mut commits = self.db.subscribe();
        let mut read_until = 0;
        loop {
            commits.borrow_and_update();
            let next = match self.step(&mut read_until).await {
                Ok(next) => next,
                Err(db::Error::Closed) => return,
                Err(error) => {
                    tracing::warn!(webhook = self.index, error = &error as &dyn std::error::Error, "could not look for notifications; trying again");
                    Next::Retry(db::now().after(MAX_SLEEP))
                }
            };
            match next {
                Next::Continue => {}
                Next::Retry(at) => sleep(at.since(db::now()).min(MAX_SLEEP)).await,
                Next::Wait => {
                    if let Ok(Err(_closed)) = timeout(MAX_SLEEP, commits.changed()).await {
                        return;
                    }
                }
            }
        }
    }

    /// Sends the next notification, if one is due. `read_until` is the last event that this process has read for nothing.
    async fn step(&self, read_until: &mut Seq) -> db::Result<Next> {
        let (url, now) = (&self.webhook.url, db::now());
        let progress = self.db.webhook_progress(url).await?;
        if let Some(at) = progress.retry_at.filter(|at| !at.is_due(now, MAX_RETRY)) {
            return Ok(Next::Retry(at));
        }
        let Some(due) = self.due(progress, read_until, now).await? else {
            if progress.failures > 0 {
                // The notification that failed is settled.
                self.db.record_webhook_progress(url, WebhookProgress { failures: 0, retry_at: None, ..progress }).await?;
            }
            return Ok(Next::Wait);
        };
        let Err(error) = self.send(&due, now).await else {
            self.db.record_webhook_progress(url, due.after).await?;
            return Ok(Next::Continue);
        };
        let failures = if due.before == progress.seq { progress.failures + 1 } else { 1 };
        let (webhook, id) = (self.index, due.id.as_str());
        let Some(pause) = pause(failures) else {
            tracing::warn!(webhook, id, error = &error as &dyn std::error::Error, "a notification was refused {MAX_TRIES} times, and is dropped");
            self.db.record_webhook_progress(url, due.after).await?;
            return Ok(Next::Continue);
        };
        tracing::info!(webhook, id, failures, error = &error as &dyn std::error::Error, "a notification was refused; trying again in {pause:?}");
        let retry_at = db::now().after(pause);
        self.db.record_webhook_progress(url, WebhookProgress { seq: due.before, failures, retry_at: Some(retry_at), ..progress }).await?;
        Ok(Next::Retry(retry_at))
    }

    /// Returns the next notification: that of an event, or the report of a morning that has begun.
    async fn due(&self, progress: WebhookProgress, read_until: &mut Seq, now: Timestamp) -> db::Result<Option<Due>> {
        let mut after = WebhookProgress { failures: 0, retry_at: None, ..progress };
        let found = self.db.next_notification(progress.seq.max(*read_until), &self.webhook.events).await?;
        if let Some(notification) = found.notification {
            after.seq = found.seq;
            let id = format!("event-{}-{}", self.db.epoch(), found.seq);
            return Ok(Some(Due { id, notification, before: found.seq - 1, after }));
        }
        *read_until = found.seq;
        let morning = self.webhook.morning_at.last_before(now);
        if self.webhook.events.contains(&NotificationKind::Morning) && progress.reported_until < morning {
            let report = self.db.report(progress.reported_until).await?;
            (after.seq, after.reported_until) = (found.seq, report.until);
            let (id, notification) = (format!("morning-{}-{morning}", self.db.epoch()), Notification::Morning(Box::new(report)));
            return Ok(Some(Due { id, notification, before: progress.seq, after }));
        }
        if found.seq - progress.seq >= STORE_AFTER {
            self.db.record_webhook_progress(&self.webhook.url, WebhookProgress { seq: found.seq, ..after }).await?;
        }
        Ok(None)
    }

    async fn send(&self, due: &Due, now: Timestamp) -> Result<(), SendError> {
        let body = serde_json::to_string(&Body { timestamp: now, notification: &due.notification })?;
        let seconds = (now.milliseconds() / 1000).to_string();
        let signature = sign::signature(&self.webhook.secret, &due.id, &seconds, &body);
        let headers = [("webhook-id", due.id.as_str()), ("webhook-timestamp", &seconds), ("webhook-signature", &signature)];
        self.client.post(&self.webhook.url, headers, body).await
    }
}
