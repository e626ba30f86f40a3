//! Removes old events from the log and keeps their result, so that a replay of the rest still ends in the present board.
//!
//! Must not know what a card or a project means: a snapshot is the JSON that the event carried.

use std::collections::BTreeMap;

use domain::event::Seq;
use domain::time::Timestamp;
use serde::de::IgnoredAny;
use serde_json::Value;
use sqlx::Row;

use crate::engine::event_log::Payload;
use crate::engine::tx::Tx;
use crate::error::Result;

/// The task id under which the snapshot of the project itself is stored.
const PROJECT_ITSELF: &str = "";

/// Removes at most `batch` of the oldest events: those before `cutoff`, and those that exceed `max_events`. The latest event always stays,
/// because the next sequence number is derived from it. Returns how many were removed.
pub(crate) async fn remove_oldest_events(tx: &mut Tx, cutoff: Timestamp, max_events: i64, batch: i64) -> Result<u64> {
    let excess_up_to = tx.seq.saturating_sub(max_events);
    let rows = sqlx::query("SELECT seq, at, project_id, task_id, payload FROM events WHERE seq < $1 ORDER BY seq LIMIT $2")
        .bind(tx.seq)
        .bind(batch)
        .fetch_all(&mut tx.connection)
        .await?;
    let mut last: Option<Seq> = None;
    let mut removed = 0;
    let mut snapshots: BTreeMap<(String, String), String> = BTreeMap::new();
    for row in &rows {
        let seq: Seq = row.try_get("seq")?;
        // The log has no gaps: everything before the first event that stays is removed, whatever the clock did.
        if seq > excess_up_to && row.try_get::<&str, _>("at")?.parse::<Timestamp>()? >= cutoff {
            break;
        }
        last = Some(seq);
        removed += 1;
        let Some(project) = row.try_get::<Option<String>, _>("project_id")? else { continue };
        let payload: Payload<IgnoredAny, Value, Value> = serde_json::from_str(row.try_get("payload")?)?;
        if let Some(snapshot) = payload.project {
            snapshots.insert((project.clone(), PROJECT_ITSELF.to_owned()), snapshot.to_string());
        }
        if let (Some(snapshot), Some(task)) = (payload.card, row.try_get::<Option<String>, _>("task_id")?) {
            snapshots.insert((project, task), snapshot.to_string());
        }
    }
    let Some(last) = last else { return Ok(0) };
    for ((project, task), snapshot) in snapshots {
        sqlx::query(
            "INSERT INTO checkpoints (project_id, task_id, snapshot) VALUES ($1, $2, $3)
             ON CONFLICT (project_id, task_id) DO UPDATE SET snapshot = excluded.snapshot",
        )
        .bind(project)
        .bind(task)
        .bind(snapshot)
        .execute(&mut tx.connection)
        .await?;
    }
    sqlx::query("DELETE FROM events WHERE seq <= $1").bind(last).execute(&mut tx.connection).await?;
    Ok(removed)
}
