//! Writes tasks: inserts, edits, releases and holds them. Must not decide who may do so, and must not know the consequences.

pub(crate) mod assign;
pub(crate) mod change;
pub(crate) mod moves;
pub(crate) mod notice;
pub(crate) mod requirement;
pub(crate) mod retry;
pub(crate) mod review_policy;

use domain::board::attention::AttentionKind;
use domain::board::planned_files::PlannedFiles;
use domain::board::search::SearchKind;
use domain::board::status::{HeldBy, Status};
use domain::board::task::event::TaskEvent;
use domain::board::task::{Task, TaskFields};
use domain::id::{ProjectId, TaskId};
use domain::runs::agent_kind::AgentKind;
use domain::runs::evidence::Sha;
use domain::runs::run::RunRefusal;
use domain::team::role::Role;
use sqlx::Row;

use crate::board::attention::write as attention;
use crate::board::search::row::task_body;
use crate::board::search::write::{self as search, Document};
use crate::board::task::row as tasks;
use crate::caller::Caller;
use crate::context::session::write as context;
use crate::engine::tx::Tx;
use crate::error::Result;
use crate::runs::run::write::fence_run;
use crate::warroom::result::row as results;

/// A task to insert.
pub(crate) struct NewTaskRow {
    pub(crate) project: ProjectId,
    pub(crate) parent: Option<TaskId>,
    pub(crate) fields: TaskFields,
    pub(crate) phase: AgentKind,
    pub(crate) status: Status,
    pub(crate) held_by: Option<HeldBy>,
    pub(crate) round: Option<(TaskId, u32)>,
}

/// Inserts a task.
pub(crate) async fn insert(tx: &mut Tx, caller: &Caller, row: NewTaskRow) -> Result<TaskId> {
    let id = TaskId::new(tx.next_number(TaskId::PREFIX).await?);
    let now = tx.now.to_string();
    let fields = row.fields;
    let title = fields.title.clone();
    let text = searchable(&fields.title, fields.description.as_deref(), None, None);
    sqlx::query(
        "INSERT INTO tasks (id, project_id, parent_task_id, title, description, phase, status, held_by, priority, model, round_of, round,
                            created_at, updated_at, created_by, files, from_branch)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $13, $14, $15, $16)",
    )
    .bind(id.as_str())
    .bind(row.project.as_str())
    .bind(row.parent.as_ref().map(TaskId::as_str))
    .bind(fields.title)
    .bind(fields.description)
    .bind(row.phase.as_str())
    .bind(row.status.as_str())
    .bind(row.held_by.map(HeldBy::as_str))
    .bind(fields.priority)
    .bind(fields.model)
    .bind(row.round.as_ref().map(|(of, _)| of.as_str()))
    .bind(row.round.as_ref().map(|(_, round)| i64::from(*round)))
    .bind(now)
    .bind(caller.name())
    .bind(files_column(&fields.files)?)
    .bind(fields.from_branch)
    .execute(&mut tx.connection)
    .await?;
    let document = Document { kind: SearchKind::Task, reference: id.as_str(), project: &row.project, task: Some(&id) };
    search::add(tx, document, &text).await?;
    if row.phase == AgentKind::Planner {
        context::insert_own(tx, caller, &row.project, Some(&id), &title).await?;
    }
    tx.record_for_task(caller, &row.project, &id, TaskEvent::Created {});
    Ok(id)
}

/// Replaces the fields of a task.
pub(crate) async fn update_fields(tx: &mut Tx, id: &TaskId, fields: &TaskFields) -> Result<()> {
    sqlx::query("UPDATE tasks SET title = $2, description = $3, model = $4, priority = $5, updated_at = $6, files = $7 WHERE id = $1")
        .bind(id.as_str())
        .bind(&fields.title)
        .bind(&fields.description)
        .bind(&fields.model)
        .bind(fields.priority)
        .bind(tx.now.to_string())
        .bind(files_column(&fields.files)?)
        .execute(&mut tx.connection)
        .await?;
    index(tx, id).await
}

/// Records what the submitted commit changes, for those who ask later which files took how much work.
pub(crate) async fn record_changed_files(tx: &mut Tx, id: &TaskId, changed: &[String]) -> Result<()> {
    sqlx::query("UPDATE tasks SET changed_files = $2 WHERE id = $1")
        .bind(id.as_str())
        .bind(serde_json::to_string(changed)?)
        .execute(&mut tx.connection)
        .await?;
    Ok(())
}

