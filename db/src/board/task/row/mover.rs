//! Reads as what a caller moves a task. Must not decide whether the move is legal.

use domain::board::card::Card;
use domain::board::status::Status;
use domain::board::task::Task;
use domain::board::transition::Mover;
use domain::refusal::Refusal;
use domain::runs::agent_kind::AgentKind;
use domain::runs::run::RunRefusal;
use sqlx::SqliteConnection;

use crate::caller::Caller;
use crate::engine::tx::Tx;
use crate::error::Result;
use crate::team::participant::row as participant;
use crate::warroom::lead::row as lead;

/// Returns as what the caller may move this task. An external agent may have several roles; the first one with a matching rule counts.
pub(crate) async fn movers(connection: &mut SqliteConnection, caller: &Caller, card: &Card) -> Result<Vec<Mover>> {
    if let Some(mover) = caller.mover() {
        return Ok(vec![mover]);
    }
    let participant = lead::load_for_task(connection, caller, card).await?;
    let assigned = card.contributors.assigned_to.as_deref() == Some(participant.name.as_str());
    let movers = [(assigned, Mover::Assignee), (participant.is_lead, Mover::Lead), (participant.trusted, Mover::Verifier)];
    Ok(movers.into_iter().filter(|(is, _)| *is).map(|(_, mover)| mover).collect())
}

/// Refuses a managed agent that moves another task than its own. An orchestrator may cancel any task of its project.
pub(crate) async fn require_own_task(tx: &mut Tx, caller: &Caller, task: &Task, to: Status) -> Result<()> {
    if caller.project().is_some_and(|own| *own != task.card.project_id) {
        // Do not reveal that the task of another project exists.
        return Err(Refusal::not_found("task", &task.card.id).into());
    }
    let Caller::Run(run) = caller else {
        // An external agent must be registered.
        return participant::load(&mut tx.connection, caller, &task.card.project_id).await.map(drop);
    };
    if task.card.id == run.task_id {
        return Ok(());
    }
    if run.phase == AgentKind::Orchestrator && to == Status::Cancelled {
        return Ok(());
    }
    Err(RunRefusal::WrongTask { task: task.card.id.clone(), own: run.task_id.clone() }.into())
}
