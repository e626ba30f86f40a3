//! Gates: work among agents handed in, approved or sent back, and verified by somebody else. Each is a move by the transition table.

mod review;
mod verify;

use domain::board::card::Card;
use domain::board::stage::Stage;
use domain::board::status::{CancelReason, Status};
use domain::board::task::{Task, TaskUpdate};
use domain::board::transition::Mover;
use domain::event::Event;
use domain::id::TaskId;
use domain::refusal::Refusal;
use domain::runs::evidence::EvidenceResult;
use domain::text;

use crate::board::task::assign::{assign_by_lead, assignee};
use crate::board::task::moves::{movers, require_own_task};
use crate::board::task::{MoveRequest, apply, read};
use crate::caller::Caller;
use crate::consequences;
use crate::engine::open::Db;
use crate::engine::tx::Tx;
use crate::error::Result;
use crate::team::participant;
use crate::team::participant::Participant;

impl Db {
    /// Changes a task as an agent may: gives it out, keeps what came of it, and moves it to the stage asked for. Those whom it concerns
    /// are told.
    ///
    /// # Errors
    /// When nothing is to be changed, the stage cannot follow or is not the caller's to give, or something that it needs is missing.
    pub async fn update_task(&self, caller: &Caller, id: &TaskId, update: TaskUpdate, found: EvidenceResult) -> Result<Task> {
        let id = id.clone();
        self.run_once(caller, move |tx, caller| {
            Box::pin(async move {
                let (task, voice) = load_for_participant(tx, caller, &id).await?;
                if update == TaskUpdate::default() {
                    return Err(Refusal::invalid("status", "nothing is to be changed", "Give status, assigned_to or result.").into());
                }
                let result = text::validate_optional_body("result", update.result.as_deref())?;
                let mut task = reassign_if_requested(tx, caller, &voice, task, &update, &found).await?;
                let judges = update.stage.is_some_and(|stage| is_verdict(stage, &task.card));
                if let Some(result) = result.as_deref().filter(|_| !judges) {
                    store_result(tx, caller, &voice, &task.card, result).await?;
                    task.result = Some(result.to_owned());
                }
                if let Some(stage) = update.stage.filter(|stage| *stage != Stage::Assigned) {
                    move_to_stage(tx, caller, &voice, &task, stage, result.as_deref().filter(|_| judges), &found).await?;
                }
                finish_change(tx, caller, &task).await
            })
        })
        .await
    }
}

/// The task as it stands, and who speaks about it. A task of another project is not even admitted to exist.
pub(super) async fn load_for_participant(tx: &mut Tx, caller: &Caller, id: &TaskId) -> Result<(Task, Participant)> {
    let task = read::task(&mut tx.connection, id).await?;
    if caller.project().is_some_and(|own| *own != task.card.project_id) {
        return Err(Refusal::not_found("task", id).into());
    }
    let voice = participant::load(&mut tx.connection, caller, &task.card.project_id).await?;
    Ok((task, voice))
}

/// The task given to whom the update names, or once more to its assignee where it is to be assigned again.
async fn reassign_if_requested(
    tx: &mut Tx,
    caller: &Caller,
    voice: &Participant,
    mut task: Task,
    update: &TaskUpdate,
    found: &EvidenceResult,
) -> Result<Task> {
    let again = update.stage == Some(Stage::Assigned);
    if again {
        let to = authorize_stage(tx, caller, voice, &task, Stage::Assigned, update.assigned_to.is_some()).await?;
        if to != task.card.status {
            apply(tx, caller, &task, &MoveRequest::to(to), found).await?;
            task = read::task(&mut tx.connection, &task.card.id).await?;
        }
    }
    let before = task.card.contributors.assigned_to.as_ref().filter(|_| again);
    let Some(name) = update.assigned_to.as_ref().or(before) else {
        let nobody = || Refusal::invalid("assigned_to", "nobody is named", "Name an agent that who shows.");
        return if again { Err(nobody().into()) } else { Ok(task) };
    };
    let to = assignee(tx, &task.card.project_id, &voice.name, name).await?;
    assign_by_lead(tx, caller, voice, &task.card, &to, None).await?;
    read::task(&mut tx.connection, &task.card.id).await
}

