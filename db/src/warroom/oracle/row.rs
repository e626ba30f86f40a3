//! Reads questions to oracles by index. Must not change anything.

use domain::board::wait_reason::WaitReason;
use domain::id::{ProjectId, RunId, TaskId};
use domain::time::Timestamp;
use domain::warroom::oracle::expert::waits_because;
use domain::warroom::oracle::{OracleAnswer, OracleQuestion, OracleUse};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::engine::column::{count, json, optional, parsed};
use crate::error::Result;

macro_rules! select_question {
    () => {
        "SELECT q.*, t.wait_reason, t.attention IS NOT NULL AS needs_attention FROM oracle_questions q LEFT JOIN tasks t ON t.id = q.task_id "
    };
}

/// The question `$1`.
const ONE: &str = concat!(select_question!(), "WHERE q.id = $1");
/// The questions of a project `$1` before the question `$2`, newest first, at most `$3`.
pub(crate) const PAGE: &str = concat!(select_question!(), "WHERE q.project_id = $1 AND q.id < $2 ORDER BY q.id DESC LIMIT $3");
/// The question of `$2` to `$3` with the text `$4` in a project `$1` that has no answer.
pub(crate) const OPEN: &str =
    concat!(select_question!(), "WHERE q.project_id = $1 AND q.asker = $2 AND q.oracle = $3 AND q.question = $4 AND q.answered_at IS NULL");
/// The questions to a managed oracle, whose task is `$1`, that have no answer.
pub(crate) const OPEN_OF_TASK: &str = concat!(select_question!(), "WHERE q.task_id = $1 AND q.answered_at IS NULL ORDER BY q.id");
/// How many questions the task `$1` answered since `$2`.
pub(crate) const ANSWERED_SINCE: &str = "SELECT COUNT(*) FROM oracle_questions WHERE task_id = $1 AND answered_at >= $2";
/// The newest answer of the task `$1` to questions of the topic `$2`.
pub(crate) const NOTE: &str =
    concat!(select_question!(), "WHERE q.task_id = $1 AND q.topic = $2 AND q.sha IS NOT NULL AND q.failed = 0 ORDER BY q.id DESC LIMIT 1");
/// The zones of a project `$1` with what their oracles were asked, and what the managed ones consumed.
pub(crate) const USE: &str = "SELECT z.*, COALESCE(t.tokens, 0) AS tokens, COALESCE(t.cost_micro_usd, 0) AS cost_micro_usd
    FROM zones z LEFT JOIN tasks t ON t.id = z.task_id WHERE z.project_id = $1 ORDER BY z.name";

/// An answer that a managed oracle gave, and the commit that it read.
pub(crate) struct Noted {
    pub(crate) question: i64,
    pub(crate) sha: String,
    pub(crate) answer: OracleAnswer,
}

pub(crate) async fn read(connection: &mut SqliteConnection, id: i64) -> Result<Option<OracleQuestion>> {
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

/// Lists the open questions to a managed oracle, oldest first.
pub(crate) async fn open_of_task(connection: &mut SqliteConnection, task: &TaskId) -> Result<Vec<OracleQuestion>> {
    sqlx::query(OPEN_OF_TASK).bind(task.as_str()).fetch_all(connection).await?.iter().map(question_of).collect()
}

pub(super) async fn answered_since(connection: &mut SqliteConnection, task: &TaskId, since: Timestamp) -> Result<i64> {
    Ok(sqlx::query_scalar(ANSWERED_SINCE).bind(task.as_str()).bind(since.to_string()).fetch_one(connection).await?)
}

pub(super) async fn note(connection: &mut SqliteConnection, task: &TaskId, topic: &str) -> Result<Option<Noted>> {
    let Some(row) = sqlx::query(NOTE).bind(task.as_str()).bind(topic).fetch_optional(connection).await? else { return Ok(None) };
    let question = question_of(&row)?;
    let sha = row.try_get("sha")?;
    Ok(question.answer.map(|answer| Noted { question: question.id, sha, answer }))
}

/// The commit that the last run of a task before this one read to its end.
pub(super) async fn commit_read(connection: &mut SqliteConnection, task: &TaskId, before: &RunId) -> Result<Option<String>> {
    let found: Option<Option<String>> = sqlx::query_scalar(
        "SELECT sha FROM agent_runs WHERE task_id = $1 AND id <> $2 AND end_class = 'finished' ORDER BY length(id) DESC, id DESC LIMIT 1",
    )
    .bind(task.as_str())
    .bind(before.as_str())
    .fetch_optional(connection)
    .await?;
    Ok(found.flatten())
}

pub(super) fn question_of(row: &SqliteRow) -> Result<OracleQuestion> {
    let tokens = row.try_get::<Option<i64>, _>("context_tokens")?.and_then(|tokens| u64::try_from(tokens).ok());
    let answer = match optional(row, "answered_at")? {
        Some(answered_at) => Some(OracleAnswer {
            message_id: row.try_get("answer_id")?,
            text: row.try_get("answer")?,
            answered_at,
            context_tokens: tokens,
            noted_at: optional(row, "noted_at")?,
            failed: row.try_get("failed")?,
        }),
        None => None,
    };
    let reason: Option<WaitReason> = if row.try_get("needs_attention")? { Some(WaitReason::NeedsAttention) } else { json(row, "wait_reason")? };
    Ok(OracleQuestion {
        id: row.try_get("id")?,
        project_id: parsed(row, "project_id")?,
        zones: serde_json::from_str(row.try_get("zones")?)?,
        asker: row.try_get("asker")?,
        oracle: row.try_get("oracle")?,
        question: row.try_get("question")?,
        asked_at: parsed(row, "asked_at")?,
        waits: reason.filter(|_| answer.is_none()).as_ref().map(waits_because),
        answer,
        task_id: optional(row, "task_id")?,
    })
}

/// Reads a row of [`USE`].
pub(super) fn use_of(row: &SqliteRow) -> Result<OracleUse> {
    let sum = |column: &str| Ok::<_, sqlx::Error>(u64::try_from(row.try_get::<i64, _>(column)?).unwrap_or_default());
    Ok(OracleUse {
        zone: row.try_get("name")?,
        oracle: row.try_get("oracle")?,
        questions: count(row, "questions")?,
        answers: count(row, "answers")?,
        answer_bytes: sum("answer_bytes")?,
        context_tokens: sum("answer_context_tokens")?,
        from_notes: count(row, "note_answers")?,
        task_id: optional(row, "task_id")?,
        tokens: row.try_get("tokens")?,
        cost_micro_usd: row.try_get("cost_micro_usd")?,
    })
}
