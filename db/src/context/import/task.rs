//! Imports goals and tasks. Finished tasks are done here without commits. Must not know the other kinds of records.

use domain::board::goal::{GoalEvent, GoalStatus};
use domain::board::status::{CancelReason, HeldBy, Status};
use domain::board::task::TaskFields;
use domain::board::transition::Mover;
use domain::context::import::ImportKind;
use domain::id::GoalId;
use domain::runs::agent_kind::AgentKind;
use domain::team::role::Role;
use domain::text;
use domain::time::Timestamp;

use super::source::Record;
use super::write::{Target, Written, reference};
use crate::board::goal::write as goal_write;
use crate::board::task::row as tasks;
use crate::board::task::write as task_write;
use crate::board::task::write::NewTaskRow;
use crate::board::task::write::change::Change;
use crate::board::task::write::moves::{record_decisions, write_status};
use crate::engine::tx::Tx;
use crate::error::Result;
use crate::team::contribution::write as contribution;
use crate::team::contribution::write::Contribution;
use crate::team::hat::write as hats;

pub(super) struct GoalItem {
    title: String,
    description: Option<String>,
    status: GoalStatus,
    creator: String,
    verified_by: Option<String>,
    created_at: Option<Timestamp>,
    verified_at: Option<Timestamp>,
}

impl GoalItem {
    /// # Errors
    /// Why it cannot be imported.
    pub(super) fn of(record: &Record) -> Result<Self, String> {
        let status = record.text("status").as_deref().unwrap_or("open").parse::<GoalStatus>().map_err(|error| error.to_string())?;
        let is_verified = status == GoalStatus::Verified;
        Ok(Self {
            title: title_of(record)?,
            description: description_of(record)?,
            status,
            creator: record.text("creator").unwrap_or_default(),
            verified_by: record.text("verified_by").filter(|_| is_verified),
            created_at: record.time("created_at"),
            verified_at: record.time("verified_at").filter(|_| is_verified),
        })
    }
}

/// Writes a goal with the status that it had. It follows its tasks from their next change on.
pub(super) async fn write_goal(tx: &mut Tx, target: &Target, item: GoalItem) -> Result<Written> {
    tx.now = item.created_at.unwrap_or(tx.now).min(tx.now);
    let id = GoalId::new(tx.next_number(GoalId::PREFIX).await?);
    sqlx::query(
        "INSERT INTO goals (id, project_id, title, description, status, creator, verified_by, created_at, verified_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
    )
    .bind(id.as_str())
    .bind(target.project.as_str())
    .bind(item.title)
    .bind(item.description)
    .bind(item.status.as_str())
    .bind(target.name(&item.creator))
    .bind(item.verified_by.map(|name| target.name(&name)))
    .bind(tx.now.to_string())
    .bind(item.verified_at.map(|at| at.to_string()))
    .execute(&mut tx.connection)
    .await?;
    tx.record_without_card(&target.caller, &target.project, None, GoalEvent::Created { goal: id.clone() });
    Ok(Written::As(id.to_string()))
}

pub(super) struct TaskItem {
    fields: TaskFields,
    status: Status,
    cancel: Option<CancelReason>,
    assignee: Option<String>,
    creator: Option<String>,
    approver: Option<String>,
    verifier: Option<String>,
    result: Option<String>,
    hat: Option<Role>,
    goal: Option<String>,
    created_at: Option<Timestamp>,
    updated_at: Option<Timestamp>,
}

impl TaskItem {
    /// # Errors
    /// Why it cannot be imported.
    pub(super) fn of(record: &Record) -> Result<Self, String> {
        let word = record.text("status").unwrap_or_else(|| "pending".to_owned());
        let (status, cancel) = match word.as_str() {
            "pending" | "assigned" => (Status::Backlog, None),
            "in_progress" => (Status::InProgress, None),
            "review" => (Status::InReview, None),
            "completed" | "verified" => (Status::Done, None),
            "failed" => (Status::Cancelled, Some(CancelReason::Failed)),
            _ => return Err(format!("its status {word} does not exist here")),
        };
        let result = record.text("result");
        Ok(Self {
            fields: TaskFields { title: title_of(record)?, description: description_of(record)?, ..TaskFields::default() },
            status,
            cancel,
            assignee: record.text("assigned_to"),
            creator: record.text("created_by"),
            approver: record.text("approved_by").filter(|_| status == Status::Done),
            verifier: record.text("verified_by").filter(|_| word == "verified"),
            result: text::validate_optional_body("result", result.as_deref()).map_err(|error| error.to_string())?,
            hat: record.text("role_hat").and_then(|hat| hat.parse().ok()),
            goal: record.text("goal_id"),
            created_at: record.time("created_at"),
            updated_at: record.time("completed_at").or_else(|| record.time("updated_at")),
        })
    }
}

