//! Webhooks: how far each is told what happened, and its next notification. Must not send anything.
//!
//! Nothing is queued: a webhook has a position in the event log, which moves on after the notification of an event arrived. A restart therefore
//! loses no notification, and repeats at most the one that was on its way.

use domain::board::project::{ProjectEvent, ProjectStatus};
use domain::board::report::NeedsYou;
use domain::board::status::Status;
use domain::board::task::event::TaskEvent;
use domain::event::{Envelope, Event, Seq};
use domain::id::{ProjectId, TaskId};
use domain::runs::parking::{Parking, ParkingEvent};
use domain::team::webhook::{NeedsYouNotification, Notification, NotificationKind, ParkedNotification, PlanNotification, ProjectTitle};
use domain::time::Timestamp;
use sqlx::{Connection, Row, SqliteConnection};

use crate::board::project::row as projects;
use crate::board::task::row as tasks;
use crate::engine::column::{count, optional, parsed};
use crate::engine::event_log;
use crate::engine::open::Db;
use crate::engine::tx::NoEventReason;
use crate::error::Result;
use crate::now;
use crate::team::token::hash;

/// The tasks of a plan that awaits approval, by its planning task.
pub(crate) const PLANNED: &str = "SELECT COUNT(*) FROM tasks WHERE parent_task_id = $1 AND status = 'backlog' AND held_by = 'plan'";

/// Events that are read at once.
const PAGE: u32 = 50;

/// How far a webhook is told what happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WebhookProgress {
    /// The last event that needs no further notification.
    pub seq: Seq,
    /// The number of times in a row that its next notification could not be sent.
    pub failures: u32,
    /// The time of the next try after a failure.
    pub retry_at: Option<Timestamp>,
    /// The end of its last morning report.
    pub reported_until: Timestamp,
}

/// The result of a search for a notification.
#[derive(Debug, Clone, PartialEq)]
pub struct NextNotification {
    /// The last event that was read: that of the notification, if there is one.
    pub seq: Seq,
    pub notification: Option<Notification>,
}

impl Db {
    /// Returns the progress of a webhook. A new one starts with the next event.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn webhook_progress(&self, url: &str) -> Result<WebhookProgress> {
        let row = sqlx::query("SELECT seq, failures, retry_at, reported_until FROM webhooks WHERE url_hash = $1")
            .bind(hash(url))
            .fetch_optional(&self.readers)
            .await?;
        if let Some(row) = row {
            return Ok(WebhookProgress {
                seq: row.try_get("seq")?,
                failures: count(&row, "failures")?,
                retry_at: optional(&row, "retry_at")?,
                reported_until: parsed(&row, "reported_until")?,
            });
        }
        let progress = WebhookProgress { seq: self.latest(), failures: 0, retry_at: None, reported_until: now() };
        self.record_webhook_progress(url, progress).await?;
        Ok(progress)
    }

    /// Stores the progress of a webhook.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn record_webhook_progress(&self, url: &str, progress: WebhookProgress) -> Result<()> {
        let url_hash = hash(url);
        self.write(move |tx| {
            Box::pin(async move {
                tx.skip_event(NoEventReason::WebhookProgress);
                sqlx::query(
                    "INSERT INTO webhooks (url_hash, seq, failures, retry_at, reported_until) VALUES ($1, $2, $3, $4, $5)
                     ON CONFLICT (url_hash) DO UPDATE SET seq = excluded.seq, failures = excluded.failures, retry_at = excluded.retry_at,
                       reported_until = excluded.reported_until",
                )
                .bind(url_hash)
                .bind(progress.seq)
                .bind(i64::from(progress.failures))
                .bind(progress.retry_at.map(|time| time.to_string()))
                .bind(progress.reported_until.to_string())
                .execute(&mut tx.connection)
                .await?;
                Ok(())
            })
        })
        .await
    }

    /// Removes the progress of all webhooks but these. One that is configured again later starts with the next event.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn remove_other_webhooks(&self, urls: &[String]) -> Result<()> {
        let kept: Vec<String> = urls.iter().map(|url| hash(url)).collect();
        self.write(move |tx| {
            Box::pin(async move {
                tx.skip_event(NoEventReason::WebhookProgress);
                let known: Vec<String> = sqlx::query_scalar("SELECT url_hash FROM webhooks").fetch_all(&mut tx.connection).await?;
                for url_hash in known.into_iter().filter(|known| !kept.contains(known)) {
                    sqlx::query("DELETE FROM webhooks WHERE url_hash = $1").bind(url_hash).execute(&mut tx.connection).await?;
                }
                Ok(())
            })
        })
        .await
    }

    /// Finds the first event after `seq` about which a webhook with these events should be told. A decision that was
    /// settled meanwhile needs no notification.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn next_notification(&self, seq: Seq, events: &[NotificationKind]) -> Result<NextNotification> {
        let kinds: Vec<&str> = events.iter().flat_map(|kind| event_kinds(*kind)).copied().collect();
        let mut connection = self.readers.acquire().await?;
        // One snapshot, so that a notification is about the state after the last event that was read.
        let mut snapshot = connection.begin().await?;
        let latest: Seq = sqlx::query_scalar("SELECT COALESCE(MAX(seq), 0) FROM events").fetch_one(&mut *snapshot).await?;
        let mut after = seq;
        while !kinds.is_empty() {
            let page = event_log::of_kinds(&mut snapshot, after + 1, &kinds, PAGE).await?;
            for envelope in &page {
                if let Some(notification) = notification(&mut snapshot, envelope).await? {
                    return Ok(NextNotification { seq: envelope.seq, notification: Some(notification) });
                }
            }
            let Some(last) = page.last() else { break };
            after = last.seq;
        }
        Ok(NextNotification { seq: latest.max(seq), notification: None })
    }
}

