//! Review gates for external agents: submit, approve or reject, verify. Each is a move by the transition table.

mod close;
mod review;
mod verify;

use domain::board::card::Card;
use domain::board::stage::Stage;
use domain::board::status::{CancelReason, Status};
use domain::board::task::event::TaskEvent;
use domain::board::task::refusal::TaskRefusal;
use domain::board::task::{Task, TaskUpdate};
use domain::board::transition::Mover;
use domain::id::TaskId;
use domain::refusal::Refusal;
use domain::runs::agent_kind::AgentKind;
use domain::runs::evidence::EvidenceResult;
use domain::text;
use domain::warroom::result::ResultRefusal;

use crate::board::task::row as tasks;
use crate::board::task::row::mover::{movers, require_own_task};
use crate::board::task::write::assign::{assign_by_lead, assignee, require_changes_code};
use crate::board::task::write::change::MoveRequest;
use crate::board::task::write::index;
use crate::caller::Caller;
use crate::consequences::task_changed::task_changed;
use crate::consequences::task_moved::move_task;
use crate::engine::open::Db;
use crate::engine::tx::Tx;
use crate::error::Result;
use crate::team::agent::row as agents;
use crate::team::participant::row::Participant;
use crate::warroom::agent_activity::write as activity;
use crate::warroom::lead::row as lead;
use crate::warroom::old_task::write as old_task;

impl Db {
    /// Changes a task as an agent may: assigns it, stores its result, and moves it to the requested stage, or decides about an old one. Notifies
    /// the participants concerned, and counts the update.
    ///
    /// # Errors
    /// When the update is empty, the caller may not set the stage from the current one, or a requirement is not met.
    pub async fn update_task(&self, caller: &Caller, id: &TaskId, update: TaskUpdate, found: EvidenceResult) -> Result<Task> {
        let id = id.clone();
        self.run_once(caller, move |tx, caller| {
            Box::pin(async move {
                let (task, participant) = load_for_participant(tx, caller, &id).await?;
                if update.stage == Some(Stage::Closed) && matches!(caller, Caller::Agent(_)) && task.card.phase == AgentKind::Coder {
                    return Err(ResultRefusal::ClosedElsewhere { task: id }.into());
                }
                if update == TaskUpdate::default() {
                    return Err(Refusal::invalid("status", "the update is empty", "Give status, assigned_to or result.").into());
                }
                let result = text::validate_optional_body("result", update.result.as_deref())?;
                let mut task = reassign_if_requested(tx, caller, &participant, task, &update, &found).await?;
                let decision = update.stage.filter(|_| task.card.old.is_some()).and_then(Stage::old_task_decision);
                let gives_verdict = update.stage.is_some_and(|stage| is_verdict(stage, &task.card));
                if let Some(result) = result.as_deref().filter(|_| !gives_verdict) {
                    store_result(tx, caller, &participant, &task.card, result).await?;
                    task.result = Some(result.to_owned());
                }
                if let Some(decision) = decision {
                    participant.require_lead("reviewing the tasks of an ended session")?;
                    old_task::decide(tx, caller, &task.card, decision).await?;
                } else if let Some(stage) = update.stage.filter(|stage| *stage != Stage::Assigned) {
                    move_to_stage(tx, caller, &participant, &task, stage, result.as_deref().filter(|_| gives_verdict), &found).await?;
                }
                activity::count_update(tx, caller, &id).await?;
                finish_change(tx, caller, &task).await
            })
        })
        .await
    }
}

/// Reads a task and resolves the caller in its project. Does not reveal that the task of another project exists.
pub(super) async fn load_for_participant(tx: &mut Tx, caller: &Caller, id: &TaskId) -> Result<(Task, Participant)> {
    let task = tasks::task(&mut tx.connection, id).await?;
    if caller.project().is_some_and(|own| *own != task.card.project_id) {
        return Err(Refusal::not_found("task", id).into());
    }
    let participant = lead::load_for_task(&mut tx.connection, caller, &task.card).await?;
    Ok((task, participant))
}

/// Assigns the task to the agent that the update names, or again to its assignee if the update asks for the stage `assigned`.
async fn reassign_if_requested(
    tx: &mut Tx,
    caller: &Caller,
    participant: &Participant,
    mut task: Task,
    update: &TaskUpdate,
    found: &EvidenceResult,
) -> Result<Task> {
    let reassigns = update.stage == Some(Stage::Assigned);
    if reassigns {
        let to = authorize_stage(tx, caller, participant, &task, Stage::Assigned, update.assigned_to.is_some()).await?;
        if to != task.card.status {
            move_task(tx, caller, &task, &MoveRequest::to(to), found).await?;
            task = tasks::task(&mut tx.connection, &task.card.id).await?;
        }
    }
    let before = task.card.contributors.assigned_to.as_ref().filter(|_| reassigns);
    let Some(name) = update.assigned_to.as_ref().or(before) else {
        let unnamed = || Refusal::invalid("assigned_to", "no agent is named", "Name an agent that who lists.");
        return if reassigns { Err(unnamed().into()) } else { Ok(task) };
    };
    let to = assignee(tx, &task.card.project_id, &participant.name, name).await?;
    assign_by_lead(tx, caller, participant, &task.card, &to, None).await?;
    tasks::task(&mut tx.connection, &task.card.id).await
}

