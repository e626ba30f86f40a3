//! Writes the raid log, and keeps the index of its words. Must not decide who may write.

use domain::board::search::SearchKind;
use domain::id::{ProjectId, RunId};
use domain::warroom::raid_log::{Priority, RaidLogEntry, RaidLogEvent};

use super::row;
use crate::board::search::write::{self as search, Document};
use crate::caller::Caller;
use crate::engine::dialect::words_index;
use crate::engine::tx::Tx;
use crate::error::Result;

/// The kind of the numbers of entries.
const NUMBERS: &str = "LOG";

/// The texts to find, of routine entries of a project `$1`.
pub(crate) const ROUTINE_TEXTS: &str = "DELETE FROM search_documents WHERE kind = 'log' AND reference IN
    (SELECT CAST(id AS TEXT) FROM raid_log WHERE project_id = $1 AND priority = 'low') RETURNING id";
pub(crate) const ROUTINE: &str = "DELETE FROM raid_log WHERE project_id = $1 AND priority = 'low'";

/// Appends an entry.
pub(crate) async fn append(tx: &mut Tx, caller: &Caller, project: &ProjectId, entry: &str, priority: Priority) -> Result<RaidLogEntry> {
    let id = tx.next_number(NUMBERS).await?;
    let row = sqlx::query(
        "INSERT INTO raid_log (id, project_id, author, run_id, entry, priority, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING *",
    )
    .bind(i64::try_from(id).unwrap_or(i64::MAX))
    .bind(project.as_str())
    .bind(caller.name().unwrap_or_default())
    .bind(caller.run().map(RunId::as_str))
    .bind(entry)
    .bind(priority.as_str())
    .bind(tx.now.to_string())
    .fetch_one(&mut tx.connection)
    .await?;
    let logged = row::entry_of(&row)?;
    search::add(tx, Document { kind: SearchKind::Log, reference: &logged.id.to_string(), project, task: None }, entry).await?;
    tx.record_without_card(caller, project, None, RaidLogEvent::Logged { entry: logged.id, priority });
    Ok(logged)
}

/// Removes the entries that do not outlive the session. The event of the project that is complete, or of the session, covers it. Returns their number.
pub(crate) async fn remove_routine(tx: &mut Tx, project: &ProjectId) -> Result<u64> {
    let texts: Vec<i64> = sqlx::query_scalar(ROUTINE_TEXTS).bind(project.as_str()).fetch_all(&mut tx.connection).await?;
    if !texts.is_empty() {
        words_index::remove_all(&mut tx.connection, &texts).await?;
    }
    Ok(sqlx::query(ROUTINE).bind(project.as_str()).execute(&mut tx.connection).await?.rows_affected())
}
