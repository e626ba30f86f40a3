//! Replaces the dependencies of a task, and refuses cycles. Must not know what a dependency delays.

use std::collections::BTreeMap;

use domain::board::dependency::DependencyRefusal;
use domain::board::dependency::cycle;
use domain::id::{ProjectId, TaskId};
use sqlx::Row;

use crate::board::task::row::in_project;
use crate::engine::tx::Tx;
use crate::error::Result;

/// The direct and indirect dependencies of `$1`.
pub(crate) const REACHABLE: &str = "WITH RECURSIVE reachable(id) AS (
    SELECT depends_on FROM dependencies WHERE task_id = $1
    UNION SELECT d.depends_on FROM dependencies d JOIN reachable ON d.task_id = reachable.id)
  SELECT d.task_id, d.depends_on FROM dependencies d WHERE d.task_id IN (SELECT id FROM tasks WHERE id = $1 UNION SELECT id FROM reachable)";

/// Replaces the dependencies of `task`. The caller records the event.
pub(crate) async fn set(tx: &mut Tx, project: &ProjectId, task: &TaskId, on: &[TaskId]) -> Result<()> {
    for target in on {
        in_project(tx, project, target).await?;
        if target == task {
            return Err(DependencyRefusal::Cycle { cycle: vec![task.clone(), task.clone()] }.into());
        }
    }
    sqlx::query("DELETE FROM dependencies WHERE task_id = $1").bind(task.as_str()).execute(&mut tx.connection).await?;
    for target in on {
        sqlx::query("INSERT INTO dependencies (task_id, depends_on) VALUES ($1, $2) ON CONFLICT DO NOTHING")
            .bind(task.as_str())
            .bind(target.as_str())
            .execute(&mut tx.connection)
            .await?;
    }
    // A cycle that the new edges close goes through the task, so something must wait for it.
    if on.is_empty() || !has_dependents(tx, task).await? {
        return Ok(());
    }
    match cycle(&reachable_edges(tx, task).await?) {
        Some(cycle) => Err(DependencyRefusal::Cycle { cycle }.into()),
        None => Ok(()),
    }
}

async fn has_dependents(tx: &mut Tx, task: &TaskId) -> Result<bool> {
    let found: Option<String> = sqlx::query_scalar("SELECT task_id FROM dependencies WHERE depends_on = $1 LIMIT 1")
        .bind(task.as_str())
        .fetch_optional(&mut tx.connection)
        .await?;
    Ok(found.is_some())
}

async fn reachable_edges(tx: &mut Tx, task: &TaskId) -> Result<BTreeMap<TaskId, Vec<TaskId>>> {
    let mut edges = BTreeMap::<TaskId, Vec<TaskId>>::new();
    for row in sqlx::query(REACHABLE).bind(task.as_str()).fetch_all(&mut tx.connection).await? {
        edges.entry(row.try_get::<&str, _>("task_id")?.parse()?).or_default().push(row.try_get::<&str, _>("depends_on")?.parse()?);
    }
    Ok(edges)
}
