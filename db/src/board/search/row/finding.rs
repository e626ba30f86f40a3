//! Reads the findings that a search compares, by the index of the messages of sessions. Must not decide who may read a message: the word of its
//! audience does.

use std::collections::BTreeSet;

use domain::board::search::SearchKind;
use domain::context::session::visibility::Audience;
use domain::id::ProjectId;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use super::{Candidate, MAX_COMMON, expressions, matching, rows};
use crate::engine::column::{optional, parsed};
use crate::engine::dialect::words_index::{self, MATCHING_MESSAGES, PUBLIC};
use crate::error::Result;

/// The newest messages that match the expression `$1`, in sessions of all projects or of project `$2`, at most `$3`, with the audience `$4`.
pub(crate) fn candidates_sql() -> String {
    format!(
        "SELECT m.id FROM ({MATCHING_MESSAGES}) AS w CROSS JOIN session_messages m CROSS JOIN context_sessions s
         WHERE m.id = w.id AND s.id = m.session_id AND m.audience = $4 AND COALESCE($2, s.project_id) = s.project_id ORDER BY w.id DESC LIMIT $3"
    )
}

/// Finds the findings to compare. Each of `groups` is the expression of one word of the query. Messages that are not public are not counted, so
/// that they change no result.
pub(crate) async fn candidates(
    connection: &mut SqliteConnection,
    groups: &[String],
    project: Option<&ProjectId>,
    audience: &Audience,
) -> Result<BTreeSet<i64>> {
    let public: Vec<String> = groups.iter().map(|group| format!("\"{PUBLIC}\" AND {group}")).collect();
    let counts = words_index::count_messages(connection, &public, MAX_COMMON + 1).await?;
    let counted = counts.into_iter().zip(groups.iter().cloned()).collect();
    let public = expressions(counted).into_iter().map(|expression| format!("\"{PUBLIC}\" AND ({expression})")).collect();
    matching(connection, &candidates_sql(), public, project, Some(&audience.as_text())).await
}

/// The findings with their places, each found by a key. The task is that of the run that wrote it.
pub(crate) const TEXTS: &str = "SELECT m.id, m.session_id, m.content, m.sender, m.created_at, s.project_id, p.title AS project_title,
    t.id AS task_id, t.title AS task_title
  FROM session_messages m JOIN context_sessions s ON s.id = m.session_id JOIN projects p ON p.id = s.project_id
    LEFT JOIN agent_runs r ON r.id = m.run_id LEFT JOIN tasks t ON t.id = r.task_id
  WHERE m.id IN ";

pub(crate) async fn read(connection: &mut SqliteConnection, ids: &BTreeSet<i64>) -> Result<Vec<Candidate>> {
    rows(connection, TEXTS, ids).await?.iter().map(candidate_of).collect()
}

fn candidate_of(row: &SqliteRow) -> Result<Candidate> {
    let id: i64 = row.try_get("id")?;
    Ok(Candidate {
        id,
        kind: SearchKind::Finding,
        reference: id.to_string(),
        project_id: parsed(row, "project_id")?,
        project_title: row.try_get("project_title")?,
        task_id: optional(row, "task_id")?,
        task_title: row.try_get("task_title")?,
        session_id: Some(parsed(row, "session_id")?),
        key: None,
        body: row.try_get("content")?,
        author: Some(row.try_get("sender")?),
        at: parsed(row, "created_at")?,
    })
}