/// Writes a task with its contributors. Without an assignee it is held until a person starts it.
pub(super) async fn write(tx: &mut Tx, target: &Target, item: TaskItem) -> Result<Written> {
    let (project, caller, now) = (&target.project, &target.caller, tx.now);
    let named = |name: &Option<String>| name.as_deref().map(|name| target.name(name));
    let (assignee, approver, verifier) = (named(&item.assignee), named(&item.approver), named(&item.verifier));
    tx.now = item.created_at.unwrap_or(now).min(now);
    let held_by = (assignee.is_none() && item.status == Status::Backlog).then_some(HeldBy::Human);
    let row = NewTaskRow {
        project: project.clone(),
        parent: None,
        fields: item.fields,
        phase: AgentKind::Coder,
        status: Status::Backlog,
        held_by,
        round: None,
    };
    let id = task_write::insert(tx, caller, row).await?;
    sqlx::query("UPDATE tasks SET assigned_to = $2, role_hat = $3, result = $4, created_by = COALESCE($5, created_by) WHERE id = $1")
        .bind(id.as_str())
        .bind(&assignee)
        .bind(item.hat.map(Role::as_str))
        .bind(&item.result)
        .bind(named(&item.creator))
        .execute(&mut tx.connection)
        .await?;
    task_write::index(tx, &id).await?;
    let mut notes = Vec::new();
    if let Some(original) = &item.goal {
        match reference::<GoalId>(tx, target, ImportKind::Goal, Some(original)).await? {
            Some(goal) => {
                let card = tasks::card(&mut tx.connection, &id).await?;
                goal_write::link(tx, caller, &card, Some(&goal)).await?;
            }
            None => notes.push(format!("its goal {original} was not imported")),
        }
    }
    let contributions = [
        (assignee.as_ref().filter(|_| item.status != Status::Backlog), Contribution::Built),
        (approver.as_ref(), Contribution::Approved),
        (verifier.as_ref(), Contribution::Verified),
    ];
    for (name, kind) in contributions {
        if let Some(name) = name {
            contribution::record(tx, &id, name, kind).await?;
        }
    }
    if let (Some(hat), Some(name)) = (item.hat, &assignee) {
        hats::record(tx, project, &id, name, hat).await?;
    }
    if item.status != Status::Backlog {
        tx.now = item.updated_at.unwrap_or(now).min(now);
        let task = tasks::task(&mut tx.connection, &id).await?;
        let (to, cancel) = (item.status, item.cancel);
        let change = Change {
            to,
            who: Mover::Human,
            held_by: None,
            cancel,
            approved: None,
            approver,
            is_approved_before: false,
            verified: verifier,
            attention: None,
            reason: None,
        };
        write_status(tx, caller, &task, &change).await?;
        record_decisions(tx, caller, &task.card, change);
    }
    let reference = id.to_string();
    Ok(if notes.is_empty() { Written::As(reference) } else { Written::Changed(reference, notes.join("; ")) })
}

/// Returns the title on one line, cut to the allowed length.
fn title_of(record: &Record) -> Result<String, String> {
    let title = record.text("title").unwrap_or_default().replace(char::is_control, " ");
    let end = title.floor_char_boundary(text::TITLE_BYTES);
    text::validate_title("title", &title[..end]).map_err(|error| error.to_string())
}

fn description_of(record: &Record) -> Result<Option<String>, String> {
    let description = record.text("description");
    text::validate_optional_body("description", description.as_deref()).map_err(|error| error.to_string())
}
