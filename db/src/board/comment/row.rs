//! Reads comments: rows become comments only here. Must not change anything.

use domain::board::comment::Comment;
use domain::id::TaskId;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::engine::column::{optional, parsed};
use crate::error::Result;

pub(crate) const LAST_OF_TASK: &str = "SELECT * FROM comments WHERE task_id = $1 ORDER BY length(id) DESC, id DESC LIMIT $2";

/// The last comments of a task, at most `most`, the oldest first.
pub(crate) async fn last_of_task(connection: &mut SqliteConnection, task: &TaskId, most: u32) -> Result<Vec<Comment>> {
    let rows = sqlx::query(LAST_OF_TASK).bind(task.as_str()).bind(most).fetch_all(connection).await?;
    rows.iter().rev().map(comment_of).collect()
}

pub(super) fn comment_of(row: &SqliteRow) -> Result<Comment> {
    Ok(Comment {
        id: parsed(row, "id")?,
        task_id: parsed(row, "task_id")?,
        author_role: parsed(row, "author_role")?,
        author_name: row.try_get("author_name")?,
        run_id: optional(row, "run_id")?,
        content: row.try_get("content")?,
        created_at: parsed(row, "created_at")?,
        edited_at: optional(row, "edited_at")?,
    })
}
