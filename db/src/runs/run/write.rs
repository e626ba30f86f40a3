//! Fences runs and stores their usage. Must not know the consequences.

use domain::board::card::Card;
use domain::id::RunId;
use domain::runs::run::{RunChange, Usage};
use sqlx::Row;

use crate::board::finished::write as finished;
use crate::caller::Caller;
use crate::engine::column::parsed;
use crate::engine::tx::Tx;
use crate::error::Result;

/// Fences the live run of a task, so that its writes are refused. The runner ends its process.
pub(crate) async fn fence_run(tx: &mut Tx, caller: &Caller, card: &Card) -> Result<()> {
    let Some(live) = card.run.as_ref().filter(|live| !live.stopping) else { return Ok(()) };
    sqlx::query("UPDATE agent_runs SET stop_requested_at = $2 WHERE id = $1")
        .bind(live.id.as_str())
        .bind(tx.now.to_string())
        .execute(&mut tx.connection)
        .await?;
    tx.record_for_run(caller, &card.project_id, &card.id, &live.id, RunChange::StopRequested {});
    Ok(())
}

/// Stores the usage of a run, and the total cost of its task.
pub(crate) async fn write_usage(tx: &mut Tx, id: &RunId, usage: Usage) -> Result<()> {
    sqlx::query(
        "UPDATE agent_runs SET cost_micro_usd = $2, input_tokens = $3, output_tokens = $4, context_tokens = COALESCE($5, context_tokens),
                context_limit = COALESCE($6, context_limit), turns = $7 WHERE id = $1",
    )
    .bind(id.as_str())
    .bind(usage.cost_micro_usd)
    .bind(usage.input_tokens)
    .bind(usage.output_tokens)
    .bind(usage.context_tokens)
    .bind(usage.context_limit)
    .bind(usage.turns)
    .execute(&mut tx.connection)
    .await?;
    let task =
        sqlx::query("SELECT t.id, t.project_id, t.status, t.cost_micro_usd FROM agent_runs r JOIN tasks t ON t.id = r.task_id WHERE r.id = $1")
            .bind(id.as_str())
            .fetch_one(&mut tx.connection)
            .await?;
    // The task stores the total, so that reading a board sums nothing over runs.
    let cost: i64 = sqlx::query_scalar(
        "UPDATE tasks SET cost_micro_usd = (SELECT CAST(COALESCE(SUM(r.cost_micro_usd), 0) AS BIGINT) FROM agent_runs r WHERE r.task_id = tasks.id)
         WHERE id = $1 RETURNING cost_micro_usd",
    )
    .bind(task.try_get::<&str, _>("id")?)
    .fetch_one(&mut tx.connection)
    .await?;
    let added = cost - task.try_get::<i64, _>("cost_micro_usd")?;
    finished::add_cost(tx, &parsed(&task, "project_id")?, parsed(&task, "status")?, added).await
}
