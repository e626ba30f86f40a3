//! Marks the tasks that an ended session leaves, and writes what leads decide about them. Must not decide who may.

use domain::board::card::Card;
use domain::board::status::HeldBy;
use domain::board::task::event::TaskEvent;
use domain::id::{ProjectId, TaskId};
use domain::warroom::old_task::{OldTask, OldTaskDecision};

use crate::caller::Caller;
use crate::engine::tx::Tx;
use crate::error::Result;

/// Marks the coder tasks of a project `$1` that nobody has begun. A task that waits with its plan belongs to that.
pub(crate) const MARK: &str = "UPDATE tasks SET old = 'unreviewed', updated_at = $2
  WHERE project_id = $1 AND status = 'backlog' AND phase = 'coder' AND assigned_to IS NULL AND held_by IS DISTINCT FROM 'plan' RETURNING id";

/// Marks the tasks that the session of a project leaves.
pub(crate) async fn mark(tx: &mut Tx, caller: &Caller, project: &ProjectId) -> Result<()> {
    let ids: Vec<String> = sqlx::query_scalar(MARK).bind(project.as_str()).bind(tx.now.to_string()).fetch_all(&mut tx.connection).await?;
    for id in ids {
        let task: TaskId = id.parse()?;
        tx.record_for_task(caller, project, &task, TaskEvent::Aged { old: Some(OldTask::Unreviewed) });
    }
    Ok(())
}

/// Writes a decision about an old task. A stale one waits for a person.
pub(crate) async fn decide(tx: &mut Tx, caller: &Caller, card: &Card, decision: OldTaskDecision) -> Result<()> {
    let (old, held_by) = match decision {
        OldTaskDecision::Stale => (Some(OldTask::Stale), card.held_by.or(Some(HeldBy::Human))),
        OldTaskDecision::Open => (None, card.held_by),
    };
    sqlx::query("UPDATE tasks SET old = $2, held_by = $3, updated_at = $4 WHERE id = $1")
        .bind(card.id.as_str())
        .bind(old.map(OldTask::as_str))
        .bind(held_by.map(HeldBy::as_str))
        .bind(tx.now.to_string())
        .execute(&mut tx.connection)
        .await?;
    tx.record_for_task(caller, &card.project_id, &card.id, TaskEvent::Aged { old });
    if let (None, Some(by)) = (card.held_by, held_by) {
        tx.record_for_task(caller, &card.project_id, &card.id, TaskEvent::Held { by });
    }
    Ok(())
}
