//! Counts the updates of tasks, and asks a person about a task with too many. Must not know the consequences.

use domain::board::attention::Attention;
use domain::board::status::Status;
use domain::id::TaskId;
use domain::warroom::agent_activity::asks_person;
use sqlx::Row;

use crate::board::attention::write as attention;
use crate::caller::Caller;
use crate::engine::column::{count, parsed};
use crate::engine::tx::Tx;
use crate::error::Result;

const COUNT: &str = "UPDATE tasks SET activity_count = activity_count + 1 WHERE id = $1
  RETURNING project_id, status, assigned_to, attention, activity_count, activity_asked";

/// Counts an update of a task by a participant. Managed agents report their progress by themselves, which says nothing.
///
/// A person is asked while an external agent works on the task, and nothing else about it waits for them.
pub(crate) async fn count_update(tx: &mut Tx, caller: &Caller, task: &TaskId) -> Result<()> {
    if caller.run().is_some() {
        return Ok(());
    }
    let row = sqlx::query(COUNT).bind(task.as_str()).fetch_one(&mut tx.connection).await?;
    let (updates, asked): (u32, u32) = (count(&row, "activity_count")?, count(&row, "activity_asked")?);
    let status: Status = parsed(&row, "status")?;
    let is_settled = row.try_get::<Option<&str>, _>("attention")?.is_none();
    let assignee: Option<String> = row.try_get("assigned_to")?;
    let at_work = assignee.filter(|_| is_settled && matches!(status, Status::Backlog | Status::InProgress));
    let Some(assignee) = at_work.filter(|_| asks_person(updates, asked)) else { return Ok(()) };
    let project = parsed(&row, "project_id")?;
    sqlx::query("UPDATE tasks SET activity_asked = activity_count WHERE id = $1").bind(task.as_str()).execute(&mut tx.connection).await?;
    attention::request(tx, &Caller::Runner, &project, task, Attention::often_updated(&assignee, updates)).await
}
