//! The message history of a project.

use domain::id::{ProjectId, TaskId};
use domain::team::message::{HISTORY_DEFAULT, HISTORY_PAGE, Message};
use sqlx::sqlite::SqliteRow;

use super::row::{COLUMNS, message_of};
use crate::engine::column::lines;
use crate::engine::open::Db;
use crate::error::Result;

/// Filters of the message history.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HistoryQuery {
    /// Number of messages: 10 by default, at most 200.
    pub count: Option<u32>,
    /// Only messages about this task.
    pub task: Option<TaskId>,
    /// Only messages from or to this participant. Copies do not count.
    pub agent: Option<String>,
    /// Only messages before this one.
    pub before: Option<i64>,
}

impl Db {
    /// Returns the newest messages that match the query, oldest first.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn history(&self, project: &ProjectId, query: &HistoryQuery) -> Result<Vec<Message>> {
        let rows = sqlx::query(sqlx::AssertSqlSafe(sql(query)))
            .bind(project.as_str())
            .bind(query.task.as_ref().map(TaskId::as_str))
            .bind(&query.agent)
            .bind(query.before)
            .bind(i64::from(query.count.unwrap_or(HISTORY_DEFAULT).min(HISTORY_PAGE)))
            .fetch_all(&self.readers)
            .await?;
        rows.iter().rev().map(|row| Ok(Message { cc: names(row, "cc")?, ..message_of(row)? })).collect()
    }
}

impl Db {
    /// Returns which of these messages everyone is known to have read, to whom they were sent. Copies are not waited for.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn acknowledged_messages(&self, ids: &[i64]) -> Result<Vec<i64>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let mut query = sqlx::query_scalar(sqlx::AssertSqlSafe(acknowledged_sql(ids.len())));
        for id in ids {
            query = query.bind(id);
        }
        Ok(query.fetch_all(&self.readers).await?)
    }
}

pub(crate) fn acknowledged_sql(count: usize) -> String {
    let ids = (1..=count).map(|number| format!("${number}")).collect::<Vec<_>>().join(", ");
    format!(
        "SELECT m.id FROM messages m WHERE m.id IN ({ids}) AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.message_id = m.id
             AND d.state <> 'read' AND (d.kind = 'direct' OR d.kind = 'broadcast' AND EXISTS (
               SELECT 1 FROM agents a WHERE a.project_id = d.project_id AND a.name = d.recipient AND a.left_at IS NULL)))"
    )
}

/// Builds the statement. A broadcast counts as delivered once every recipient that did not leave was given it; the human is not waited for.
pub(crate) fn sql(query: &HistoryQuery) -> String {
    let about = if query.task.is_some() { " AND m.task_id = $2" } else { "" };
    format!(
        "SELECT {COLUMNS}, NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.message_id = m.id AND d.state = 'pending'
             AND (d.kind = 'direct' OR d.kind = 'broadcast' AND EXISTS (
               SELECT 1 FROM agents a WHERE a.project_id = d.project_id AND a.name = d.recipient AND a.left_at IS NULL))) AS is_delivered,
           (SELECT string_agg(d.recipient, '\n') FROM deliveries d WHERE d.message_id = m.id AND d.kind = 'copy') AS cc
         FROM messages m WHERE m.project_id = $1{about} AND ($3 IS NULL OR m.from_agent = $3 OR m.to_agent = $3) AND ($4 IS NULL OR m.id < $4)
         ORDER BY m.id DESC LIMIT $5"
    )
}

/// Reads a column that holds one name per line, in order. Names contain no line break.
fn names(row: &SqliteRow, column: &str) -> Result<Vec<String>> {
    let mut names: Vec<String> = lines(row, column)?.map(str::to_owned).collect();
    names.sort_unstable();
    Ok(names)
}