/// Applies the consequences of a change and reads the task again.
pub(super) async fn finish_change(tx: &mut Tx, caller: &Caller, task: &Task) -> Result<Task> {
    task_changed(tx, caller, &task.card.project_id, &task.card.id).await?;
    tasks::task(&mut tx.connection, &task.card.id).await
}

/// Whether this stage is a verdict on submitted work, whose text is a reason and not a result.
fn is_verdict(stage: Stage, card: &Card) -> bool {
    matches!((stage, card.status), (Stage::Completed | Stage::Verified, _) | (Stage::InProgress, Status::InReview | Status::Done))
}

/// Moves a task to this stage as the transition table allows.
async fn move_to_stage(
    tx: &mut Tx,
    caller: &Caller,
    participant: &Participant,
    task: &Task,
    stage: Stage,
    text: Option<&str>,
    found: &EvidenceResult,
) -> Result<()> {
    let to = authorize_stage(tx, caller, participant, task, stage, false).await?;
    if matches!((task.card.status, to), (Status::Backlog, Status::InProgress) | (_, Status::InReview)) {
        require_class(tx, caller, &task.card).await?;
    }
    if task.card.status != Status::Done {
        // Finished work is verified by another run than its own.
        require_own_task(tx, caller, task, to).await?;
    }
    let reason = stage.cancel_reason().map(CancelReason::as_str).or(text);
    move_task(tx, caller, task, &MoveRequest { to, reason: reason.map(str::to_owned), merge: true }, found).await
}

/// Refuses to begin or submit a task as an agent that named a class without a right to it after the task was assigned.
async fn require_class(tx: &mut Tx, caller: &Caller, card: &Card) -> Result<()> {
    let Caller::Agent(own) = caller else { return Ok(()) };
    let agent = agents::read(&mut tx.connection, &card.project_id, &own.name).await?;
    Ok(agent.map_or(Ok(()), |agent| require_changes_code(&agent))?)
}

/// Returns the status of a stage if the caller may move the task to it. `names_agent` allows the stage `assigned` for an assigned task.
async fn authorize_stage(tx: &mut Tx, caller: &Caller, participant: &Participant, task: &Task, to: Stage, names_agent: bool) -> Result<Status> {
    let card = &task.card;
    let movers = movers(&mut tx.connection, caller, card).await?;
    let (from, allowed) = (Stage::of(card), to.allowed_movers(card));
    let status = to.target_status(card).filter(|_| from != to || names_agent);
    if let Some(status) = status.filter(|_| allowed.iter().any(|mover| movers.contains(mover))) {
        return Ok(status);
    }
    let action = format!("making it {to}");
    if status.is_some() && allowed.contains(&Mover::Lead) {
        participant.require_lead(&action)?;
    }
    if status.is_some() && allowed.contains(&Mover::Verifier) {
        participant.require_trusted(&action)?;
    }
    if status.is_some() && allowed.contains(&Mover::Assignee) {
        return Err(TaskRefusal::NotAssignee { task: card.id.clone(), assignee: card.contributors.assigned_to.clone(), action }.into());
    }
    Err(illegal(participant, card, to, &movers).into())
}

fn illegal(participant: &Participant, card: &Card, to: Stage, movers: &[Mover]) -> TaskRefusal {
    let next = Stage::reachable(card, movers);
    TaskRefusal::IllegalStage { task: card.id.clone(), from: Stage::of(card), to, agent: participant.name.clone(), next }
}

/// Refuses a gate that does not apply to the current status.
async fn require_status(tx: &mut Tx, caller: &Caller, participant: &Participant, card: &Card, at: Status, to: Stage) -> Result<()> {
    if card.status == at {
        return Ok(());
    }
    Err(illegal(participant, card, to, &movers(&mut tx.connection, caller, card).await?).into())
}

/// Stores the result of a task.
async fn store_result(tx: &mut Tx, caller: &Caller, participant: &Participant, card: &Card, result: &str) -> Result<()> {
    if !participant.is_lead {
        require_assignee(participant, card, "storing its result")?;
    }
    sqlx::query("UPDATE tasks SET result = $2, updated_at = $3 WHERE id = $1")
        .bind(card.id.as_str())
        .bind(result)
        .bind(tx.now.to_string())
        .execute(&mut tx.connection)
        .await?;
    index(tx, &card.id).await?;
    tx.record_for_task(caller, &card.project_id, &card.id, TaskEvent::SubmissionStored {});
    Ok(())
}

/// Refuses everyone but the assignee of a task.
fn require_assignee(participant: &Participant, card: &Card, action: &str) -> Result<(), TaskRefusal> {
    if card.contributors.assigned_to.as_deref() == Some(participant.name.as_str()) {
        return Ok(());
    }
    Err(TaskRefusal::NotAssignee { task: card.id.clone(), assignee: card.contributors.assigned_to.clone(), action: action.to_owned() })
}