fn files_column(files: &PlannedFiles) -> Result<Option<String>> {
    Ok((!files.is_empty()).then(|| serde_json::to_string(files)).transpose()?)
}

/// Updates the searchable text of a task from its fields, its submission and its result.
pub(crate) async fn index(tx: &mut Tx, id: &TaskId) -> Result<()> {
    let row = sqlx::query("SELECT title, description, result FROM tasks WHERE id = $1").bind(id.as_str()).fetch_one(&mut tx.connection).await?;
    let left = results::newest(&mut tx.connection, id).await?.map(|result| result.content);
    let text = searchable(row.try_get("title")?, row.try_get("description")?, row.try_get("result")?, left.as_deref());
    search::replace(tx, SearchKind::Task, id.as_str(), &text).await.map(drop)
}

fn searchable(title: &str, description: Option<&str>, result: Option<&str>, left: Option<&str>) -> String {
    format!("{title}\n{}", task_body(description, result, left))
}

/// Sets the hat that the next assignee gets.
pub(crate) async fn set_hat(tx: &mut Tx, id: &TaskId, hat: Role) -> Result<()> {
    sqlx::query("UPDATE tasks SET role_hat = $2 WHERE id = $1").bind(id.as_str()).bind(hat.as_str()).execute(&mut tx.connection).await?;
    Ok(())
}

/// Removes the hold of a task and resets its failures.
pub(crate) async fn release(tx: &mut Tx, caller: &Caller, task: &Task) -> Result<()> {
    let card = &task.card;
    let attention = attention::surviving(tx, &card.id, AttentionKind::survives_release).await?;
    sqlx::query(
        "UPDATE tasks SET held_by = NULL, wait_reason = NULL, failures = 0, last_failure = NULL, retry_at = NULL, review_rounds = 0, repeated_rounds = 0,
                updated_at = $2, attention = $3, old = NULL
         WHERE id = $1",
    )
    .bind(card.id.as_str())
    .bind(tx.now.to_string())
    .bind(attention)
    .execute(&mut tx.connection)
    .await?;
    tx.record_for_task(caller, &card.project_id, &card.id, TaskEvent::Released {});
    Ok(())
}

/// Fences the live run of a task and holds the task if it is open. Returns its project.
pub(crate) async fn stop(tx: &mut Tx, caller: &Caller, id: &TaskId) -> Result<ProjectId> {
    let task = tasks::task(&mut tx.connection, id).await?;
    if task.card.held_by == Some(HeldBy::Takeover) {
        return Err(tasks::taken_over(&task.card).into());
    }
    if !task.card.status.is_open() && task.card.run.as_ref().is_none_or(|live| live.stopping) {
        return Err(RunRefusal::NotLive(id.to_string()).into());
    }
    fence_run(tx, caller, &task.card).await?;
    if task.card.status.is_open() {
        hold(tx, caller, &task, HeldBy::Stop).await?;
    }
    Ok(task.card.project_id)
}

/// Fences the live run of an open task and holds the task for a person who works in its worktree.
pub(crate) async fn take_over(tx: &mut Tx, caller: &Caller, task: &Task, head: &Sha) -> Result<()> {
    fence_run(tx, caller, &task.card).await?;
    sqlx::query("UPDATE tasks SET takeover_sha = $2 WHERE id = $1").bind(task.card.id.as_str()).bind(head).execute(&mut tx.connection).await?;
    hold(tx, caller, task, HeldBy::Takeover).await
}

/// Holds a task.
pub(crate) async fn hold(tx: &mut Tx, caller: &Caller, task: &Task, by: HeldBy) -> Result<()> {
    sqlx::query("UPDATE tasks SET held_by = $2, wait_reason = NULL, updated_at = $3 WHERE id = $1")
        .bind(task.card.id.as_str())
        .bind(by.as_str())
        .bind(tx.now.to_string())
        .execute(&mut tx.connection)
        .await?;
    tx.record_for_task(caller, &task.card.project_id, &task.card.id, TaskEvent::Held { by });
    Ok(())
}
