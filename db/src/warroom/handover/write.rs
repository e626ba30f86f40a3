//! Writes handovers with their events. Must not decide who may hand over.

use domain::id::{ProjectId, RunId, TaskId};
use domain::warroom::handover::{Handover, HandoverEvent, NewHandover};

use super::row::handover_of;
use crate::caller::Caller;
use crate::engine::tx::Tx;
use crate::error::Result;

pub(crate) const MARK_READ: &str = "UPDATE handovers SET continued_at = $4, continued_by = $5
    WHERE project_id = $1 AND agent_name = $2 AND id <= $3 AND continued_at IS NULL";

/// The agent that leaves a handover.
#[derive(Debug, Clone, Copy)]
pub(super) struct Leaver<'a> {
    pub(super) project: &'a ProjectId,
    pub(super) agent: &'a str,
    /// The run of a managed agent with its task.
    pub(super) run: Option<(&'a RunId, &'a TaskId)>,
    pub(super) automatic: bool,
}

/// Records a handover. The successor reads only the newest.
pub(super) async fn record(tx: &mut Tx, caller: &Caller, leaver: Leaver<'_>, new: &NewHandover) -> Result<Handover> {
    let manifest = new.text()?;
    let row = sqlx::query(
        "INSERT INTO handovers (project_id, agent_name, task_id, run_id, automatic, manifest, files, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING *",
    )
    .bind(leaver.project.as_str())
    .bind(leaver.agent)
    .bind(leaver.run.map(|(_, task)| task.as_str()))
    .bind(leaver.run.map(|(run, _)| run.as_str()))
    .bind(leaver.automatic)
    .bind(&manifest)
    .bind(serde_json::to_string(&new.files)?)
    .bind(tx.now.to_string())
    .fetch_one(&mut tx.connection)
    .await?;
    let handover = handover_of(&row)?;
    let event = HandoverEvent::Recorded { agent: handover.agent.clone(), handover: handover.id, automatic: handover.automatic };
    tx.record_without_card(caller, &handover.project_id, handover.task_id.as_ref(), event);
    Ok(handover)
}

/// Removes what an agent left to itself, before another agent gets its name.
pub(crate) async fn delete_unread(tx: &mut Tx, project: &ProjectId, agent: &str) -> Result<()> {
    sqlx::query("DELETE FROM handovers WHERE project_id = $1 AND agent_name = $2 AND continued_at IS NULL")
        .bind(project.as_str())
        .bind(agent)
        .execute(&mut tx.connection)
        .await?;
    Ok(())
}

/// Marks a handover as read by its successor, and earlier ones of the same agent with it.
pub(crate) async fn mark_read(tx: &mut Tx, caller: &Caller, handover: &Handover, by: &str) -> Result<()> {
    sqlx::query(MARK_READ)
        .bind(handover.project_id.as_str())
        .bind(&handover.agent)
        .bind(handover.id)
        .bind(tx.now.to_string())
        .bind(by)
        .execute(&mut tx.connection)
        .await?;
    let event = HandoverEvent::Continued { agent: handover.agent.clone(), handover: handover.id };
    tx.record_without_card(caller, &handover.project_id, handover.task_id.as_ref(), event);
    Ok(())
}
