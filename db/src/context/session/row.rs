//! Reads sessions and their messages. Must not decide who may read a message: the words of a reader's audiences do.

use std::collections::BTreeMap;

use domain::context::metadata::Metadata;
use domain::context::reader::Reader;
use domain::context::session::visibility::{Audience, Visibility, audiences};
use domain::context::session::{ContextSession, ContextSessionId, SessionMessage};
use domain::id::{ProjectId, TaskId};
use domain::refusal::Refusal;
use domain::time::Timestamp;
use serde::Deserialize;
use sqlx::sqlite::SqliteRow;
use sqlx::{AssertSqlSafe, QueryBuilder, Row, Sqlite, SqliteConnection};

use crate::board::search::row::MAX_CANDIDATES;
use crate::caller::Caller;
use crate::engine::column::{json, optional, parsed};
use crate::engine::dialect::words_index::MATCHING_MESSAGES;
use crate::engine::dialect::{in_one_row, json_column};
use crate::error::{Error, Result};

pub(crate) async fn read(connection: &mut SqliteConnection, id: &ContextSessionId) -> Result<ContextSession> {
    let row = sqlx::query("SELECT * FROM context_sessions WHERE id = $1").bind(id.as_str()).fetch_optional(connection).await?;
    session_of(&row.ok_or_else(|| Error::Refused(Refusal::not_found("session", id)))?)
}

/// Reads a session for a caller, and the reader that the caller is. A session that it may not read does not exist.
pub(crate) async fn read_for(connection: &mut SqliteConnection, caller: &Caller, id: &ContextSessionId) -> Result<(ContextSession, Reader)> {
    let reader = caller.reader()?;
    let session = read(connection, id).await?;
    if audiences(&reader, session.project_id.as_ref()).is_empty() {
        return Err(Refusal::not_found("session", id).into());
    }
    Ok((session, reader))
}

/// Returns the words of the audiences to which `reader` belongs in the session.
pub(crate) fn audience_words(reader: &Reader, session: &ContextSession, visibility: Option<Visibility>) -> Vec<String> {
    let own = audiences(reader, session.project_id.as_ref());
    own.iter().filter(|audience| visibility.is_none_or(|wanted| audience.visibility == wanted)).map(Audience::as_text).collect()
}

/// The newest messages of session `$2` that match the expression `$1` and have one of `audiences` audiences, which are bound from `$4` on, at
/// most `$3`. The cross join makes the words come first: the other way round, the index would be asked about each message of the session.
pub(crate) fn candidates_sql(audiences: usize) -> String {
    let own: Vec<String> = (0..audiences).map(|number| format!("${}", number + 4)).collect();
    let newest = format!(
        "SELECT m.id, m.sender, m.content, m.metadata FROM ({MATCHING_MESSAGES}) AS w CROSS JOIN session_messages m
         WHERE m.id = w.id AND m.session_id = $2 AND m.audience IN ({}) ORDER BY w.id DESC LIMIT $3",
        own.join(", ")
    );
    in_one_row(&format!("id, sender, content, {}", json_column("metadata")), &newest)
}

/// The parts of a message that a search compares.
#[derive(Debug, Deserialize)]
pub(super) struct Candidate {
    pub(super) id: i64,
    pub(super) sender: String,
    pub(super) content: String,
    pub(super) metadata: Metadata,
}

/// Finds the messages to compare.
pub(super) async fn candidates(
    connection: &mut SqliteConnection,
    session: &ContextSessionId,
    expression: &str,
    words: &[String],
) -> Result<Vec<Candidate>> {
    if words.is_empty() {
        return Ok(Vec::new());
    }
    let query = sqlx::query_scalar(AssertSqlSafe(candidates_sql(words.len()))).bind(expression).bind(session.as_str()).bind(MAX_CANDIDATES);
    let found: String = words.iter().fold(query, |query, word| query.bind(word)).fetch_one(connection).await?;
    Ok(serde_json::from_str(&found)?)
}

/// The session of the plan that task `$1` belongs to.
pub(crate) const OF_PLAN: &str = "SELECT s.* FROM tasks t JOIN context_sessions s ON s.task_id IN (t.id, t.round_of, t.parent_task_id)
    WHERE t.id = $1 ORDER BY s.task_id = t.id DESC LIMIT 1";

/// Reads the session of the plan of `task`, or else that of the project.
pub(crate) async fn own(connection: &mut SqliteConnection, project: &ProjectId, task: Option<&TaskId>) -> Result<ContextSession> {
    if let Some(task) = task
        && let Some(row) = sqlx::query(OF_PLAN).bind(task.as_str()).fetch_optional(&mut *connection).await?
    {
        return session_of(&row);
    }
    let row = sqlx::query("SELECT * FROM context_sessions WHERE project_id = $1 AND kind = 'project'")
        .bind(project.as_str())
        .fetch_optional(connection)
        .await?;
    session_of(&row.ok_or_else(|| Error::Refused(Refusal::not_found("project", project)))?)
}

