//! Edits, starts, retries and stops tasks. None of these moves a task.

use domain::board::status::{HeldBy, Status};
use domain::board::task::event::TaskEvent;
use domain::board::task::retry::RetryOptions;
use domain::board::task::{Task, TaskFields, TaskPatch};
use domain::id::TaskId;
use domain::runs::evidence::EvidenceResult;

use crate::board::attention::write as attention;
use crate::board::dependency::write as dependency;
use crate::board::task::row as tasks;
use crate::board::task::row::{taken_over, wrong_status};
use crate::board::task::write::change::MoveRequest;
use crate::board::task::write::retry;
use crate::board::task::write::{release, stop, update_fields};
use crate::caller::Caller;
use crate::consequences::task_changed::task_changed;
use crate::consequences::task_moved::move_task;
use crate::engine::open::Db;
use crate::engine::tx::{NoEventReason, Tx};
use crate::error::Result;
use crate::runs::branch::write as branch;

impl Db {
    /// Edits the fields and dependencies of a task. `patch.status`, `reason` and `merge` belong to a move and are ignored.
    ///
    /// # Errors
    /// When a text is invalid, or a dependency is unknown or makes a cycle.
    pub async fn edit_task(&self, caller: &Caller, id: &TaskId, patch: TaskPatch) -> Result<Task> {
        let (caller, id) = (caller.clone(), id.clone());
        self.write(move |tx| {
            Box::pin(async move {
                let before = tasks::task(&mut tx.connection, &id).await?;
                if !edit(tx, &caller, &before, &patch).await? {
                    tx.skip_event(NoEventReason::NothingChanged);
                    return Ok(before);
                }
                task_changed(tx, &caller, &before.card.project_id, &id).await?;
                tasks::task(&mut tx.connection, &id).await
            })
        })
        .await
    }

    /// Edits a task and moves it. If either is refused, neither happens.
    ///
    /// # Errors
    /// As [`Db::edit_task`] and [`Db::move_task`].
    pub async fn edit_and_move_task(
        &self,
        caller: &Caller,
        id: &TaskId,
        patch: TaskPatch,
        request: MoveRequest,
        found: EvidenceResult,
    ) -> Result<Task> {
        let (caller, id) = (caller.clone(), id.clone());
        self.write(move |tx| {
            Box::pin(async move {
                let before = tasks::task(&mut tx.connection, &id).await?;
                edit(tx, &caller, &before, &patch).await?;
                let edited = tasks::task(&mut tx.connection, &id).await?;
                move_task(tx, &caller, &edited, &request, &found).await?;
                task_changed(tx, &caller, &before.card.project_id, &id).await?;
                tasks::task(&mut tx.connection, &id).await
            })
        })
        .await
    }

    /// Removes the hold of a task, so that the runner may work on it. Dependencies still delay it.
    ///
    /// # Errors
    /// When it is done or cancelled.
    pub async fn start_task(&self, caller: &Caller, id: &TaskId) -> Result<Task> {
        self.release(caller, id, "starting tasks", RetryOptions::default()).await
    }

    /// Lets the runner retry a task at once with a full number of attempts, as `options` say. On a finished task, it clears the attention.
    ///
    /// # Errors
    /// When it is done or cancelled, or the options do not fit its state.
    pub async fn retry_task(&self, caller: &Caller, id: &TaskId, options: RetryOptions) -> Result<Task> {
        self.release(caller, id, "retrying tasks", options).await
    }

    async fn release(&self, caller: &Caller, id: &TaskId, action: &'static str, options: RetryOptions) -> Result<Task> {
        let (caller, id) = (caller.clone(), id.clone());
        self.write(move |tx| {
            Box::pin(async move {
                caller.require_person(action)?;
                let task = tasks::task(&mut tx.connection, &id).await?;
                if task.card.held_by == Some(HeldBy::Takeover) {
                    return Err(taken_over(&task.card).into());
                }
                branch::accept_tip(tx, &task.card).await?;
                if !task.card.status.is_open() && task.card.attention.is_some() {
                    // Nothing can be started; the human has seen the attention.
                    attention::clear(tx, &caller, &task.card.project_id, &id).await?;
                    task_changed(tx, &caller, &task.card.project_id, &id).await?;
                    return tasks::task(&mut tx.connection, &id).await;
                }
                if !task.card.status.is_open() {
                    let hint = match task.card.status {
                        Status::Cancelled => "Move it back to backlog first.",
                        _ => "Move it to in_progress with a reason, or create a new task.",
                    };
                    return Err(wrong_status(&task.card, "it is finished", hint).into());
                }
                if task.card.held_by == Some(HeldBy::Plan) {
                    caller.require_decision("starting tasks of a plan that awaits approval")?;
                }
                retry::apply(tx, &caller, &task, &options).await?;
                release(tx, &caller, &task).await?;
                task_changed(tx, &caller, &task.card.project_id, &id).await?;
                tasks::task(&mut tx.connection, &id).await
            })
        })
        .await
    }

    /// Fences a task's run, if it has one, and holds an open task in its column until it is started again.
    ///
    /// # Errors
    /// When it is done or cancelled and has no run to stop.
    pub async fn stop_task(&self, caller: &Caller, id: &TaskId) -> Result<Task> {
        let (caller, id) = (caller.clone(), id.clone());
        self.write(move |tx| {
            Box::pin(async move {
                caller.require_person("stopping tasks")?;
                let project = stop(tx, &caller, &id).await?;
                task_changed(tx, &caller, &project, &id).await?;
                tasks::task(&mut tx.connection, &id).await
            })
        })
        .await
    }
}

/// Writes and records the changed fields. Returns whether there are any.
async fn edit(tx: &mut Tx, caller: &Caller, before: &Task, patch: &TaskPatch) -> Result<bool> {
    caller.require_person("editing tasks")?;
    let fields = write_fields(tx, before, patch).await?;
    let changes = !fields.is_empty();
    if changes {
        tx.record_for_task(caller, &before.card.project_id, &before.card.id, TaskEvent::Edited { fields });
    }
    Ok(changes)
}

/// Writes the changed fields and returns their names.
async fn write_fields(tx: &mut Tx, before: &Task, patch: &TaskPatch) -> Result<Vec<String>> {
    let card = &before.card;
    let old = TaskFields::from(before);
    let new = patch.apply(&old)?;
    let mut depends_on = patch.depends_on.clone().unwrap_or_else(|| card.depends_on.clone());
    depends_on.sort();
    depends_on.dedup();
    let mut changed = new.changed_since(&old);
    let new_dependencies = depends_on != card.depends_on;
    if new_dependencies {
        changed.push("depends_on");
    }
    if !changed.is_empty() {
        update_fields(tx, &card.id, &new).await?;
    }
    if new_dependencies {
        dependency::set(tx, &card.project_id, &card.id, &depends_on).await?;
    }
    Ok(changed.into_iter().map(str::to_owned).collect())
}
