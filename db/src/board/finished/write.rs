//! Keeps the sums over finished tasks. Must be called by every write that changes the status, the merge, the landing or the cost of a task.

use std::time::Duration;

use domain::board::card::Card;
use domain::board::status::Status;
use domain::id::ProjectId;
use domain::time::Timestamp;
use domain::wire::FinishedColumn;

use crate::engine::column::{optional, parsed};
use crate::engine::tx::Tx;
use crate::error::Result;

/// Updates the sums when a card changes. Open cards are not counted.
pub(crate) async fn replace(tx: &mut Tx, before: &Card, after: &Card) -> Result<()> {
    let (old, new) = (FinishedColumn::of(before), FinishedColumn::of(after));
    if before.status == after.status && old == new {
        return Ok(());
    }
    add(tx, &before.project_id, before.status, &old, -1).await?;
    add(tx, &after.project_id, after.status, &new, 1).await?;
    match (before.status, after.status) {
        (Status::Done, Status::Done) => Ok(()),
        (Status::Done, _) => add_to_land(tx, before, -1).await,
        (_, Status::Done) => add_to_land(tx, after, 1).await,
        _ => Ok(()),
    }
}

/// Counts a card that has just become or ceased to be done, if its work waits to be landed. The row of the sums exists.
async fn add_to_land(tx: &mut Tx, card: &Card, sign: i64) -> Result<()> {
    sqlx::query(
        "UPDATE finished_sums SET to_land = to_land + $3 WHERE project_id = $1 AND status = 'done'
           AND EXISTS (SELECT 1 FROM tasks WHERE id = $2 AND merged_sha IS NOT NULL AND landing_id IS NULL)",
    )
    .bind(card.project_id.as_str())
    .bind(card.id.as_str())
    .bind(sign)
    .execute(&mut tx.connection)
    .await?;
    Ok(())
}

/// Counts again how many tasks of a project wait to be landed, after a landing or a new base branch changed that for many at once.
pub(crate) async fn recount_to_land(tx: &mut Tx, project: &ProjectId) -> Result<()> {
    sqlx::query(
        "UPDATE finished_sums SET to_land =
           (SELECT COUNT(*) FROM tasks WHERE project_id = $1 AND merged_sha IS NOT NULL AND landing_id IS NULL AND status = 'done')
         WHERE project_id = $1 AND status = 'done'",
    )
    .bind(project.as_str())
    .execute(&mut tx.connection)
    .await?;
    Ok(())
}

/// Adds to the cost of finished tasks, in millionths of a US dollar.
pub(crate) async fn add_cost(tx: &mut Tx, project: &ProjectId, status: Status, cost_micro_usd: i64) -> Result<()> {
    add(tx, project, status, &FinishedColumn { cost_micro_usd, ..FinishedColumn::default() }, 1).await
}

/// Counts a task that becomes done, with the times of its agents. The cost grows with the attempts on this task alone.
pub(crate) async fn count_finish(tx: &mut Tx, card: &Card) -> Result<()> {
    let runs = sqlx::query("SELECT started_at, completed_at FROM agent_runs WHERE task_id = $1").bind(card.id.as_str());
    let runs = runs.fetch_all(&mut tx.connection).await?;
    let (mut first, mut at_work) = (None::<Timestamp>, Duration::ZERO);
    for run in &runs {
        let started: Timestamp = parsed(run, "started_at")?;
        first = Some(first.map_or(started, |first| first.min(started)));
        at_work += optional(run, "completed_at")?.unwrap_or(tx.now).since(started);
    }
    let cycle = first.map_or(Duration::ZERO, |first| tx.now.since(first));
    let milliseconds = |span: Duration| i64::try_from(span.as_millis()).unwrap_or(i64::MAX);
    sqlx::query(
        "INSERT INTO finished_by_day (project_id, day, phase, tasks, timed, cycle_ms, wait_ms) VALUES ($1, $2, $3, 1, $4, $5, $6)
         ON CONFLICT (project_id, day, phase) DO UPDATE SET tasks = finished_by_day.tasks + 1, timed = finished_by_day.timed + excluded.timed,
           cycle_ms = finished_by_day.cycle_ms + excluded.cycle_ms, wait_ms = finished_by_day.wait_ms + excluded.wait_ms",
    )
    .bind(card.project_id.as_str())
    .bind(tx.now.day())
    .bind(card.phase.as_str())
    .bind(first.is_some())
    .bind(milliseconds(cycle))
    .bind(milliseconds(cycle.saturating_sub(at_work)))
    .execute(&mut tx.connection)
    .await?;
    Ok(())
}

async fn add(tx: &mut Tx, project: &ProjectId, status: Status, sums: &FinishedColumn, sign: i64) -> Result<()> {
    if status.is_open() {
        return Ok(());
    }
    sqlx::query(
        "INSERT INTO finished_sums (project_id, status, total, merged, cost_micro_usd) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (project_id, status) DO UPDATE SET total = finished_sums.total + excluded.total,
           merged = finished_sums.merged + excluded.merged, cost_micro_usd = finished_sums.cost_micro_usd + excluded.cost_micro_usd",
    )
    .bind(project.as_str())
    .bind(status.as_str())
    .bind(sign * i64::from(sums.total))
    .bind(sign * i64::from(sums.merged))
    .bind(sign * sums.cost_micro_usd)
    .execute(&mut tx.connection)
    .await?;
    Ok(())
}
