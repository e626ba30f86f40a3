//! Writes permission requests, and keeps the attention that they cause. Must not know who may answer.

use domain::board::attention::AttentionKind;
use domain::id::{RunId, TaskId};
use domain::refusal::Refusal;
use domain::runs::permission::{PermissionAnswer, PermissionRequest, ToolRule};
use domain::runs::run::Run;
use sqlx::Row;
use sqlx::sqlite::SqliteRow;

use crate::board::attention::write as attention;
use crate::board::task::row as tasks;
use crate::caller::Caller;
use crate::engine::column::parsed;
use crate::engine::tx::Tx;
use crate::error::{Error, Result};
use crate::runs::permission::row::{open, request_of};
use crate::runs::run::write::set_waiting;

/// A new permission request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPermission {
    /// The agent program's own id of the request.
    pub key: String,
    pub tool: String,
    pub input: String,
    pub rule: Option<ToolRule>,
}

/// An answer that the agent's program has not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PermissionDelivery {
    /// The agent program's own id of the request.
    pub key: String,
    pub tool: String,
    pub answer: PermissionAnswer,
    pub reason: Option<String>,
}

/// An answer for the whole task that allows the same.
pub(crate) const ALLOWED: &str = "SELECT 1 FROM agent_runs r JOIN permission_requests p ON p.run_id = r.id
  WHERE r.task_id = $1 AND p.answer = 'always' AND p.rule = $2 LIMIT 1";

/// Returns the id of the request, or `None` if it is known.
pub(super) async fn insert(tx: &mut Tx, run: &Run, new: &NewPermission) -> Result<Option<i64>> {
    let inserted = sqlx::query_scalar(
        "INSERT INTO permission_requests (run_id, key, tool, input, rule, asked_at) VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (run_id, key) DO NOTHING RETURNING id",
    )
    .bind(run.id.as_str())
    .bind(&new.key)
    .bind(&new.tool)
    .bind(&new.input)
    .bind(new.rule.as_ref().map(serde_json::to_string).transpose()?)
    .bind(tx.now.to_string())
    .fetch_optional(&mut tx.connection)
    .await?;
    Ok(inserted)
}

/// Whether an earlier answer for the whole task allows what `rule` says.
pub(super) async fn is_allowed(tx: &mut Tx, task: &TaskId, rule: Option<&ToolRule>) -> Result<bool> {
    let Some(rule) = rule.map(serde_json::to_string).transpose()? else { return Ok(false) };
    let found: Option<i64> = sqlx::query_scalar(ALLOWED).bind(task.as_str()).bind(rule).fetch_optional(&mut tx.connection).await?;
    Ok(found.is_some())
}

pub(super) async fn answer(tx: &mut Tx, caller: &Caller, id: i64, answer: PermissionAnswer, reason: Option<String>) -> Result<()> {
    sqlx::query("UPDATE permission_requests SET answer = $2, reason = $3, answered_by = $4 WHERE id = $1")
        .bind(id)
        .bind(answer.as_str())
        .bind(reason)
        .bind(caller.is_person().then(|| caller.name()).flatten())
        .execute(&mut tx.connection)
        .await?;
    Ok(())
}

/// Returns a request of a run, and whether it is closed.
pub(super) async fn read(tx: &mut Tx, run: &RunId, id: i64) -> Result<(PermissionRequest, bool)> {
    let row = sqlx::query("SELECT * FROM permission_requests WHERE id = $1 AND run_id = $2")
        .bind(id)
        .bind(run.as_str())
        .fetch_optional(&mut tx.connection)
        .await?;
    let row = row.ok_or_else(|| Error::Refused(Refusal::not_found("permission request", id)))?;
    Ok((request_of(&row)?, row.try_get::<Option<&str>, _>("closed_at")?.is_some()))
}

/// Returns the id of the request, or `None` if it is closed or unknown.
pub(super) async fn close(tx: &mut Tx, run: &RunId, key: &str) -> Result<Option<i64>> {
    let closed =
        sqlx::query_scalar("UPDATE permission_requests SET closed_at = $3 WHERE run_id = $1 AND key = $2 AND closed_at IS NULL RETURNING id")
            .bind(run.as_str())
            .bind(key)
            .bind(tx.now.to_string())
            .fetch_optional(&mut tx.connection)
            .await?;
    Ok(closed)
}

/// Closes the requests of a run that ended.
pub(crate) async fn close_all(tx: &mut Tx, run: &RunId) -> Result<()> {
    sqlx::query("UPDATE permission_requests SET closed_at = $2 WHERE run_id = $1 AND closed_at IS NULL")
        .bind(run.as_str())
        .bind(tx.now.to_string())
        .execute(&mut tx.connection)
        .await?;
    Ok(())
}

/// Makes the card ask for the oldest open request of its agent, if it asks for nothing else, and for none that is settled. Time in which the
/// agent waits does not count as work.
pub(crate) async fn settle(tx: &mut Tx, caller: &Caller, task: &TaskId) -> Result<()> {
    let card = tasks::card(&mut tx.connection, task).await?;
    let Some(run) = card.run.as_ref() else { return Ok(()) };
    let open = open(&mut tx.connection, task).await?;
    let kind = card.attention.as_ref().map(|attention| attention.kind);
    let wanted = open.first().map(|request| request.attention(run.phase));
    match wanted {
        Some(wanted) if matches!(kind, None | Some(AttentionKind::Permission)) && card.attention.as_ref() != Some(&wanted) => {
            attention::request(tx, caller, &card.project_id, task, wanted).await?;
        }
        None if kind == Some(AttentionKind::Permission) => attention::clear(tx, caller, &card.project_id, task).await?,
        _ => {}
    }
    set_waiting(tx, &run.id, !open.is_empty() || kind == Some(AttentionKind::Interrupted)).await
}

pub(super) fn delivery_of(row: &SqliteRow) -> Result<PermissionDelivery> {
    Ok(PermissionDelivery { key: row.try_get("key")?, tool: row.try_get("tool")?, answer: parsed(row, "answer")?, reason: row.try_get("reason")? })
}
