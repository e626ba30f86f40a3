//! Changing tasks without moving them: words, order, dependencies; and letting them start.

use domain::board::status::{HeldBy, Status};
use domain::board::task::Task;
use domain::event::Event;
use domain::id::TaskId;
use domain::refusal::Refusal;
use domain::text;
use domain::wire::TaskPatch;

use crate::board::task::{read, wrong_status};
use crate::board::{attention, dependency};
use crate::caller::Caller;
use crate::consequences;
use crate::engine::open::Db;
use crate::engine::tx::{NoEventReason, Tx};
use crate::error::Result;
use crate::runs::{branch, run};

impl Db {
    /// Changes what a task says, waits for, or is worked on with. `patch.status`, `reason` and `merge` belong to a move and are not read.
    ///
    /// # Errors
    /// When a text is not acceptable, or a dependency is unknown or makes a circle.
    pub async fn edit_task(&self, caller: &Caller, id: &TaskId, patch: TaskPatch) -> Result<Task> {
        let (caller, id) = (caller.clone(), id.clone());
        self.write(move |tx| {
            Box::pin(async move {
                caller.require_person("editing tasks")?;
                let before = read::task(&mut tx.connection, &id).await?;
                let fields = write_fields(tx, &before, &patch).await?;
                if fields.is_empty() {
                    tx.skip_event(NoEventReason::NothingChanged);
                    return Ok(before);
                }
                tx.record_for_task(&caller, &before.card.project_id, &id, Event::TaskEdited { fields });
                consequences::task_changed(tx, &caller, &before.card.project_id, &id).await?;
                read::task(&mut tx.connection, &id).await
            })
        })
        .await
    }

    /// Lets the runner work on a task: nobody holds it any more. A task that waits for others goes on waiting for them.
    ///
    /// # Errors
    /// When it is done or cancelled.
    pub async fn start_task(&self, caller: &Caller, id: &TaskId) -> Result<Task> {
        self.release(caller, id, "starting tasks").await
    }

    /// Lets the runner try a task again at once, with all its attempts ahead of it. On a finished card it says that the person has
    /// seen what was asked of them.
    ///
    /// # Errors
    /// When it is done or cancelled.
    pub async fn retry_task(&self, caller: &Caller, id: &TaskId) -> Result<Task> {
        self.release(caller, id, "retrying tasks").await
    }

    async fn release(&self, caller: &Caller, id: &TaskId, action: &'static str) -> Result<Task> {
        let (caller, id) = (caller.clone(), id.clone());
        self.write(move |tx| {
            Box::pin(async move {
                caller.require_person(action)?;
                let task = read::task(&mut tx.connection, &id).await?;
                branch::accept_tip(tx, &task.card).await?;
                if !task.card.status.is_open() && task.card.attention.is_some() {
                    // Nothing to start: the person has seen what was asked of them.
                    attention::clear(tx, &caller, &task.card.project_id, &id).await?;
                    consequences::task_changed(tx, &caller, &task.card.project_id, &id).await?;
                    return read::task(&mut tx.connection, &id).await;
                }
                if !task.card.status.is_open() {
                    let hint = match task.card.status {
                        Status::Cancelled => "Move it back to backlog first.",
                        _ => "Move it to in_progress with a reason, or create a new task.",
                    };
                    return Err(wrong_status(&task.card, "nothing is to be started", hint).into());
                }
                release(tx, &caller, &task).await?;
                consequences::task_changed(tx, &caller, &task.card.project_id, &id).await?;
                read::task(&mut tx.connection, &id).await
            })
        })
        .await
    }

    /// Ends a task's run, if it has one, and keeps an open card where it is until it is started again.
    ///
    /// # Errors
    /// When it is done or cancelled and no run is left to end.
    pub async fn stop_task(&self, caller: &Caller, id: &TaskId) -> Result<Task> {
        let (caller, id) = (caller.clone(), id.clone());
        self.write(move |tx| {
            Box::pin(async move {
                caller.require_person("stopping tasks")?;
                stop(tx, &caller, &id).await?;
                read::task(&mut tx.connection, &id).await
            })
        })
        .await
    }
}

