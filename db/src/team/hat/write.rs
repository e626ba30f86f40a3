//! Assigns hats, and refuses conflicting ones. Must not decide who may assign them.

use domain::id::{ProjectId, TaskId};
use domain::team::hat::hats_conflict;
use domain::team::hat::{HatEvent, HatRefusal};
use domain::team::role::Role;

use crate::caller::Caller;
use crate::engine::column::parsed;
use crate::engine::tx::Tx;
use crate::error::Result;

/// Refuses a hat that conflicts with one that `agent` has had on any task of the project.
pub(crate) async fn require_no_conflict(tx: &mut Tx, project: &ProjectId, agent: &str, hat: Role) -> Result<()> {
    let rows = sqlx::query("SELECT hat, task_id FROM hats WHERE project_id = $1 AND agent_name = $2 ORDER BY created_at, id")
        .bind(project.as_str())
        .bind(agent)
        .fetch_all(&mut tx.connection)
        .await?;
    for row in &rows {
        let worn: Role = parsed(row, "hat")?;
        if hats_conflict(hat, worn) {
            return Err(HatRefusal::Conflict { agent: agent.to_owned(), hat, worn, task: parsed(row, "task_id")? }.into());
        }
    }
    Ok(())
}

/// Records the hat of an agent on a task. The caller has checked for conflicts.
pub(crate) async fn record(tx: &mut Tx, project: &ProjectId, task: &TaskId, agent: &str, hat: Role) -> Result<()> {
    sqlx::query("INSERT INTO hats (task_id, agent_name, hat, project_id, created_at) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING")
        .bind(task.as_str())
        .bind(agent)
        .bind(hat.as_str())
        .bind(project.as_str())
        .bind(tx.now.to_string())
        .execute(&mut tx.connection)
        .await?;
    Ok(())
}

/// Assigns a hat to the assignee of a task, unless it conflicts with an earlier one.
pub(crate) async fn assign(tx: &mut Tx, caller: &Caller, project: &ProjectId, task: &TaskId, agent: &str, hat: Role) -> Result<()> {
    require_no_conflict(tx, project, agent, hat).await?;
    record(tx, project, task, agent, hat).await?;
    sqlx::query("UPDATE tasks SET role_hat = $2, updated_at = $3 WHERE id = $1")
        .bind(task.as_str())
        .bind(hat.as_str())
        .bind(tx.now.to_string())
        .execute(&mut tx.connection)
        .await?;
    tx.record_for_task(caller, project, task, HatEvent::Assigned { agent: agent.to_owned(), hat });
    Ok(())
}
