//! Gates: work among agents handed in, approved or sent back, and verified by somebody else. Each is a move by the transition table.

mod review;
mod verify;

use domain::event::Event;
use domain::evidence::Found;
use domain::id::TaskId;
use domain::refusal::Refusal;
use domain::stage::Stage;
use domain::task::{CancelReason, Card, Status, Task, TaskUpdate};
use domain::text;
use domain::transition::Mover;

use crate::caller::Caller;
use crate::error::Result;
use crate::open::Db;
use crate::task::assign::{assignee, give};
use crate::task::moves::{movers, own_task};
use crate::task::{Move, apply, read, settle};
use crate::tx::Tx;
use crate::voice::{self, Voice};

impl Db {
    /// Changes a task as an agent may: gives it out, keeps what came of it, and moves it to the stage asked for. Those whom it concerns
    /// are told.
    ///
    /// # Errors
    /// When nothing is to be changed, the stage cannot follow or is not the caller's to give, or something that it needs is missing.
    pub async fn update_task(&self, caller: &Caller, id: &TaskId, update: TaskUpdate, found: Found) -> Result<Task> {
        let id = id.clone();
        self.once(caller, move |tx, caller| {
            Box::pin(async move {
                let (task, voice) = enter(tx, caller, &id).await?;
                if update == TaskUpdate::default() {
                    return Err(Refusal::invalid("status", "nothing is to be changed", "Give status, assigned_to or result.").into());
                }
                let result = text::optional_body("result", update.result.as_deref())?;
                let mut task = given_out(tx, caller, &voice, task, &update, &found).await?;
                let judges = update.stage.is_some_and(|stage| judges(stage, &task.card));
                if let Some(result) = result.as_deref().filter(|_| !judges) {
                    keep_result(tx, caller, &voice, &task.card, result).await?;
                    task.result = Some(result.to_owned());
                }
                if let Some(stage) = update.stage.filter(|stage| *stage != Stage::Assigned) {
                    make(tx, caller, &voice, &task, stage, result.as_deref().filter(|_| judges), &found).await?;
                }
                leave(tx, caller, &task).await
            })
        })
        .await
    }
}

/// The task as it stands, and who speaks about it. A task of another project is not even admitted to exist.
pub(super) async fn enter(tx: &mut Tx, caller: &Caller, id: &TaskId) -> Result<(Task, Voice)> {
    let task = read::task(&mut tx.connection, id).await?;
    if caller.project().is_some_and(|own| *own != task.card.project_id) {
        return Err(Refusal::not_found("task", id).into());
    }
    let voice = voice::of(&mut tx.connection, caller, &task.card.project_id).await?;
    Ok((task, voice))
}

/// The task given to whom the update names, or once more to its assignee where it is to be assigned again.
async fn given_out(tx: &mut Tx, caller: &Caller, voice: &Voice, mut task: Task, update: &TaskUpdate, found: &Found) -> Result<Task> {
    let again = update.stage == Some(Stage::Assigned);
    if again {
        let to = permit(tx, caller, voice, &task, Stage::Assigned, update.assigned_to.is_some()).await?;
        if to != task.card.status {
            apply(tx, caller, &task, &Move::to(to), found).await?;
            task = read::task(&mut tx.connection, &task.card.id).await?;
        }
    }
    let before = task.card.hands.assigned_to.as_ref().filter(|_| again);
    let Some(name) = update.assigned_to.as_ref().or(before) else {
        let nobody = || Refusal::invalid("assigned_to", "nobody is named", "Name an agent that who shows.");
        return if again { Err(nobody().into()) } else { Ok(task) };
    };
    let to = assignee(tx, &task.card.project_id, &voice.name, name).await?;
    give(tx, caller, voice, &task.card, &to, None).await?;
    read::task(&mut tx.connection, &task.card.id).await
}

