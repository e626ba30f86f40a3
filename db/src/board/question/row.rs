//! Reads questions. Must not change anything.

use domain::board::question::Question;
use domain::id::TaskId;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::engine::column::{optional, parsed};
use crate::error::Result;

/// The unanswered question of a task.
pub(crate) async fn open(connection: &mut SqliteConnection, task: &TaskId) -> Result<Option<Question>> {
    let row = sqlx::query("SELECT * FROM questions WHERE task_id = $1 AND answered_at IS NULL ORDER BY asked_at DESC LIMIT 1")
        .bind(task.as_str())
        .fetch_optional(connection)
        .await?;
    row.as_ref().map(question_of).transpose()
}

pub(crate) fn question_of(row: &SqliteRow) -> Result<Question> {
    Ok(Question {
        id: parsed(row, "id")?,
        task_id: parsed(row, "task_id")?,
        run_id: parsed(row, "run_id")?,
        question: row.try_get("question")?,
        options: serde_json::from_str(row.try_get("options")?)?,
        default: row.try_get("default_answer")?,
        asked_at: parsed(row, "asked_at")?,
        answer: row.try_get("answer")?,
        answered_at: optional(row, "answered_at")?,
    })
}
