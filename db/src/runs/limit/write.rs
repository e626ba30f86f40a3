//! Changes the state of limits: raised, or reported as nearly used up. Must not compute what is used.

use domain::board::attention::Attention;
use domain::id::{ProjectId, RunId, TaskId};
use domain::runs::limit::{LimitScope, LimitUse};

use crate::board::attention::write as attention;
use crate::caller::Caller;
use crate::engine::column::{json, parsed};
use crate::engine::tx::Tx;
use crate::error::Result;

/// Tasks whose attention names a limit.
pub(crate) const FLAGGED: &str = "SELECT id, project_id, attention FROM tasks WHERE attention IS NOT NULL";

/// Adds the limit once more, and settles the attention that it caused.
pub(crate) async fn raise(tx: &mut Tx, caller: &Caller, scope: LimitScope, subject: &str) -> Result<()> {
    sqlx::query(
        "INSERT INTO limit_states (scope, subject, raises) VALUES ($1, $2, 1)
         ON CONFLICT (scope, subject) DO UPDATE SET raises = limit_states.raises + 1, warned = 0",
    )
    .bind(scope.as_str())
    .bind(subject)
    .execute(&mut tx.connection)
    .await?;
    settle(tx, caller, scope, subject).await
}

/// Forgets raises and reports, because the limit itself changed, and settles the attention that it caused.
pub(crate) async fn reset(tx: &mut Tx, caller: &Caller, scope: LimitScope, subject: &str) -> Result<()> {
    forget(tx, scope, subject).await?;
    settle(tx, caller, scope, subject).await
}

/// Forgets raises and reports of a limit.
pub(crate) async fn forget(tx: &mut Tx, scope: LimitScope, subject: &str) -> Result<()> {
    sqlx::query("DELETE FROM limit_states WHERE scope = $1 AND subject = $2").bind(scope.as_str()).bind(subject).execute(&mut tx.connection).await?;
    Ok(())
}

/// Records that a limit is nearly used up. Returns whether that is news.
pub(crate) async fn warn(tx: &mut Tx, scope: LimitScope, subject: &str) -> Result<bool> {
    let changed = sqlx::query(
        "INSERT INTO limit_states (scope, subject, warned) VALUES ($1, $2, 1)
         ON CONFLICT (scope, subject) DO UPDATE SET warned = 1 WHERE limit_states.warned = 0",
    )
    .bind(scope.as_str())
    .bind(subject)
    .execute(&mut tx.connection)
    .await?;
    Ok(changed.rows_affected() > 0)
}

/// Shows on the card of a task that a limit is nearly used up, or that none is.
pub(crate) async fn show_near(tx: &mut Tx, task: &TaskId, near: Option<&LimitUse>) -> Result<()> {
    sqlx::query("UPDATE tasks SET near_limit = $2 WHERE id = $1")
        .bind(task.as_str())
        .bind(near.map(serde_json::to_string).transpose()?)
        .execute(&mut tx.connection)
        .await?;
    Ok(())
}

/// Settles the attention of all tasks that wait for this limit.
async fn settle(tx: &mut Tx, caller: &Caller, scope: LimitScope, subject: &str) -> Result<()> {
    for row in &sqlx::query(FLAGGED).fetch_all(&mut tx.connection).await? {
        let (task, project): (TaskId, ProjectId) = (parsed(row, "id")?, parsed(row, "project_id")?);
        let limit = json::<Attention>(row, "attention")?.and_then(|attention| attention.limit);
        let is_meant = match scope {
            LimitScope::Run | LimitScope::Task => task.as_str() == subject,
            LimitScope::Project => project.as_str() == subject,
            LimitScope::Day => true,
        };
        if limit == Some(scope) && is_meant {
            show_near(tx, &task, None).await?;
            attention::clear(tx, caller, &project, &task).await?;
        }
    }
    Ok(())
}

/// Forgets the state of the limits of a run that ended.
pub(crate) async fn run_ended(tx: &mut Tx, run: &RunId, task: &TaskId) -> Result<()> {
    forget(tx, LimitScope::Run, run.as_str()).await?;
    sqlx::query("UPDATE tasks SET near_limit = NULL WHERE id = $1 AND near_limit ->> '$.scope' = 'run'")
        .bind(task.as_str())
        .execute(&mut tx.connection)
        .await?;
    Ok(())
}