/// What follows from the change, and the task as it is then.
pub(super) async fn finish_change(tx: &mut Tx, caller: &Caller, task: &Task) -> Result<Task> {
    consequences::task_changed(tx, caller, &task.card.project_id, &task.card.id).await?;
    read::task(&mut tx.connection, &task.card.id).await
}

/// Whether making `card` this stage is a judgement of handed-in work, which words go with.
fn is_verdict(stage: Stage, card: &Card) -> bool {
    matches!((stage, card.status), (Stage::Completed | Stage::Verified, _) | (Stage::InProgress, Status::InReview | Status::Done))
}

/// Makes a task this stage, as the table allows the caller.
async fn move_to_stage(
    tx: &mut Tx,
    caller: &Caller,
    voice: &Participant,
    task: &Task,
    stage: Stage,
    words: Option<&str>,
    found: &EvidenceResult,
) -> Result<()> {
    let to = authorize_stage(tx, caller, voice, task, stage, false).await?;
    if task.card.status != Status::Done {
        // Finished work is judged by others than its own run.
        require_own_task(tx, caller, task, to).await?;
    }
    let reason = if to == Status::Cancelled { Some(CancelReason::Failed.as_str()) } else { words };
    apply(tx, caller, task, &MoveRequest { to, reason: reason.map(str::to_owned), merge: true }, found).await
}

/// The status behind a stage, where the caller may make the task so; otherwise why not. `anew`: somebody is named, so that giving out
/// what is given out already changes something.
async fn authorize_stage(tx: &mut Tx, caller: &Caller, voice: &Participant, task: &Task, to: Stage, anew: bool) -> Result<Status> {
    let card = &task.card;
    let movers = movers(&mut tx.connection, caller, card).await?;
    let (from, makers) = (Stage::of(card), to.allowed_movers(card));
    let status = to.target_status(card).filter(|_| from != to || anew);
    if let Some(status) = status.filter(|_| makers.iter().any(|maker| movers.contains(maker))) {
        return Ok(status);
    }
    let action = format!("making it {to}");
    if status.is_some() && makers.contains(&Mover::Lead) {
        voice.require_lead(&action)?;
    }
    if status.is_some() && makers.contains(&Mover::Verifier) {
        voice.require_trusted(&action)?;
    }
    if status.is_some() && makers.contains(&Mover::Assignee) {
        return Err(Refusal::NotAssignee { task: card.id.clone(), assignee: card.contributors.assigned_to.clone(), action }.into());
    }
    Err(illegal(voice, card, to, &movers).into())
}

fn illegal(voice: &Participant, card: &Card, to: Stage, movers: &[Mover]) -> Refusal {
    let next = Stage::reachable(card, movers);
    Refusal::IllegalStage { task: card.id.clone(), from: Stage::of(card), to, agent: voice.name.clone(), next }
}

/// Refuses a gate that does not open from where the task stands.
async fn require_status(tx: &mut Tx, caller: &Caller, voice: &Participant, card: &Card, at: Status, to: Stage) -> Result<()> {
    if card.status == at {
        return Ok(());
    }
    Err(illegal(voice, card, to, &movers(&mut tx.connection, caller, card).await?).into())
}

/// Keeps what came of a task.
async fn store_result(tx: &mut Tx, caller: &Caller, voice: &Participant, card: &Card, result: &str) -> Result<()> {
    if !voice.is_lead {
        require_assignee(voice, card, "storing its result")?;
    }
    sqlx::query("UPDATE tasks SET result = $2, updated_at = $3 WHERE id = $1")
        .bind(card.id.as_str())
        .bind(result)
        .bind(tx.now.to_string())
        .execute(&mut tx.connection)
        .await?;
    tx.record_for_task(caller, &card.project_id, &card.id, Event::SubmissionStored {});
    Ok(())
}

/// Refuses everybody but the assignee of a task.
fn require_assignee(voice: &Participant, card: &Card, action: &str) -> Result<(), Refusal> {
    if card.contributors.assigned_to.as_deref() == Some(voice.name.as_str()) {
        return Ok(());
    }
    Err(Refusal::NotAssignee { task: card.id.clone(), assignee: card.contributors.assigned_to.clone(), action: action.to_owned() })
}
