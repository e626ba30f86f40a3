//! Dependencies: what a task waits for.

use domain::board::dependency::cycle;
use domain::id::{ProjectId, TaskId};
use domain::refusal::Refusal;
use sqlx::Row;

use crate::board::task::{Edges, in_project};
use crate::engine::tx::Tx;
use crate::error::Result;

/// Replaces the dependencies of `task`. The caller records the event.
pub(crate) async fn set(tx: &mut Tx, project: &ProjectId, task: &TaskId, on: &[TaskId]) -> Result<()> {
    for target in on {
        in_project(tx, project, target).await?;
        if target == task {
            return Err(Refusal::DependencyCycle { cycle: vec![task.clone(), task.clone()] }.into());
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
    match cycle(&edges(tx, project).await?) {
        Some(cycle) => Err(Refusal::DependencyCycle { cycle }.into()),
        None => Ok(()),
    }
}

async fn edges(tx: &mut Tx, project: &ProjectId) -> Result<Edges> {
    let rows = sqlx::query("SELECT d.task_id, d.depends_on FROM dependencies d JOIN tasks t ON t.id = d.task_id WHERE t.project_id = $1")
        .bind(project.as_str())
        .fetch_all(&mut tx.connection)
        .await?;
    let mut edges = Edges::new();
    for row in rows {
        edges.entry(row.try_get::<&str, _>("task_id")?.parse()?).or_default().push(row.try_get::<&str, _>("depends_on")?.parse()?);
    }
    Ok(edges)
}
