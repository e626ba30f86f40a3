//! Messages of the human to a running agent: queued, then delivered once over its stdin.

use domain::id::RunId;
use domain::runs::run::{RunChange, RunRefusal};
use domain::text;
use sqlx::Row;

use crate::board::task::row as tasks;
use crate::caller::Caller;
use crate::engine::open::Db;
use crate::engine::tx::NoEventReason;
use crate::error::Result;
use crate::runs::run::row as runs;
use crate::runs::run::write::queue_message;

/// A message that was not delivered yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunMessage {
    pub id: i64,
    pub content: String,
}

impl Db {
    /// Queues a message for a running agent, and adds it to the task's thread for later runs.
    ///
    /// # Errors
    /// When the text is invalid or the run has ended.
    pub async fn message_run(&self, caller: &Caller, id: &RunId, content: &str) -> Result<()> {
        let (caller, id, content) = (caller.clone(), id.clone(), content.to_owned());
        self.write(move |tx| {
            Box::pin(async move {
                caller.require_person("messaging agents")?;
                let content = text::validate_body("content", &content)?;
                let run = runs::read(&mut tx.connection, &id).await?;
                if !run.is_live() || run.stop_requested_at.is_some() {
                    return Err(RunRefusal::NotLive(id.to_string()).into());
                }
                let card = tasks::card(&mut tx.connection, &run.task_id).await?;
                queue_message(tx, &caller, &card, &run, &content).await
            })
        })
        .await
    }

    /// Lists the undelivered messages of a run, oldest first.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn undelivered(&self, id: &RunId) -> Result<Vec<RunMessage>> {
        let rows = sqlx::query("SELECT id, content FROM run_messages WHERE run_id = $1 AND delivered_at IS NULL ORDER BY id")
            .bind(id.as_str())
            .fetch_all(&self.readers)
            .await?;
        rows.iter().map(|row| Ok(RunMessage { id: row.try_get("id")?, content: row.try_get("content")? })).collect()
    }

    /// Marks a message as delivered.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn message_delivered(&self, id: &RunId, message: i64) -> Result<()> {
        let id = id.clone();
        self.write(move |tx| {
            Box::pin(async move {
                let changed = sqlx::query("UPDATE run_messages SET delivered_at = $3 WHERE id = $1 AND run_id = $2 AND delivered_at IS NULL")
                    .bind(message)
                    .bind(id.as_str())
                    .bind(tx.now.to_string())
                    .execute(&mut tx.connection)
                    .await?;
                if changed.rows_affected() == 0 {
                    tx.skip_event(NoEventReason::NothingChanged);
                    return Ok(());
                }
                let run = runs::read(&mut tx.connection, &id).await?;
                let card = tasks::card(&mut tx.connection, &run.task_id).await?;
                tx.record_for_run(&Caller::Runner, &card.project_id, &card.id, &id, RunChange::MessageDelivered {});
                Ok(())
            })
        })
        .await
    }
}
