//! Rows about messages that retention may remove. Must not offer anything that a person wrote, or that a reader still needs.

use domain::board::search::SearchKind;
use domain::team::agent::RUNNER;
use domain::time::Timestamp;
use sqlx::SqliteConnection;

use crate::board::search::write as search;
use crate::engine::tx::Tx;
use crate::error::Result;

/// A broadcast and its recipient.
pub(crate) type Delivery = (i64, String);

pub(crate) const DELIVERIES: &str = "SELECT d.message_id, d.recipient FROM deliveries d
    WHERE d.kind = 'broadcast' AND d.read_at IS NOT NULL AND d.read_at < $1 ORDER BY d.read_at LIMIT $2";

/// Old deliveries of broadcasts that were read. A recipient without a delivery is not given the broadcast again.
pub(crate) async fn deliveries(connection: &mut SqliteConnection, cutoff: Timestamp, limit: u32) -> Result<Vec<Delivery>> {
    Ok(sqlx::query_as(DELIVERIES).bind(cutoff.to_string()).bind(i64::from(limit)).fetch_all(connection).await?)
}

pub(crate) async fn remove_deliveries(tx: &mut Tx, deliveries: &[Delivery]) -> Result<u64> {
    let mut removed = 0;
    for (message, name) in deliveries {
        let done = sqlx::query("DELETE FROM deliveries WHERE message_id = $1 AND recipient = $2 AND read_at IS NOT NULL")
            .bind(message)
            .bind(name)
            .execute(&mut tx.connection)
            .await?;
        removed += done.rows_affected();
    }
    Ok(removed)
}

/// The newest message is never removable, because the next id is derived from it.
pub(crate) const MESSAGES: &str = "SELECT m.id FROM messages m
      LEFT JOIN agents s ON s.project_id = m.project_id AND s.name = m.from_agent
    WHERE m.created_at < $1 AND m.from_agent <> 'human' AND substr(m.from_agent, 1, 6) <> 'human/' AND m.to_agent <> 'all' AND (m.from_agent = $2 OR s.run_id IS NOT NULL)
      AND NOT EXISTS (SELECT 1 FROM deliveries d LEFT JOIN agents r ON r.project_id = d.project_id AND r.name = d.recipient
        WHERE d.message_id = m.id AND NOT (d.read_at IS NOT NULL AND d.read_at < $1 AND r.run_id IS NOT NULL AND r.left_at IS NOT NULL AND r.left_at < $1))
      AND NOT EXISTS (SELECT 1 FROM messages reply WHERE reply.reply_to = m.id)
      AND m.id < (SELECT MAX(id) FROM messages)
    ORDER BY m.created_at LIMIT $3";

/// Old messages that managed agents or the runner wrote, that only managed agents received, and that all of these had read before they
/// departed. A message with a reply stays as long as the reply.
pub(crate) async fn messages(connection: &mut SqliteConnection, cutoff: Timestamp, limit: u32) -> Result<Vec<i64>> {
    Ok(sqlx::query_scalar(MESSAGES).bind(cutoff.to_string()).bind(RUNNER).bind(i64::from(limit)).fetch_all(connection).await?)
}

/// Removes messages with their deliveries, unless a delivery is unread or a reply refers to the message by now.
pub(crate) async fn remove_messages(tx: &mut Tx, ids: &[i64]) -> Result<u64> {
    let mut removed = 0;
    for id in ids {
        let is_needed: bool = sqlx::query_scalar(
            "SELECT EXISTS (SELECT 1 FROM deliveries d WHERE d.message_id = $1 AND d.read_at IS NULL)
               OR EXISTS (SELECT 1 FROM messages reply WHERE reply.reply_to = $1)",
        )
        .bind(id)
        .fetch_one(&mut tx.connection)
        .await?;
        if is_needed {
            continue;
        }
        sqlx::query("DELETE FROM deliveries WHERE message_id = $1").bind(id).execute(&mut tx.connection).await?;
        search::remove(tx, SearchKind::Message, &id.to_string()).await?;
        removed += sqlx::query("DELETE FROM messages WHERE id = $1").bind(id).execute(&mut tx.connection).await?.rows_affected();
    }
    Ok(removed)
}
