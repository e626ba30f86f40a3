//! Messages that a person marks as read. Listing messages marks none.

use domain::refusal::Refusal;
use domain::team::message::MessageEvent;
use domain::team::person::Right;
use sqlx::Row;

use crate::caller::Caller;
use crate::engine::column::{optional, parsed};
use crate::engine::open::Db;
use crate::engine::tx::NoEventReason;
use crate::error::Result;

impl Db {
    /// Marks one message as read by the person who asks.
    ///
    /// # Errors
    /// When the caller may not work on boards, or did not receive the message.
    pub async fn mark_message_read(&self, caller: &Caller, message: i64) -> Result<()> {
        let caller = caller.clone();
        self.write(move |tx| {
            Box::pin(async move {
                caller.person(Right::Work, "reading messages")?;
                let name = caller.name().unwrap_or_default();
                let row = sqlx::query(
                    "SELECT d.project_id, d.read_at, m.task_id FROM deliveries d JOIN messages m ON m.id = d.message_id
                     WHERE d.message_id = $1 AND d.recipient = $2",
                )
                .bind(message)
                .bind(&name)
                .fetch_optional(&mut tx.connection)
                .await?;
                let row = row.ok_or_else(|| Refusal::not_found("message", message))?;
                if row.try_get::<Option<&str>, _>("read_at")?.is_some() {
                    tx.skip_event(NoEventReason::NothingChanged);
                    return Ok(());
                }
                sqlx::query(
                    "UPDATE deliveries SET state = 'read', read_at = $3, delivered_at = COALESCE(delivered_at, $3), stdin_line_id = NULL
                     WHERE message_id = $1 AND recipient = $2",
                )
                .bind(message)
                .bind(&name)
                .bind(tx.now.to_string())
                .execute(&mut tx.connection)
                .await?;
                let (project, task) = (parsed(&row, "project_id")?, optional(&row, "task_id")?);
                tx.record_without_card(&caller, &project, task.as_ref(), MessageEvent::Read { message });
                Ok(())
            })
        })
        .await
    }
}