/// The sessions of a project `$1`, or those without one, newest first.
pub(crate) fn list_sql(has_project: bool, include_closed: bool) -> String {
    let project = if has_project { "project_id = $1" } else { "project_id IS $1" };
    let open = if include_closed { "" } else { " AND closed_at IS NULL" };
    format!("SELECT * FROM context_sessions WHERE {project}{open} ORDER BY created_at DESC, id DESC LIMIT $2 OFFSET $3")
}

pub(super) async fn list(
    connection: &mut SqliteConnection,
    project: Option<&ProjectId>,
    include_closed: bool,
    limit: u32,
    offset: u32,
) -> Result<Vec<ContextSession>> {
    let rows = sqlx::query(AssertSqlSafe(list_sql(project.is_some(), include_closed)))
        .bind(project.map(ProjectId::as_str))
        .bind(limit)
        .bind(offset)
        .fetch_all(connection)
        .await?;
    rows.iter().map(session_of).collect()
}

fn session_of(row: &SqliteRow) -> Result<ContextSession> {
    Ok(ContextSession {
        id: parsed(row, "id")?,
        project_id: optional(row, "project_id")?,
        kind: parsed(row, "kind")?,
        task_id: optional(row, "task_id")?,
        purpose: row.try_get("purpose")?,
        metadata: json(row, "metadata")?.unwrap_or_default(),
        created_by: row.try_get("created_by")?,
        created_at: parsed(row, "created_at")?,
        updated_at: parsed(row, "updated_at")?,
        is_active: row.try_get::<Option<&str>, _>("closed_at")?.is_none(),
    })
}

/// The order and the limits of a part of a session's messages.
#[derive(Debug, Clone)]
pub(crate) enum Part<'a> {
    /// The newest messages before this one.
    Before(i64),
    /// The oldest messages after this one.
    After(i64),
    /// The newest ones of a sender.
    OfSender(&'a str),
    /// The oldest ones of a period, both ends included.
    Between(Timestamp, Timestamp),
}

/// The messages of session `$1` with one of `audiences` audiences, which are bound from `$6` on. Each audience is one walk through an index,
/// which ends after as many messages as the answer can have.
pub(crate) fn messages_sql(part: &Part<'_>, audiences: usize) -> String {
    let (condition, order) = match part {
        Part::Before(_) => ("id < $4", "id DESC"),
        Part::After(_) => ("id > $4", "id"),
        Part::OfSender(_) => ("sender = $4", "id DESC"),
        Part::Between(..) => ("created_at >= $4 AND created_at <= $5", "created_at, id"),
    };
    let walk = |number: usize| {
        format!(
            "SELECT id, created_at FROM (SELECT id, created_at FROM session_messages WHERE session_id = $1 AND audience = ${} AND {condition}
             ORDER BY {order} LIMIT $2 + $3)",
            number + 6
        )
    };
    let walks: Vec<String> = (0..audiences).map(walk).collect();
    format!(
        "SELECT m.* FROM (SELECT id FROM ({}) ORDER BY {order} LIMIT $2 OFFSET $3) AS w JOIN session_messages m ON m.id = w.id ORDER BY {}",
        walks.join(" UNION ALL "),
        order.replace("created_at", "m.created_at").replace("id", "m.id")
    )
}

/// Reads at most `limit` messages whose audience is among `words`, each with its audience.
pub(crate) async fn messages(
    connection: &mut SqliteConnection,
    session: &ContextSessionId,
    part: &Part<'_>,
    words: &[String],
    (limit, offset): (u32, u32),
) -> Result<Vec<(String, SessionMessage)>> {
    if words.is_empty() {
        return Ok(Vec::new());
    }
    let query = sqlx::query(AssertSqlSafe(messages_sql(part, words.len()))).bind(session.as_str()).bind(limit).bind(offset);
    let query = match part {
        Part::Before(id) | Part::After(id) => query.bind(id).bind(None::<String>),
        Part::OfSender(name) => query.bind(name).bind(None::<String>),
        Part::Between(from, to) => query.bind(from.to_string()).bind(to.to_string()),
    };
    let query = words.iter().fold(query, |query, word| query.bind(word));
    query.fetch_all(connection).await?.iter().map(with_audience).collect()
}

/// The messages of session `$1` with the visibility `$2`, whatever their audience, newest first.
pub(crate) const HIDDEN: &str = "SELECT * FROM session_messages
    WHERE session_id = $1 AND visibility = $2 AND visibility <> 'public' AND id < $3 ORDER BY id DESC LIMIT $4 OFFSET $5";

/// The same messages after the message `$3`, oldest first.
pub(crate) const HIDDEN_AFTER: &str = "SELECT * FROM session_messages
    WHERE session_id = $1 AND visibility = $2 AND visibility <> 'public' AND id > $3 ORDER BY id LIMIT $4 OFFSET $5";

