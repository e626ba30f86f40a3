//! Ends the minions of a run or of an agent. Must not know why the run or the agent ended.

use domain::id::{ProjectId, RunId};
use domain::team::minion::{MinionEvent, MinionStatus};
use sqlx::Row;
use sqlx::sqlite::SqliteRow;

use crate::caller::Caller;
use crate::engine::column::parsed;
use crate::engine::tx::Tx;
use crate::error::Result;

/// Marks the running minions of a run as failed, because they end with it.
pub(crate) async fn fail_minions_of_run(tx: &mut Tx, run: &RunId) -> Result<()> {
    let rows = sqlx::query(
        "UPDATE minions SET status = 'failed', completed_at = $2, result = 'Its run ended first.' WHERE run_id = $1 AND status = 'spawned'
         RETURNING id, project_id",
    )
    .bind(run.as_str())
    .bind(tx.now.to_string())
    .fetch_all(&mut tx.connection)
    .await?;
    record_failed(tx, &rows)
}

/// Marks the running minions of an agent as failed, because it left.
pub(crate) async fn fail_minions_of_agent(tx: &mut Tx, project: &ProjectId, pilot: &str) -> Result<()> {
    let rows = sqlx::query(
        "UPDATE minions SET status = 'failed', completed_at = $3, result = 'Its agent left first.'
         WHERE project_id = $1 AND pilot = $2 AND status = 'spawned' RETURNING id, project_id",
    )
    .bind(project.as_str())
    .bind(pilot)
    .bind(tx.now.to_string())
    .fetch_all(&mut tx.connection)
    .await?;
    record_failed(tx, &rows)
}

fn record_failed(tx: &mut Tx, rows: &[SqliteRow]) -> Result<()> {
    for row in rows {
        let event = MinionEvent::Logged { minion: row.try_get("id")?, status: MinionStatus::Failed };
        tx.record_without_card(&Caller::Runner, &parsed(row, "project_id")?, None, event);
    }
    Ok(())
}
