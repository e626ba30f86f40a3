//! Rows about messages that retention may remove. Must not offer anything that a person wrote, or that a reader still needs.

use domain::team::agent::RUNNER;
use domain::time::Timestamp;
use sqlx::SqliteConnection;

use crate::engine::tx::Tx;
use crate::error::Result;

/// A broadcast and its reader.
pub(crate) type Delivery = (i64, String);

/// Old records that a broadcast was read, of readers whose cursor is past it: the cursor alone says that it needs no delivery.
pub(crate) async fn deliveries(connection: &mut SqliteConnection, cutoff: Timestamp, limit: u32) -> Result<Vec<Delivery>> {
    Ok(sqlx::query_as(
        "SELECT b.message_id, b.agent_name FROM broadcast_reads b
           JOIN messages m ON m.id = b.message_id
           JOIN projects p ON p.id = m.project_id
           LEFT JOIN agents a ON a.project_id = m.project_id AND a.name = b.agent_name
         WHERE b.read_at IS NOT NULL AND b.read_at < $1
           AND b.message_id <= COALESCE(a.broadcast_cursor, CASE WHEN b.agent_name = 'human' THEN p.human_broadcast_cursor END, 0)
         ORDER BY b.read_at LIMIT $2",
    )
    .bind(cutoff.to_string())
    .bind(i64::from(limit))
    .fetch_all(connection)
    .await?)
}

pub(crate) async fn remove_deliveries(tx: &mut Tx, deliveries: &[Delivery]) -> Result<u64> {
    let mut removed = 0;
    for (message, name) in deliveries {
        let done = sqlx::query("DELETE FROM broadcast_reads WHERE message_id = $1 AND agent_name = $2 AND read_at IS NOT NULL")
            .bind(message)
            .bind(name)
            .execute(&mut tx.connection)
            .await?;
        removed += done.rows_affected();
    }
    Ok(removed)
}

/// Old messages that the agent of a run had read before it departed, written by another managed agent or by the runner. The newest message
/// is never one of them, because the next id is derived from it.
pub(crate) async fn messages(connection: &mut SqliteConnection, cutoff: Timestamp, limit: u32) -> Result<Vec<i64>> {
    Ok(sqlx::query_scalar(
        "SELECT m.id FROM messages m
           JOIN agents r ON r.project_id = m.project_id AND r.name = m.to_agent
           LEFT JOIN agents s ON s.project_id = m.project_id AND s.name = m.from_agent
         WHERE m.read_at IS NOT NULL AND m.read_at < $1 AND m.from_agent <> 'human' AND substr(m.from_agent, 1, 6) <> 'human/'
           AND r.run_id IS NOT NULL AND r.left_at IS NOT NULL AND r.left_at < $1
           AND (m.from_agent = $2 OR s.run_id IS NOT NULL)
           AND m.id < (SELECT MAX(id) FROM messages)
         ORDER BY m.read_at, m.id LIMIT $3",
    )
    .bind(cutoff.to_string())
    .bind(RUNNER)
    .bind(i64::from(limit))
    .fetch_all(connection)
    .await?)
}

/// Removes messages, except those that a reply, a copy or a delivery still refers to.
pub(crate) async fn remove_messages(tx: &mut Tx, ids: &[i64]) -> Result<u64> {
    let mut removed = 0;
    for id in ids {
        let done = sqlx::query(
            "DELETE FROM messages WHERE id = $1 AND read_at IS NOT NULL
               AND NOT EXISTS (SELECT 1 FROM messages r WHERE r.reply_to = $1)
               AND NOT EXISTS (SELECT 1 FROM messages c WHERE c.copy_of = $1)
               AND NOT EXISTS (SELECT 1 FROM broadcast_reads b WHERE b.message_id = $1)",
        )
        .bind(id)
        .execute(&mut tx.connection)
        .await?;
        removed += done.rows_affected();
    }
    Ok(removed)
}
