//! Reads questions to oracles by index. Must not change anything.

use domain::id::ProjectId;
use domain::warroom::oracle::{OracleAnswer, OracleQuestion, OracleUse};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::engine::column::{count, optional, parsed};
use crate::error::Result;

/// The question `$1`.
const ONE: &str = "SELECT * FROM oracle_questions WHERE id = $1";
/// The questions of a project `$1` before the question `$2`, newest first, at most `$3`.
pub(crate) const PAGE: &str = "SELECT * FROM oracle_questions WHERE project_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3";
/// The question of `$2` to `$3` with the text `$4` in a project `$1` that has no answer.
pub(crate) const OPEN: &str =
    "SELECT * FROM oracle_questions WHERE project_id = $1 AND asker = $2 AND oracle = $3 AND question = $4 AND answered_at IS NULL";

pub(super) async fn read(connection: &mut SqliteConnection, id: i64) -> Result<Option<OracleQuestion>> {
    sqlx::query(ONE).bind(id).fetch_optional(connection).await?.as_ref().map(question_of).transpose()
}

pub(super) async fn open(
    connection: &mut SqliteConnection,
    project: &ProjectId,
    asker: &str,
    oracle: &str,
    question: &str,
) -> Result<Option<OracleQuestion>> {
    let row = sqlx::query(OPEN).bind(project.as_str()).bind(asker).bind(oracle).bind(question).fetch_optional(connection).await?;
    row.as_ref().map(question_of).transpose()
}

pub(super) fn question_of(row: &SqliteRow) -> Result<OracleQuestion> {
    let answer = match optional(row, "answered_at")? {
        Some(answered_at) => Some(OracleAnswer {
            message_id: row.try_get("answer_id")?,
            text: row.try_get("answer")?,
            answered_at,
            context_tokens: row.try_get::<Option<i64>, _>("context_tokens")?.and_then(|tokens| u64::try_from(tokens).ok()),
        }),
        None => None,
    };
    Ok(OracleQuestion {
        id: row.try_get("id")?,
        project_id: parsed(row, "project_id")?,
        zones: serde_json::from_str(row.try_get("zones")?)?,
        asker: row.try_get("asker")?,
        oracle: row.try_get("oracle")?,
        question: row.try_get("question")?,
        asked_at: parsed(row, "asked_at")?,
        answer,
    })
}

/// Reads the counts in the row of a zone.
pub(super) fn use_of(row: &SqliteRow) -> Result<OracleUse> {
    let sum = |column: &str| Ok::<_, sqlx::Error>(u64::try_from(row.try_get::<i64, _>(column)?).unwrap_or_default());
    Ok(OracleUse {
        zone: row.try_get("name")?,
        oracle: row.try_get("oracle")?,
        questions: count(row, "questions")?,
        answers: count(row, "answers")?,
        answer_bytes: sum("answer_bytes")?,
        context_tokens: sum("answer_context_tokens")?,
    })
}
