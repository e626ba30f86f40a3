//! Requests and clears attention on a task. Must not know the consequences.

use domain::board::attention::{Attention, AttentionKind};
use domain::board::task::event::TaskEvent;
use domain::id::{ProjectId, TaskId};

use crate::caller::Caller;
use crate::engine::tx::Tx;
use crate::error::Result;

/// Requests attention on `task`.
pub(crate) async fn request(tx: &mut Tx, caller: &Caller, project: &ProjectId, task: &TaskId, attention: Attention) -> Result<()> {
    sqlx::query("UPDATE tasks SET attention = $2, updated_at = $3 WHERE id = $1")
        .bind(task.as_str())
        .bind(serde_json::to_string(&attention)?)
        .bind(tx.now.to_string())
        .execute(&mut tx.connection)
        .await?;
    tx.record_for_task(caller, project, task, TaskEvent::AttentionRequested { attention });
    Ok(())
}

/// Clears attention on `task`.
pub(crate) async fn clear(tx: &mut Tx, caller: &Caller, project: &ProjectId, task: &TaskId) -> Result<()> {
    let changed = sqlx::query("UPDATE tasks SET attention = NULL, updated_at = $2 WHERE id = $1 AND attention IS NOT NULL")
        .bind(task.as_str())
        .bind(tx.now.to_string())
        .execute(&mut tx.connection)
        .await?;
    if changed.rows_affected() > 0 {
        tx.record_for_task(caller, project, task, TaskEvent::AttentionCleared {});
    }
    Ok(())
}

/// Returns the attention of `task` as it is stored, if a change leaves it in place.
pub(crate) async fn surviving(tx: &mut Tx, task: &TaskId, survives: fn(AttentionKind) -> bool) -> Result<Option<String>> {
    let stored: Option<String> =
        sqlx::query_scalar("SELECT attention FROM tasks WHERE id = $1").bind(task.as_str()).fetch_one(&mut tx.connection).await?;
    let Some(stored) = stored else { return Ok(None) };
    let attention: Attention = serde_json::from_str(&stored)?;
    Ok(survives(attention.kind).then_some(stored))
}
