//! The message history of a project.

use domain::id::{ProjectId, TaskId};
use domain::team::message::{HISTORY_DEFAULT, HISTORY_PAGE, Message};
use sqlx::Row;
use sqlx::sqlite::SqliteRow;

use crate::engine::column::{optional, parsed};
use crate::engine::open::Db;
use crate::error::Result;

/// Filters of the message history. Copies are never included, because they repeat their original.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HistoryQuery {
    /// Number of messages: 10 by default, at most 200.
    pub count: Option<u32>,
    /// Only messages about this task.
    pub task: Option<TaskId>,
    /// Only messages from or to this participant.
    pub agent: Option<String>,
    /// Only messages before this one.
    pub before: Option<i64>,
}

/// A broadcast counts as read once it was delivered to every agent that was registered when it was sent.
const SELECT: &str = "SELECT m.*, CASE WHEN m.to_agent <> 'all' THEN m.delivered_at IS NOT NULL ELSE NOT EXISTS (
      SELECT 1 FROM agents a WHERE a.project_id = m.project_id AND a.left_at IS NULL AND a.name <> m.from_agent AND a.broadcast_cursor < m.id
        AND NOT EXISTS (SELECT 1 FROM broadcast_reads b WHERE b.message_id = m.id AND b.agent_name = a.name)) END AS given,
    (SELECT json_group_array(to_agent) FROM (SELECT to_agent FROM messages c WHERE c.copy_of = m.id ORDER BY c.id)) AS cc
  FROM messages m";

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
            .bind(query.count.unwrap_or(HISTORY_DEFAULT).min(HISTORY_PAGE))
            .fetch_all(&self.readers)
            .await?;
        rows.iter().rev().map(|row| Ok(Message { cc: serde_json::from_str(row.try_get("cc")?)?, ..message_of(row, "given")? })).collect()
    }
}

/// Builds the statement. A task's thread uses the task index, everything else the project index.
pub(crate) fn sql(query: &HistoryQuery) -> String {
    // The plus sign keeps SQLite from using the larger project index.
    let scope = if query.task.is_some() { "+m.project_id = $1 AND m.task_id = $2" } else { "m.project_id = $1" };
    format!(
        "{SELECT} WHERE {scope} AND m.is_cc = 0 AND ($3 IS NULL OR m.from_agent = $3 OR m.to_agent = $3) AND ($4 IS NULL OR m.id < $4)
         ORDER BY m.id DESC LIMIT $5"
    )
}

/// Reads a message. `given` names the column that tells whether it was delivered.
pub(super) fn message_of(row: &SqliteRow, given: &str) -> Result<Message> {
    Ok(Message {
        id: row.try_get("id")?,
        project_id: parsed(row, "project_id")?,
        from_agent: row.try_get("from_agent")?,
        to_agent: row.try_get("to_agent")?,
        content: row.try_get("content")?,
        is_cc: row.try_get("is_cc")?,
        cc_original_to: row.try_get("cc_original_to")?,
        cc: Vec::new(),
        task_id: optional(row, "task_id")?,
        reply_to: row.try_get("reply_to")?,
        timestamp: parsed(row, "created_at")?,
        read: row.try_get(given)?,
    })
}
