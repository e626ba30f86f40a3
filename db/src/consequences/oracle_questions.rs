//! The questions to a managed oracle change: its task is open while one is, so that the runner starts it, and done when none is left.

use domain::board::status::Status;
use domain::board::task::TaskFields;
use domain::id::{ProjectId, TaskId};
use domain::runs::agent_kind::AgentKind;
use domain::runs::evidence::EvidenceResult;
use domain::warroom::oracle::expert::task_title;

use crate::board::task::row as tasks;
use crate::board::task::write::change::MoveRequest;
use crate::board::task::write::{NewTaskRow, insert};
use crate::caller::Caller;
use crate::consequences::task_changed::task_changed;
use crate::consequences::task_moved::move_task;
use crate::engine::tx::Tx;
use crate::error::Result;
use crate::warroom::oracle::{row, write};

/// Creates the task of the managed oracle of a zone.
pub(crate) async fn first_question(tx: &mut Tx, project: &ProjectId, zone: &str) -> Result<TaskId> {
    let fields = TaskFields { title: task_title(zone), ..TaskFields::default() };
    let (project, phase, status) = (project.clone(), AgentKind::Oracle, Status::Backlog);
    let new = NewTaskRow { project: project.clone(), parent: None, fields, phase, status, held_by: None, round: None };
    let task = insert(tx, &Caller::Runner, new).await?;
    write::set_task(tx, &project, zone, &task).await?;
    task_changed(tx, &Caller::Runner, &project, &task).await?;
    Ok(task)
}

/// Opens the task of a managed oracle for a question.
pub(crate) async fn question_asked(tx: &mut Tx, task: &TaskId) -> Result<()> {
    let status = tasks::card(&mut tx.connection, task).await?.status;
    if status.is_open() { Ok(()) } else { move_to(tx, task, Status::Backlog).await }
}

/// Finishes the task of a managed oracle that has no run and no open question.
pub(crate) async fn settle(tx: &mut Tx, task: &TaskId) -> Result<()> {
    let card = tasks::card(&mut tx.connection, task).await?;
    if card.run.is_some() || !card.status.is_open() || !row::open_of_task(&mut tx.connection, task).await?.is_empty() {
        return Ok(());
    }
    move_to(tx, task, Status::Done).await
}

/// Tells everyone who waits for a managed oracle why it cannot answer.
pub(crate) async fn unanswerable(tx: &mut Tx, task: &TaskId, problem: &str) -> Result<()> {
    write::fail_open(tx, task, problem).await?;
    settle(tx, task).await
}

async fn move_to(tx: &mut Tx, task: &TaskId, to: Status) -> Result<()> {
    let before = tasks::task(&mut tx.connection, task).await?;
    move_task(tx, &Caller::Runner, &before, &MoveRequest::to(to), &EvidenceResult::Nothing).await?;
    task_changed(tx, &Caller::Runner, &before.card.project_id, task).await
}
