//! Writes results of checks, and how far the checks of a task are. Must not decide what follows from a result.

use std::path::PathBuf;

use domain::board::card::Card;
use domain::id::ProjectId;
use domain::runs::check::{CheckEvent, CheckOutcome, CheckStage, TaskChecks};
use domain::runs::evidence::Sha;
use domain::time::Timestamp;

use crate::caller::Caller;
use crate::engine::tx::Tx;
use crate::error::Result;

/// A command that ended on a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewCheckResult {
    pub tree: Sha,
    pub profile_version: u32,
    pub command: String,
    pub outcome: CheckOutcome,
    pub attempts: u32,
    pub duration_ms: u64,
    /// The end of its output.
    pub tail: String,
    /// The file with its output.
    pub output: PathBuf,
}

pub(crate) const REMOVE_OLD: &str = "DELETE FROM check_results WHERE id IN (SELECT id FROM check_results WHERE ended_at < $1 LIMIT $2)";

pub(crate) async fn insert(tx: &mut Tx, project: &ProjectId, result: &NewCheckResult) -> Result<()> {
    sqlx::query(
        "INSERT INTO check_results (project_id, tree, profile_version, command, outcome, attempts, duration_ms, tail, output, ended_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
         ON CONFLICT (project_id, tree, profile_version, command) DO UPDATE SET outcome = excluded.outcome, attempts = excluded.attempts,
           duration_ms = excluded.duration_ms, tail = excluded.tail, output = excluded.output, ended_at = excluded.ended_at",
    )
    .bind(project.as_str())
    .bind(&result.tree)
    .bind(i64::from(result.profile_version))
    .bind(&result.command)
    .bind(result.outcome.as_str())
    .bind(i64::from(result.attempts))
    .bind(i64::try_from(result.duration_ms).unwrap_or(i64::MAX))
    .bind(&result.tail)
    .bind(result.output.to_string_lossy().into_owned())
    .bind(tx.now.to_string())
    .execute(&mut tx.connection)
    .await?;
    Ok(())
}

/// Replaces the checks of a stage on a card. Those of a merge end with the next submission.
pub(crate) async fn replace_stage(tx: &mut Tx, card: &Card, checks: TaskChecks) -> Result<()> {
    let (stage, state) = (checks.stage, checks.state);
    let mut stages = card.checks.clone();
    stages.retain(|known| known.stage == CheckStage::Quick && stage == CheckStage::Full);
    stages.push(checks);
    sqlx::query("UPDATE tasks SET checks = $2, updated_at = $3 WHERE id = $1")
        .bind(card.id.as_str())
        .bind(serde_json::to_string(&stages)?)
        .bind(tx.now.to_string())
        .execute(&mut tx.connection)
        .await?;
    tx.record_for_task(&Caller::Runner, &card.project_id, &card.id, CheckEvent::Changed { stage, state });
    Ok(())
}

/// Removes up to `batch` results that ended before `cutoff`.
pub(crate) async fn remove_old(tx: &mut Tx, cutoff: Timestamp, batch: i64) -> Result<u64> {
    let removed = sqlx::query(REMOVE_OLD).bind(cutoff.to_string()).bind(batch).execute(&mut tx.connection).await?;
    Ok(removed.rows_affected())
}
