//! Messages of the person to a running agent: queued, then delivered once over its standard input.

use domain::event::Event;
use domain::id::RunId;
use domain::refusal::Refusal;
use domain::text;
use sqlx::Row;

use crate::board::comment;
use crate::board::task::read;
use crate::caller::Caller;
use crate::engine::open::Db;
use crate::engine::tx::NoEventReason;
use crate::error::Result;
use crate::runs::run;

/// A message that its agent has not been given yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunMessage {
    pub id: i64,
    pub content: String,
}

impl Db {
    /// Queues words for a running agent. They join the thread too, so that later runs know them.
    ///
    /// # Errors
    /// When the words are not acceptable or the run is over.
    pub async fn message_run(&self, caller: &Caller, id: &RunId, content: &str) -> Result<()> {
        let (caller, id, content) = (caller.clone(), id.clone(), content.to_owned());
        self.write(move |tx| {
            Box::pin(async move {
                caller.require_person("messaging agents")?;
                let content = text::validate_body("content", &content)?;
                let run = run::read(&mut tx.connection, &id).await?;
                if !run.is_live() || run.stop_requested_at.is_some() {
                    return Err(Refusal::NoLiveRun(id.to_string()).into());
                }
                let card = read::card(&mut tx.connection, &run.task_id).await?;
                sqlx::query("INSERT INTO run_messages (run_id, content, created_at) VALUES ($1, $2, $3)")
                    .bind(id.as_str())
                    .bind(&content)
                    .bind(tx.now.to_string())
                    .execute(&mut tx.connection)
                    .await?;
                comment::insert(tx, &caller, &card.project_id, &card.id, &content).await?;
                tx.record_for_run(&caller, &card.project_id, &card.id, &id, Event::RunMessageQueued {});
                Ok(())
            })
        })
        .await
    }

    /// What a run has not been told yet, oldest first.
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

    /// Marks a message as given to its agent.
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
                let run = run::read(&mut tx.connection, &id).await?;
                let card = read::card(&mut tx.connection, &run.task_id).await?;
                tx.record_for_run(&Caller::Runner, &card.project_id, &card.id, &id, Event::RunMessageDelivered {});
                Ok(())
            })
        })
        .await
    }
}
