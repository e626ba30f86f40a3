//! Puts a task into another place of its column.

use domain::board::card::Card;
use domain::board::order::{NewPlace, initial_position, place, start_order};
use domain::board::task::Task;
use domain::board::task::event::TaskEvent;
use domain::id::TaskId;
use domain::refusal::Refusal;

use crate::board::task::row as tasks;
use crate::board::task::row::wrong_status;
use crate::caller::Caller;
use crate::engine::open::Db;
use crate::engine::tx::{NoEventReason, Tx};
use crate::error::Result;

/// The open tasks of a project.
pub(crate) const OPEN: &str = "WHERE t.project_id = $1 AND t.status IN ('backlog', 'in_progress', 'in_review')";

impl Db {
    /// Puts an open task before or after another one of its column. Tasks of equal priority start in this order.
    ///
    /// # Errors
    /// When it is done or cancelled, or the other task is not in the same column.
    pub async fn reorder_task(&self, caller: &Caller, id: &TaskId, to: NewPlace) -> Result<Task> {
        let (caller, id) = (caller.clone(), id.clone());
        self.write(move |tx| {
            Box::pin(async move {
                caller.require_person("ordering tasks")?;
                let task = tasks::task(&mut tx.connection, &id).await?;
                if !task.card.status.is_open() {
                    return Err(wrong_status(&task.card, "it is finished", "Move it back to backlog first.").into());
                }
                let mut column = tasks::outlines(&mut tx.connection, OPEN, task.card.project_id.as_str()).await?;
                column.retain(|card| card.status == task.card.status);
                column.sort_by_key(start_order);
                let was_at = column.iter().position(|card| card.id == id);
                column.retain(|card| card.id != id);
                let index = index(&column, &to)?;
                if was_at == Some(index) {
                    tx.skip_event(NoEventReason::NothingChanged);
                    return Ok(task);
                }
                write(tx, &caller, &task.card, &column, index).await?;
                tasks::task(&mut tx.connection, &id).await
            })
        })
        .await
    }
}

/// The place in the column, which lacks the moved task.
fn index(column: &[Card], to: &NewPlace) -> Result<usize> {
    let (field, other, offset) = match (&to.before, &to.after) {
        (Some(other), None) => ("before", other, 0),
        (None, Some(other)) => ("after", other, 1),
        _ => return Err(Refusal::invalid("before", "exactly one of `before` and `after` is needed", "Name one task of the same column.").into()),
    };
    let place = column.iter().position(|card| card.id == *other);
    let refused = || Refusal::invalid(field, format!("{other} is not another task of the same column"), "Name another task of the same column.");
    Ok(place.ok_or_else(refused)? + offset)
}

async fn write(tx: &mut Tx, caller: &Caller, moved: &Card, column: &[Card], index: usize) -> Result<()> {
    let last: i64 = sqlx::query_scalar("SELECT value FROM counters WHERE kind = $1").bind(TaskId::PREFIX).fetch_one(&mut tx.connection).await?;
    let next = initial_position(u64::try_from(last).unwrap_or_default() + 1);
    for placed in place(column, moved, index, next) {
        sqlx::query("UPDATE tasks SET priority = $2, position = $3, updated_at = $4 WHERE id = $1")
            .bind(placed.task.as_str())
            .bind(placed.priority)
            .bind(placed.position)
            .bind(tx.now.to_string())
            .execute(&mut tx.connection)
            .await?;
        tx.record_for_task(caller, &moved.project_id, &placed.task, TaskEvent::Edited { fields: vec!["position".to_owned()] });
    }
    Ok(())
}