/// Fences the live run of a task and holds its card. A card that is finished already has nothing to be held from.
pub(crate) async fn stop(tx: &mut Tx, caller: &Caller, id: &TaskId) -> Result<()> {
    let task = read::task(&mut tx.connection, id).await?;
    if !task.card.status.is_open() && task.card.run.as_ref().is_none_or(|live| live.stopping) {
        return Err(Refusal::NoLiveRun(id.to_string()).into());
    }
    run::fence_run(tx, caller, &task.card).await?;
    if task.card.status.is_open() {
        hold(tx, caller, &task, HeldBy::Stop).await?;
    }
    consequences::task_changed(tx, caller, &task.card.project_id, id).await
}

pub(crate) async fn release(tx: &mut Tx, caller: &Caller, task: &Task) -> Result<()> {
    let card = &task.card;
    // A question keeps its card until it is answered: starting it again would only ask again. So does a silence until it ends.
    sqlx::query(
        "UPDATE tasks SET held_by = NULL, wait_reason = NULL, failures = 0, last_failure = NULL, retry_at = NULL, review_rounds = 0, updated_at = $2,
                attention = CASE WHEN json_extract(attention, '$.kind') IN ('needs_input', 'dependency_cancelled', 'silent') THEN attention ELSE NULL END
         WHERE id = $1",
    )
    .bind(card.id.as_str())
    .bind(tx.now.to_string())
    .execute(&mut tx.connection)
    .await?;
    tx.record_for_task(caller, &card.project_id, &card.id, Event::TaskReleased {});
    Ok(())
}

async fn hold(tx: &mut Tx, caller: &Caller, task: &Task, by: HeldBy) -> Result<()> {
    sqlx::query("UPDATE tasks SET held_by = $2, wait_reason = NULL, updated_at = $3 WHERE id = $1")
        .bind(task.card.id.as_str())
        .bind(by.as_str())
        .bind(tx.now.to_string())
        .execute(&mut tx.connection)
        .await?;
    tx.record_for_task(caller, &task.card.project_id, &task.card.id, Event::TaskHeld { by });
    Ok(())
}

/// Writes what differs and says which fields did.
async fn write_fields(tx: &mut Tx, before: &Task, patch: &TaskPatch) -> Result<Vec<String>> {
    let card = &before.card;
    let title = patch.title.as_deref().map(|title| text::validate_title("title", title)).transpose()?.unwrap_or_else(|| card.title.clone());
    let description = match &patch.description {
        Some(given) => text::validate_optional_body("description", Some(given))?,
        None => before.description.clone(),
    };
    let model = match &patch.model {
        Some(given) => text::validate_optional_body("model", Some(given))?,
        None => before.model.clone(),
    };
    let priority = patch.priority.unwrap_or(card.priority);
    let mut depends_on = patch.depends_on.clone().unwrap_or_else(|| card.depends_on.clone());
    depends_on.sort();
    depends_on.dedup();
    let changes = [
        ("title", title != card.title),
        ("description", description != before.description),
        ("model", model != before.model),
        ("priority", priority != card.priority),
        ("depends_on", depends_on != card.depends_on),
    ];
    let fields: Vec<String> = changes.iter().filter(|(_, changed)| *changed).map(|(name, _)| (*name).to_owned()).collect();
    if fields.is_empty() {
        return Ok(fields);
    }
    sqlx::query("UPDATE tasks SET title = $2, description = $3, model = $4, priority = $5, updated_at = $6 WHERE id = $1")
        .bind(card.id.as_str())
        .bind(title)
        .bind(description)
        .bind(model)
        .bind(priority)
        .bind(tx.now.to_string())
        .execute(&mut tx.connection)
        .await?;
    if depends_on != card.depends_on {
        dependency::set(tx, &card.project_id, &card.id, &depends_on).await?;
    }
    Ok(fields)
}
