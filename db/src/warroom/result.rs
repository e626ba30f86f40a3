//! Results: what agents leave behind about tasks. They are only added.

pub(crate) mod row;
pub(crate) mod write;

use domain::board::status::Status;
use domain::board::task::refusal::TaskRefusal;
use domain::id::TaskId;
use domain::refusal::Refusal;
use domain::runs::agent_kind::AgentKind;
use domain::warroom::result::{NewTaskResult, TaskResult, require_parts};

use crate::board::task::row as tasks;
use crate::board::task::row::wrong_status;
use crate::caller::Caller;
use crate::engine::open::Db;
use crate::error::Result;
use crate::warroom::lead::row as lead;

impl Db {
    /// Stores the result of a task that changes code. Its assignee may submit it, or a lead, because the assignee may be gone. A later result
    /// stands before it.
    ///
    /// # Errors
    /// When the caller is neither, the work has not begun, or the text is not acceptable or lacks a part.
    pub async fn submit_result(&self, caller: &Caller, id: &TaskId, new: NewTaskResult) -> Result<TaskResult> {
        let id = id.clone();
        self.run_once(caller, move |tx, caller| {
            Box::pin(async move {
                let task = tasks::task(&mut tx.connection, &id).await?;
                if caller.project().is_some_and(|own| *own != task.card.project_id) {
                    return Err(Refusal::not_found("task", &id).into());
                }
                let participant = lead::load_for_task(&mut tx.connection, caller, &task.card).await?;
                let assignee = task.card.contributors.assigned_to.clone();
                if !participant.is_lead && assignee.as_deref() != Some(participant.name.as_str()) {
                    return Err(TaskRefusal::NotAssignee { task: id, assignee, action: "submitting its result".to_owned() }.into());
                }
                if task.card.phase != AgentKind::Coder {
                    return Err(wrong_status(&task.card, "a plan has no result", "Submit the results of its tasks.").into());
                }
                if task.card.status == Status::Backlog {
                    return Err(wrong_status(&task.card, "nobody has started it", "Move it to in_progress first.").into());
                }
                let content = new.text()?;
                require_parts(&content)?;
                write::submit(tx, caller, &task.card, new.file.as_deref(), &content).await
            })
        })
        .await
    }

    /// Returns the newest result of a task, if it has one.
    ///
    /// # Errors
    /// When the task does not exist.
    pub async fn task_result(&self, id: &TaskId) -> Result<Option<TaskResult>> {
        let mut connection = self.readers.acquire().await?;
        tasks::outline(&mut connection, id).await?;
        row::newest(&mut connection, id).await
    }
}