/// Reads messages of a visibility that other readers cannot see, each with its audience.
pub(super) async fn hidden(
    connection: &mut SqliteConnection,
    session: &ContextSessionId,
    visibility: Visibility,
    part: &Part<'_>,
    (limit, offset): (u32, u32),
) -> Result<Vec<(String, SessionMessage)>> {
    let (sql, cursor) = match part {
        Part::After(id) => (HIDDEN_AFTER, *id),
        Part::Before(id) => (HIDDEN, *id),
        Part::OfSender(_) | Part::Between(..) => (HIDDEN, i64::MAX),
    };
    let rows = sqlx::query(sql).bind(session.as_str()).bind(visibility.as_str()).bind(cursor).bind(limit).bind(offset).fetch_all(connection).await?;
    rows.iter().map(with_audience).collect()
}

/// The number of messages of session `$1` for each audience.
pub(crate) const COUNTS: &str = "SELECT audience, visibility, messages FROM session_counts WHERE session_id = $1";

/// Counts the messages whose audience and visibility are counted.
pub(crate) async fn count_messages(
    connection: &mut SqliteConnection,
    session: &ContextSessionId,
    is_counted: impl Fn(&str, Visibility) -> bool,
) -> Result<u64> {
    let mut total = 0;
    for row in sqlx::query(COUNTS).bind(session.as_str()).fetch_all(connection).await? {
        if is_counted(row.try_get("audience")?, parsed(&row, "visibility")?) {
            total += u64::try_from(row.try_get::<i64, _>("messages")?).unwrap_or_default();
        }
    }
    Ok(total)
}

/// Returns the audience of a message, if it is in this session.
pub(super) async fn audience_of(connection: &mut SqliteConnection, session: &ContextSessionId, message: i64) -> Result<Option<String>> {
    Ok(sqlx::query_scalar("SELECT audience FROM session_messages WHERE id = $1 AND session_id = $2")
        .bind(message)
        .bind(session.as_str())
        .fetch_optional(connection)
        .await?)
}

/// The audiences of `count` messages, whose ids are bound from `$1` on.
pub(crate) fn audiences_sql(count: usize) -> String {
    let ids: Vec<String> = (1..=count).map(|number| format!("${number}")).collect();
    format!("SELECT id, audience FROM session_messages WHERE id IN ({})", ids.join(", "))
}

pub(super) async fn audiences_of(connection: &mut SqliteConnection, messages: &[i64]) -> Result<BTreeMap<i64, String>> {
    if messages.is_empty() {
        return Ok(BTreeMap::new());
    }
    let query = sqlx::query_as(AssertSqlSafe(audiences_sql(messages.len())));
    let rows: Vec<(i64, String)> = messages.iter().fold(query, |query, id| query.bind(id)).fetch_all(connection).await?;
    Ok(rows.into_iter().collect())
}

/// Whether a message was written in a session of project `$1`.
pub(crate) const IN_USE: &str =
    "SELECT EXISTS (SELECT 1 FROM context_sessions s JOIN session_counts c ON c.session_id = s.id WHERE s.project_id = $1)";

/// The messages of session `$1` whose audience and id are bound later.
const SOME: &str = "SELECT * FROM session_messages WHERE session_id = ";

/// Reads those of `ids` that are in the session and have one of the audiences.
pub(super) async fn some(
    connection: &mut SqliteConnection,
    session: &ContextSessionId,
    ids: &[i64],
    words: &[String],
) -> Result<Vec<SessionMessage>> {
    if ids.is_empty() || words.is_empty() {
        return Ok(Vec::new());
    }
    let mut query: QueryBuilder<Sqlite> = QueryBuilder::new(SOME);
    query.push_bind(session.as_str()).push(" AND +audience IN ");
    query.push_tuples(words, |mut row, word| {
        row.push_bind(word);
    });
    query.push(" AND id IN ");
    query.push_tuples(ids, |mut row, id| {
        row.push_bind(id);
    });
    query.build().fetch_all(connection).await?.iter().map(message_of).collect()
}

fn with_audience(row: &SqliteRow) -> Result<(String, SessionMessage)> {
    Ok((row.try_get("audience")?, message_of(row)?))
}

fn message_of(row: &SqliteRow) -> Result<SessionMessage> {
    Ok(SessionMessage {
        id: row.try_get("id")?,
        session_id: parsed(row, "session_id")?,
        sender: row.try_get("sender")?,
        sender_type: row.try_get("sender_type")?,
        run_id: optional(row, "run_id")?,
        content: row.try_get("content")?,
        visibility: parsed(row, "visibility")?,
        metadata: json(row, "metadata")?.unwrap_or_default(),
        timestamp: parsed(row, "created_at")?,
        parent_message_id: row.try_get("parent_id")?,
    })
}
