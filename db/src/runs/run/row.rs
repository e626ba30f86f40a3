//! Reads runs. Must not change anything.

use domain::board::task::Task;
use domain::id::RunId;
use domain::refusal::Refusal;
use domain::runs::run::{Run, RunRefusal};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::caller::Caller;
use crate::engine::column::{count, json, optional, parsed};
use crate::engine::tx::Tx;
use crate::error::{Error, Result};

pub(crate) async fn read(connection: &mut SqliteConnection, id: &RunId) -> Result<Run> {
    let row = sqlx::query("SELECT * FROM agent_runs WHERE id = $1").bind(id.as_str()).fetch_optional(connection).await?;
    run_of(&row.ok_or_else(|| Error::Refused(Refusal::not_found("run", id)))?)
}

/// Refuses a managed agent whose run is not the current one of its task.
pub(crate) async fn require_current_run(connection: &mut SqliteConnection, caller: &Caller) -> Result<()> {
    let Some(run) = caller.run() else { return Ok(()) };
    let current: Option<i64> = sqlx::query_scalar("SELECT 1 FROM agent_runs WHERE id = $1 AND completed_at IS NULL AND stop_requested_at IS NULL")
        .bind(run.as_str())
        .fetch_optional(connection)
        .await?;
    if current.is_some() { Ok(()) } else { Err(RunRefusal::Stale { run: run.clone() }.into()) }
}

/// Whether the session of `run` is one that worked on `task` itself.
pub(crate) async fn is_author_session(tx: &mut Tx, task: &Task, run: &Run) -> Result<bool> {
    let found: Option<i64> = sqlx::query_scalar("SELECT 1 FROM agent_runs WHERE task_id = $1 AND phase = $2 AND session_id = $3 LIMIT 1")
        .bind(task.card.id.as_str())
        .bind(task.card.phase.as_str())
        .bind(&run.session_id)
        .fetch_optional(&mut tx.connection)
        .await?;
    Ok(found.is_some())
}

pub(crate) fn run_of(row: &SqliteRow) -> Result<Run> {
    Ok(Run {
        id: parsed(row, "id")?,
        task_id: parsed(row, "task_id")?,
        phase: parsed(row, "phase")?,
        attempt: count(row, "attempt")?,
        session_id: row.try_get("session_id")?,
        worktree_path: row.try_get("worktree_path")?,
        sha: row.try_get("sha")?,
        port: row.try_get::<Option<i64>, _>("port")?.and_then(|port| u16::try_from(port).ok()),
        sandbox: parsed(row, "sandbox")?,
        refusals: json(row, "refusals")?.unwrap_or_default(),
        checkpoints: json(row, "checkpoints")?.unwrap_or_default(),
        started_at: parsed(row, "started_at")?,
        completed_at: optional(row, "completed_at")?,
        stop_requested_at: optional(row, "stop_requested_at")?,
        condition: json(row, "condition")?,
        checkout_left: row.try_get("checkout_left")?,
        hand_over: json(row, "hand_over")?,
        interrupt: json(row, "interrupt")?,
        exit_code: row.try_get("exit_code")?,
        end_class: optional(row, "end_class")?,
        failure: optional(row, "failure")?,
        error: row.try_get("error")?,
        cost_micro_usd: row.try_get("cost_micro_usd")?,
        input_tokens: row.try_get("input_tokens")?,
        output_tokens: row.try_get("output_tokens")?,
        context_tokens: row.try_get("context_tokens")?,
        context_limit: row.try_get("context_limit")?,
        turns: row.try_get("turns")?,
    })
}
