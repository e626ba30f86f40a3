//! Closes questions. Must not know who asks or answers.

use domain::id::TaskId;

use crate::engine::tx::Tx;
use crate::error::Result;

/// Closes the open question of a task that moved on without an answer.
pub(crate) async fn withdraw(tx: &mut Tx, task: &TaskId) -> Result<()> {
    sqlx::query("UPDATE questions SET answered_at = $2 WHERE task_id = $1 AND answered_at IS NULL")
        .bind(task.as_str())
        .bind(tx.now.to_string())
        .execute(&mut tx.connection)
        .await?;
    Ok(())
}