/// The kinds of the events that can cause a notification of this kind. The morning comes by the clock.
const fn event_kinds(kind: NotificationKind) -> &'static [&'static str] {
    match kind {
        NotificationKind::NeedsYou => &["task_needs_you", "task_moved", "agents_parked"],
        NotificationKind::Complete => &["project_completed"],
        NotificationKind::Morning => &[],
    }
}

/// The notification about an event, if it still describes the current state.
async fn notification(connection: &mut SqliteConnection, envelope: &Envelope) -> Result<Option<Notification>> {
    match (&envelope.event, &envelope.task_id) {
        (Event::Project(ProjectEvent::Completed {}), _) => {
            let Some(id) = &envelope.project_id else { return Ok(None) };
            let project = projects::read(connection, id).await?;
            let is_complete = project.status == ProjectStatus::Complete;
            Ok(is_complete.then_some(Notification::Complete(ProjectTitle { project_id: project.id, title: project.title })))
        }
        (Event::Task(TaskEvent::AttentionRequested { attention }), Some(task)) => {
            let card = tasks::outline(connection, task).await?;
            let is_current = card.attention.as_ref() == Some(attention);
            let Some(needs_you) = NeedsYou::of(&card).filter(|_| is_current) else { return Ok(None) };
            let project = title(connection, &card.project_id).await?;
            Ok(Some(Notification::NeedsYou(NeedsYouNotification { project, needs_you })))
        }
        (Event::Task(TaskEvent::Moved { to: Status::Done, .. }), Some(task)) => plan(connection, envelope, task).await,
        (Event::Parking(ParkingEvent::Parked { parking }), _) => parked(connection, envelope, parking).await,
        _ => Ok(None),
    }
}

/// A plan awaits approval as soon as its planning task is done.
async fn plan(connection: &mut SqliteConnection, envelope: &Envelope, planning: &TaskId) -> Result<Option<Notification>> {
    let planned: i64 = sqlx::query_scalar(PLANNED).bind(planning.as_str()).fetch_one(&mut *connection).await?;
    let (Some(project), Ok(planned_tasks @ 1..)) = (&envelope.project_id, u32::try_from(planned)) else { return Ok(None) };
    let project = title(connection, project).await?;
    Ok(Some(Notification::Plan(PlanNotification { project, planned_tasks })))
}

/// An outage that only the human can end is notified once, however often its parking is prolonged.
async fn parked(connection: &mut SqliteConnection, envelope: &Envelope, parking: &Parking) -> Result<Option<Notification>> {
    if !parking.needs_human_since(envelope.at) {
        return Ok(None);
    }
    let since: Option<String> =
        sqlx::query_scalar("SELECT since FROM parkings WHERE reason = $1").bind(parking.reason.as_str()).fetch_optional(connection).await?;
    let is_current = since == Some(parking.since.to_string());
    Ok(is_current.then(|| Notification::Parked(ParkedNotification::of(parking))))
}

async fn title(connection: &mut SqliteConnection, id: &ProjectId) -> Result<ProjectTitle> {
    let project = projects::read(connection, id).await?;
    Ok(ProjectTitle { project_id: project.id, title: project.title })
}
