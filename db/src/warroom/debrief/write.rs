//! Writes debriefs, and ends sessions. Must not decide who may.

use domain::id::{ProjectId, RunId};
use domain::warroom::debrief::{Debrief, DebriefEvent};

use super::row;
use crate::caller::Caller;
use crate::engine::tx::Tx;
use crate::error::Result;

/// The debriefs of the session of a project `$1` that ends at `$2`.
pub(crate) const END: &str = "UPDATE debriefs SET session_ended_at = $2 WHERE project_id = $1 AND session_ended_at IS NULL";

/// Stores a debrief of the current session.
pub(super) async fn file(tx: &mut Tx, caller: &Caller, project: &ProjectId, summary: &str) -> Result<Debrief> {
    let row = sqlx::query("INSERT INTO debriefs (project_id, author, run_id, summary, created_at) VALUES ($1, $2, $3, $4, $5) RETURNING *")
        .bind(project.as_str())
        .bind(caller.name().unwrap_or_default())
        .bind(caller.run().map(RunId::as_str))
        .bind(summary)
        .bind(tx.now.to_string())
        .fetch_one(&mut tx.connection)
        .await?;
    let debrief = row::debrief_of(&row)?;
    tx.record_without_card(caller, project, None, DebriefEvent::Filed { debrief: debrief.id });
    Ok(debrief)
}

/// Marks the debriefs of the current session as those of one that has ended.
pub(super) async fn end_session(tx: &mut Tx, caller: &Caller, project: &ProjectId) -> Result<()> {
    sqlx::query(END).bind(project.as_str()).bind(tx.now.to_string()).execute(&mut tx.connection).await?;
    tx.record_without_card(caller, project, None, DebriefEvent::SessionEnded {});
    Ok(())
}
