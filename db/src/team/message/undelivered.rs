//! Notifies senders once when a managed agent ends before it received their messages.

use domain::id::{ProjectId, TaskId};
use domain::team::agent::RUNNER;
use sqlx::Row;

use super::{OutgoingMessage, post};
use crate::caller::Caller;
use crate::engine::tx::Tx;
use crate::error::Result;

/// Notifies everyone who wrote directly to `name`. Copies, broadcasts and the runner's own messages need no notice, and managed agents
/// that have ended receive none.
pub(crate) async fn notify_senders(tx: &mut Tx, project: &ProjectId, task: &TaskId, name: &str) -> Result<()> {
    let unread = sqlx::query(
        "SELECT m.id, m.from_agent FROM messages m
         WHERE m.project_id = $1 AND m.to_agent = $2 AND m.read_at IS NULL AND m.delivered_at IS NULL AND m.is_cc = 0 AND m.from_agent <> $3
           AND NOT EXISTS (SELECT 1 FROM agents a
             WHERE a.project_id = $1 AND a.name = m.from_agent AND a.run_id IS NOT NULL AND a.left_at IS NOT NULL)
           AND NOT EXISTS (SELECT 1 FROM messages told
             WHERE told.project_id = $1 AND told.id > m.id AND told.reply_to = m.id AND told.from_agent = $3)
         ORDER BY m.id",
    )
    .bind(project.as_str())
    .bind(name)
    .bind(RUNNER)
    .fetch_all(&mut tx.connection)
    .await?;
    for row in &unread {
        let (id, from): (i64, String) = (row.try_get("id")?, row.try_get("from_agent")?);
        let content = format!("[UNDELIVERED] {name} is gone; your message #{id} was not read");
        post(tx, &Caller::Runner, OutgoingMessage { project, from: RUNNER, to: &from, content: &content, task: Some(task), reply_to: Some(id) })
            .await?;
    }
    Ok(())
}
