//! Reads goals with the progress of their tasks. Must not change anything.

use domain::board::card::Card;
use domain::board::goal::{Goal, Progress};
use domain::id::GoalId;
use domain::refusal::Refusal;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::board::task::row as tasks;
use crate::engine::column::{count, optional, parsed};
use crate::engine::tx::Tx;
use crate::error::Result;

/// Counts the tasks of a goal by the columns that decide its progress.
pub(crate) const PROGRESS: &str = "SELECT status, cancel_reason, COUNT(*) AS linked, COUNT(verified_by) AS verified
  FROM tasks WHERE goal_id = $1 GROUP BY status, cancel_reason";

/// Counts the tasks of all goals of a project.
pub(crate) const PROGRESS_OF_PROJECT: &str = "SELECT goal_id, status, cancel_reason, COUNT(*) AS linked, COUNT(verified_by) AS verified
  FROM tasks WHERE goal_id IN (SELECT id FROM goals WHERE project_id = $1) GROUP BY goal_id, status, cancel_reason";

pub(crate) async fn read(connection: &mut SqliteConnection, id: &GoalId) -> Result<Goal> {
    let row = sqlx::query("SELECT * FROM goals WHERE id = $1").bind(id.as_str()).fetch_optional(&mut *connection).await?;
    let mut goal = goal_of(&row.ok_or_else(|| Refusal::not_found("goal", id))?)?;
    for row in &sqlx::query(PROGRESS).bind(id.as_str()).fetch_all(connection).await? {
        add_progress(&mut goal.progress, row)?;
    }
    Ok(goal)
}

/// Lists the tasks that are linked to a goal.
pub(crate) async fn linked(tx: &mut Tx, goal: &Goal) -> Result<Vec<Card>> {
    tasks::outlines(&mut tx.connection, "WHERE t.goal_id = $1 ORDER BY length(t.id), t.id", goal.id.as_str()).await
}

pub(crate) fn add_progress(progress: &mut Progress, row: &SqliteRow) -> Result<()> {
    progress.add(parsed(row, "status")?, optional(row, "cancel_reason")?, count(row, "linked")?, count(row, "verified")?);
    Ok(())
}

/// A goal before its tasks are counted.
pub(crate) fn goal_of(row: &SqliteRow) -> Result<Goal> {
    Ok(Goal {
        id: parsed(row, "id")?,
        progress: Progress::default(),
        project_id: parsed(row, "project_id")?,
        title: row.try_get("title")?,
        description: row.try_get("description")?,
        status: parsed(row, "status")?,
        creator: row.try_get("creator")?,
        verified_by: row.try_get("verified_by")?,
        notes: row.try_get("notes")?,
        created_at: parsed(row, "created_at")?,
        verified_at: optional(row, "verified_at")?,
    })
}