/// What follows from the change, and the task as it is then.
pub(super) async fn leave(tx: &mut Tx, caller: &Caller, task: &Task) -> Result<Task> {
    settle::all(tx, caller, &task.card.project_id).await?;
    read::task(&mut tx.connection, &task.card.id).await
}

/// Whether making `card` this stage is a judgement of handed-in work, which words go with.
fn judges(stage: Stage, card: &Card) -> bool {
    matches!((stage, card.status), (Stage::Completed | Stage::Verified, _) | (Stage::InProgress, Status::InReview | Status::Done))
}

/// Makes a task this stage, as the table allows the caller.
async fn make(tx: &mut Tx, caller: &Caller, voice: &Voice, task: &Task, stage: Stage, words: Option<&str>, found: &Found) -> Result<()> {
    let to = permit(tx, caller, voice, task, stage, false).await?;
    if task.card.status != Status::Done {
        // Finished work is judged by others than its own run.
        own_task(tx, caller, task, to).await?;
    }
    let reason = if to == Status::Cancelled { Some(CancelReason::Failed.as_str()) } else { words };
    apply(tx, caller, task, &Move { to, reason: reason.map(str::to_owned), merge: true }, found).await
}

/// The status behind a stage, where the caller may make the task so; otherwise why not. `anew`: somebody is named, so that giving out
/// what is given out already changes something.
async fn permit(tx: &mut Tx, caller: &Caller, voice: &Voice, task: &Task, to: Stage, anew: bool) -> Result<Status> {
    let card = &task.card;
    let movers = movers(&mut tx.connection, caller, card).await?;
    let (from, makers) = (Stage::of(card), to.makers(card));
    let status = to.asks(card).filter(|_| from != to || anew);
    if let Some(status) = status.filter(|_| makers.iter().any(|maker| movers.contains(maker))) {
        return Ok(status);
    }
    let action = format!("making it {to}");
    if status.is_some() && makers.contains(&Mover::Lead) {
        voice.lead_only(&action)?;
    }
    if status.is_some() && makers.contains(&Mover::Verifier) {
        voice.verified_only(&action)?;
    }
    if status.is_some() && makers.contains(&Mover::Assignee) {
        return Err(Refusal::NotAssignee { task: card.id.clone(), assignee: card.hands.assigned_to.clone(), action }.into());
    }
    Err(illegal(voice, card, to, &movers).into())
}

fn illegal(voice: &Voice, card: &Card, to: Stage, movers: &[Mover]) -> Refusal {
    let next = Stage::next(card, movers);
    Refusal::IllegalStage { task: card.id.clone(), from: Stage::of(card), to, agent: voice.name.clone(), next }
}

/// Refuses a gate that does not open from where the task stands.
async fn stands_at(tx: &mut Tx, caller: &Caller, voice: &Voice, card: &Card, at: Status, to: Stage) -> Result<()> {
    if card.status == at {
        return Ok(());
    }
    Err(illegal(voice, card, to, &movers(&mut tx.connection, caller, card).await?).into())
}

/// Keeps what came of a task.
async fn keep_result(tx: &mut Tx, caller: &Caller, voice: &Voice, card: &Card, result: &str) -> Result<()> {
    if !voice.leads {
        assignee_only(voice, card, "storing its result")?;
    }
    sqlx::query("UPDATE tasks SET result = $2, updated_at = $3 WHERE id = $1")
        .bind(card.id.as_str())
        .bind(result)
        .bind(tx.now.to_string())
        .execute(&mut tx.connection)
        .await?;
    tx.record_for_task(caller, &card.project_id, &card.id, Event::ResultStored {});
    Ok(())
}

/// Refuses everybody but the assignee of a task.
fn assignee_only(voice: &Voice, card: &Card, action: &str) -> Result<(), Refusal> {
    if card.hands.assigned_to.as_deref() == Some(voice.name.as_str()) {
        return Ok(());
    }
    Err(Refusal::NotAssignee { task: card.id.clone(), assignee: card.hands.assigned_to.clone(), action: action.to_owned() })
}
