//! The event log for its readers: read by sequence number, with a notification that carries no data. Must not write.

use domain::event::{Envelope, Seq};
use domain::id::ProjectId;
use tokio::sync::watch;

use crate::engine::event_log::page;
use crate::engine::open::Db;
use crate::error::Result;

impl Db {
    /// Changes after every commit. Subscribe first, then read the log.
    pub fn subscribe(&self) -> watch::Receiver<Seq> {
        self.committed.clone()
    }

    /// Returns the number of the last committed event.
    pub fn latest(&self) -> Seq {
        *self.committed.borrow()
    }

    /// Reads at most `limit` events after `seq`, of one project (with those that belong to no project) or of all.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn events_after(&self, seq: Seq, project: Option<&ProjectId>, limit: u32) -> Result<Vec<Envelope>> {
        let mut connection = self.readers.acquire().await?;
        page(&mut connection, seq, project, limit).await
    }

    /// Whether every event after `seq` is still in the log. If not, the reader must load the board again.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn has_events_after(&self, seq: Seq) -> Result<bool> {
        let oldest: Option<Seq> = sqlx::query_scalar("SELECT MIN(seq) FROM events").fetch_one(&self.readers).await?;
        Ok(oldest.is_none_or(|oldest| oldest <= seq.saturating_add(1)))
    }
}
